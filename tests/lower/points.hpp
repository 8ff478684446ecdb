// Where registers hold values, by definition, in random functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "ptx/liveness.hpp"
#include "ptx/parser.hpp"
#include "tests/lower/random_kernel.hpp"

namespace lockstep::lower::test {

using Points = std::vector<std::set<std::uint32_t>>;  // by register

/// After which instructions a register holds a value: it was just written, or some way from there reads it
/// before it is written. By following all ways instruction by instruction.
inline Points points_by_definition(const ptx::Function& f) {
  const auto end = static_cast<std::uint32_t>(f.instructions.size());
  std::vector<std::vector<std::uint32_t>> next(end);
  for (std::uint32_t at = 0; at < end; ++at) {
    const ptx::Instruction& i = f.instructions[at];
    const bool jumps = i.op() == ptx::Opcode::kBra;
    if (jumps) next[at].push_back(f.labels[i.operands[0].index].instruction);
    if ((!jumps && i.op() != ptx::Opcode::kRet) || i.guard) next[at].push_back(at + 1);
  }
  std::set<std::uint32_t> reached;
  for (std::vector<std::uint32_t> todo{0}; !todo.empty();) {
    const std::uint32_t at = todo.back();
    todo.pop_back();
    if (at < end && reached.insert(at).second) todo.insert(todo.end(), next[at].begin(), next[at].end());
  }
  std::vector<std::set<ptx::RegisterId>> needed(end + 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t at = end; at-- > 0;) {
      std::set<ptx::RegisterId> now;
      for (const std::uint32_t to : next[at]) now.insert(needed[to].begin(), needed[to].end());
      const auto use = ptx::register_use(f.instructions[at]);
      for (const ptx::RegisterId id : use.writes) now.erase(id);
      now.insert(use.reads.begin(), use.reads.end());
      changed |= now != needed[at];
      needed[at] = std::move(now);
    }
  }
  Points points(f.registers.size());
  for (const std::uint32_t at : reached) {
    for (const std::uint32_t to : next[at])
      for (const ptx::RegisterId id : needed[to]) points[id].insert(at);
    for (const ptx::RegisterId id : ptx::register_use(f.instructions[at]).writes) points[id].insert(at);
  }
  return points;
}

inline bool apart(const std::set<std::uint32_t>& a, const std::set<std::uint32_t>& b) {
  return std::ranges::none_of(a, [&](std::uint32_t at) { return b.contains(at); });
}

inline ptx::Function random_function(unsigned seed) {
  return ptx::parse(random_kernel(seed), "test").functions.front();
}

}  // namespace lockstep::lower::test
