#include "exec/warp_fixed.hpp"

#include <algorithm>

namespace lockstep::exec {

using ptx::Special;

namespace {

constexpr std::uint64_t kClockWaits = 64;  // a warp that has read the clocks so often waits by them
constexpr std::uint64_t kClockStep = 24;   // log2 of the longest step by which a read puts the clocks forward

std::uint32_t component(const Dim3& d, std::uint32_t index) {
  return index == 0 ? d.x : index == 1 ? d.y : index == 2 ? d.z : 0;
}

std::uint64_t lane_mask(Special special, std::uint32_t lane) {
  const LaneMask own = LaneMask{1} << lane;
  switch (special) {
    case Special::kLanemaskEq:
      return own;
    case Special::kLanemaskLe:
      return own | (own - 1);
    case Special::kLanemaskLt:
      return own - 1;
    case Special::kLanemaskGe:
      return ~(own - 1);
    default:
      return ~(own - 1) & ~own;
  }
}

/// Cluster geometry: position of a CTA in its cluster and of the cluster in the grid.
std::uint64_t cluster_value(Special special, std::uint32_t index, const Dim3& cta, const Launch& launch) {
  const Dim3 &size = launch.cluster, &grid = launch.grid;
  const Dim3 in{cta.x % size.x, cta.y % size.y, cta.z % size.z};
  switch (special) {
    case Special::kIsExplicitCluster:
      return size.count() > 1;
    case Special::kClusterid:
      return component({cta.x / size.x, cta.y / size.y, cta.z / size.z}, index);
    case Special::kNclusterid:
      return component({grid.x / size.x, grid.y / size.y, grid.z / size.z}, index);
    case Special::kClusterCtaid:
      return component(in, index);
    case Special::kClusterNctaid:
      return component(size, index);
    case Special::kClusterCtarank:
      return in.x + std::uint64_t{size.x} * (in.y + std::uint64_t{size.y} * in.z);
    default:
      return size.count();
  }
}

/// Special registers that have a value of its own for each lane.
bool differs_by_lane(Special special) {
  switch (special) {
    case Special::kTid:
    case Special::kLaneid:
    case Special::kLanemaskEq:
    case Special::kLanemaskLe:
    case Special::kLanemaskLt:
    case Special::kLanemaskGe:
    case Special::kLanemaskGt:
      return true;
    default:
      return false;
  }
}

void fill_thread_ids(const WarpState& warp, std::uint32_t index, LaneValues& out) {
  const Dim3& block = warp.machine->launch.block;
  Dim3 id = warp.machine->thread_id(warp.index * kWarpSize);
  for (auto& value_of_lane : out.lane) {
    value_of_lane = component(id, index);
    if (++id.x < block.x) continue;
    id.x = 0;
    if (++id.y < block.y) continue;
    id.y = 0;
    ++id.z;
  }
}

/// The same for all threads of the launch.
std::uint64_t launch_value(const Machine& machine, const FixedRegister& fixed) {
  switch (fixed.special) {
    case Special::kNtid:
      return component(machine.launch.block, fixed.index);
    case Special::kNctaid:
      return component(machine.launch.grid, fixed.index);
    case Special::kNsmid:
      return machine.options.sm_count;
    case Special::kGridid:
      return machine.launch.id;
    case Special::kEnvreg:
      return fixed.index == 1   ? machine.workspace >> 32
             : fixed.index == 2 ? machine.workspace & 0xffffffffu
                                : 0;
    case Special::kTotalSmemSize:
    case Special::kAggrSmemSize:
      return machine.shared_bytes;
    case Special::kDynamicSmemSize:
      return machine.launch.dynamic_shared_bytes;
    default:
      return 0;  // clocks are filled in when they are read; performance counters and graph handles read 0
  }
}

std::uint64_t fixed_value(const WarpState& warp, const FixedRegister& fixed, std::uint32_t lane) {
  const Launch& launch = warp.machine->launch;
  const std::uint32_t thread = warp.index * kWarpSize + lane;
  switch (fixed.special) {
    case Special::kTid:
      return component(warp.machine->thread_id(thread), fixed.index);
    case Special::kCtaid:
      return component(warp.machine->cta_id(warp.cta->index), fixed.index);
    case Special::kLaneid:
      return lane;
    case Special::kWarpid:
      return warp.index;
    case Special::kNwarpid:
      return warp.cta->warps;
    case Special::kSmid:
      return warp.cta->index % warp.machine->options.sm_count;
    case Special::kLanemaskEq:
    case Special::kLanemaskLe:
    case Special::kLanemaskLt:
    case Special::kLanemaskGe:
    case Special::kLanemaskGt:
      return lane_mask(fixed.special, lane) & 0xffffffffu;
    case Special::kIsExplicitCluster:
    case Special::kClusterid:
    case Special::kNclusterid:
    case Special::kClusterCtaid:
    case Special::kClusterNctaid:
    case Special::kClusterCtarank:
    case Special::kClusterNctarank:
      return cluster_value(fixed.special, fixed.index, warp.machine->cta_id(warp.cta->index), launch);
    default:
      return launch_value(*warp.machine, fixed);
  }
}

}  // namespace

void FixedRegisters::start(WarpState& warp) {
  clock_reads_ = 0;
  const auto& fixed = warp.machine->kernel.fixed();
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    if (fixed[i].special == ptx::Special::kTid) {
      fill_thread_ids(warp, fixed[i].index, warp.file[i]);
    } else if (differs_by_lane(fixed[i].special)) {
      for (std::uint32_t l = 0; l < kWarpSize; ++l) warp.file[i].lane[l] = fixed_value(warp, fixed[i], l);
    } else {
      const std::uint64_t value = fixed_value(warp, fixed[i], 0);
      for (auto& value_of_lane : warp.file[i].lane) value_of_lane = value;
    }
  }
}

void FixedRegisters::refresh_clocks(WarpState& warp) {
  const ClockSource& source = warp.machine->options.clock;
  const std::uint64_t read = clock_reads_++;
  if (!source.cycle && !source.nanosecond && read >= kClockWaits)
    warp.machine->clock_ahead += std::uint64_t{1} << std::min<std::uint64_t>(read - kClockWaits, kClockStep);
  const std::uint64_t count = warp.machine->counts.warp_instructions + warp.machine->clock_ahead;
  const std::uint64_t cycle =
      source.cycle ? source.cycle(source.context, warp.cta->index, warp.index, read) : count;
  const std::uint64_t ns =
      source.nanosecond ? source.nanosecond(source.context, warp.cta->index, warp.index, read) : count;
  const auto& fixed = warp.machine->kernel.fixed();
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    std::uint64_t value = 0;
    switch (fixed[i].special) {
      case Special::kClock:
        value = cycle & 0xffffffffu;
        break;
      case Special::kClockHi:
        value = cycle >> 32;
        break;
      case Special::kClock64:
        value = cycle;
        break;
      case Special::kGlobaltimer:
        value = ns;
        break;
      case Special::kGlobaltimerLo:
        value = ns & 0xffffffffu;
        break;
      case Special::kGlobaltimerHi:
        value = ns >> 32;
        break;
      default:
        continue;
    }
    for (auto& value_of_lane : warp.file[i].lane) value_of_lane = value;
  }
}

}  // namespace lockstep::exec
