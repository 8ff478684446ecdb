#include "exec/row_allocation.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "exec/passes.hpp"
#include "ptx/words.hpp"

namespace lockstep::exec {
namespace {

void keep_own(const ptx::Function& function, std::uint32_t begin, std::uint32_t end, std::vector<bool>& own) {
  for (std::uint32_t i = begin; i < end; ++i) {
    const ptx::RegisterUse use = ptx::register_use(function.instructions[i]);
    for (const ptx::RegisterId id : use.reads) own[id] = true;
    for (const ptx::RegisterId id : use.writes) own[id] = true;
  }
}

/// Registers that share no row.
std::vector<bool> with_own_row(const ptx::Function& function, const ptx::ControlFlow& flow,
                               const std::vector<ptx::LiveRange>& ranges) {
  std::vector<bool> own(function.registers.size());
  for (ptx::RegisterId id = 0; id < own.size(); ++id)
    own[id] = !ranges[id].exists() || ptx::bits(function.registers[id].type) > 64;
  for (const auto* parameters : {&function.parameters, &function.results})
    for (const ptx::Parameter& p : *parameters)
      if (p.in_register) own[p.reg] = true;
  for (const ptx::Block& block : flow.blocks())
    for (const std::uint32_t target : block.successors) {
      const std::uint32_t first = flow.blocks()[target].first;
      if (first < block.end && block.end - first <= kLongestWaitLoop)
        keep_own(function, first, block.end, own);
    }
  return own;
}

}  // namespace

std::uint32_t allocate_rows(const ptx::Function& function, const ptx::ControlFlow& flow,
                            const ptx::Liveness& liveness, std::vector<std::uint32_t>& rows) {
  const std::vector<ptx::LiveRange>& ranges = liveness.ranges();
  const std::vector<bool> own = with_own_row(function, flow, ranges);
  std::vector<ptx::RegisterId> order(function.registers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](ptx::RegisterId a, ptx::RegisterId b) { return ranges[a].first < ranges[b].first; });
  using Use = std::pair<std::uint32_t, std::uint32_t>;  // last instruction, row
  std::priority_queue<Use, std::vector<Use>, std::greater<>> in_use;
  std::vector<std::uint32_t> free;  // the one that was used last is taken first
  std::uint32_t count = 0;
  rows.assign(function.registers.size(), 0);
  for (const ptx::RegisterId id : order) {
    if (own[id]) {
      rows[id] = std::exchange(count, count + (ptx::bits(function.registers[id].type) > 64 ? 2 : 1));
      continue;
    }
    for (; !in_use.empty() && in_use.top().first < ranges[id].first; in_use.pop())
      free.push_back(in_use.top().second);
    if (free.empty()) free.push_back(count++);
    rows[id] = free.back();
    free.pop_back();
    in_use.emplace(ranges[id].last, rows[id]);
  }
  return count;
}

}  // namespace lockstep::exec
