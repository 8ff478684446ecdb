#include "gpu/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "util/error.hpp"

namespace lockstep::gpu {
namespace {

// Where the instruction caches see code: traces give PCs relative to the function. Device allocations of CUDA
// lie far above or far below; a function gets room for itself and its callees, a whole number of lines that
// keeps different functions off the same cache sets. Below 2^39, so that line numbers have 32 bits.
constexpr Address kCodeBase = Address{1} << 38, kCodeStride = (Address{64} << 20) + 65 * kLineBytes;
constexpr std::uint64_t kCodeRooms = 4000;

constexpr const char* kManagedCopies =
    "copies to and from managed memory are not timed: the host's accesses to managed pages are not modelled";

bool selected(std::uint64_t id, const IdRanges& ranges) {
  return ranges.empty() || std::any_of(ranges.begin(), ranges.end(),
                                       [&](const auto& r) { return id >= r.first && id <= r.second; });
}

void check_selection(const trace::TraceSet& trace, const IdRanges& ranges) {
  for (const auto& [first, last] : ranges) {
    const auto inside = [&, f = first, l = last](const auto& k) { return k.id >= f && k.id <= l; };
    if (std::any_of(trace.kernels().begin(), trace.kernels().end(), inside)) continue;
    throw UserError(first == last
                        ? fmt::format("trace {} has no kernel {}", trace.name(), first)
                        : fmt::format("trace {} has no kernel in {}-{}", trace.name(), first, last));
  }
}

void plan_kernel(Plan& plan, std::uint32_t index, const trace::KernelHeader& header,
                 const config::GpuConfig& config, std::map<std::string, std::uint64_t>& rooms) {
  core::LaunchPlan& launch = plan.kernels[index];
  if (launch.header) return;  // the list names it twice
  if (header.grid.count() == 0 || header.block.count() == 0)
    throw UserError(fmt::format("kernel {} ({}) has an empty grid or block", header.id, header.name));
  const std::uint64_t room = rooms.try_emplace(header.name, rooms.size()).first->second % kCodeRooms;
  launch = {&header, core::occupancy(config, header), kCodeBase + room * kCodeStride, header.grid.count()};
}

/// What the command asks of managed memory; nothing for other commands and for kManage, which is known from the
/// start.
std::optional<uvm::Order> managed_order(const trace::Command& c) {
  using Kind = uvm::Order::Kind;
  const auto order = [&](Kind kind) {
    return uvm::Order{kind, static_cast<uvm::Advice>(c.advice), c.host, 0, c.address, c.bytes};
  };
  switch (c.kind) {
    case trace::Command::Kind::kAdvise:
      return order(Kind::kAdvise);
    case trace::Command::Kind::kPrefetch:
      return order(Kind::kPrefetch);
    case trace::Command::Kind::kHostAccess:
      return order(c.write ? Kind::kHostWrite : Kind::kHostRead);
    case trace::Command::Kind::kRelease:
      return order(Kind::kRelease);
    default:
      return std::nullopt;
  }
}

std::string other_architecture(const trace::KernelHeader& header, const config::GpuConfig& config) {
  return fmt::format("code of sm_{} runs on {}, which is sm_{}: its instructions are timed as there",
                     header.binary_version, config.gpu.name, config.gpu.arch);
}

}  // namespace

Plan make_plan(const trace::TraceSet& trace, const config::GpuConfig& config, const IdRanges& selection,
               const ManagedOptions& managed) {
  check_selection(trace, selection);
  Plan plan;
  plan.managed = managed_space(trace, managed);
  if (!plan.managed.empty())
    plan.managed_frames = managed_frames(plan.managed, managed, config.dram.capacity_bytes);
  plan.kernels.resize(trace.kernels().size());
  std::map<std::uint64_t, std::uint32_t> streams;
  std::map<std::string, std::uint64_t> rooms;
  std::set<std::string> remarks;
  using Kind = core::HostCommand::Kind;
  for (const trace::Command& c : trace.commands()) {
    if (c.kind == trace::Command::Kind::kWait) {
      plan.commands.push_back({Kind::kWait, 0, 0, 0, 0});
      if (config.uvm.synchronise_copies && !plan.managed.empty())
        plan.commands.push_back({Kind::kOrder, 0, 0, 0, 0, {uvm::Order::Kind::kSynchronise}});
      continue;
    }
    if (const auto order = managed_order(c)) {
      if (!uvm::pages_in(plan.managed, order->address, order->bytes).empty())
        plan.commands.push_back({Kind::kOrder, 0, 0, 0, 0, *order});
      continue;
    }
    if (c.kind == trace::Command::Kind::kManage) continue;
    if (c.kind != trace::Command::Kind::kKernel) {
      if (managed.kind == ManagedOptions::Kind::kCopies && plan.managed.contains(c.address)) {
        remarks.insert(kManagedCopies);
        continue;
      }
      const bool to_device = c.kind == trace::Command::Kind::kCopyToDevice;
      plan.commands.push_back(
          {to_device ? Kind::kCopyToDevice : Kind::kCopyToHost, 0, 0, c.address, c.bytes});
      continue;
    }
    const trace::KernelHeader& header = trace.kernels()[c.kernel];
    if (!selected(header.id, selection)) continue;
    plan_kernel(plan, c.kernel, header, config, rooms);
    const auto next_stream = static_cast<std::uint32_t>(streams.size());
    const std::uint32_t stream = streams.try_emplace(header.stream, next_stream).first->second;
    plan.commands.push_back({Kind::kKernel, stream, c.kernel, 0, 0});
    ++plan.kernel_commands;
    if (header.binary_version != 0 && header.binary_version != config.gpu.arch)
      remarks.insert(other_architecture(header, config));
  }
  plan.streams = static_cast<std::uint32_t>(streams.size());
  plan.remarks.assign(remarks.begin(), remarks.end());
  return plan;
}

}  // namespace lockstep::gpu
