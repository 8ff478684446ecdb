#include "report/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace lockstep::report {
namespace {

using stats::Pipe;
using stats::Stall;

// From 60 % of a peak on a unit counts as the bottleneck. Nsight Compute's documentation (Kernel Profiling
// Guide 2024.3, "GPU Speed Of Light Throughput" rules): below 60 % of peak throughput latency is the issue.
constexpr double kBusy = 0.6;
// What takes half of the time or more is where the time goes: nothing else can be more.
constexpr double kHalf = 0.5;
// 16 bytes per lane, the widest access, take four wavefronts without a conflict (512 bytes over banks of 128
// bytes): more than that is certainly conflicts; from two on it is conflicts or wide accesses.
constexpr double kSurelyConflicts = 4, kManyWavefronts = 2;
// A load of one address takes one pass; with two on average half of the constant cache's time is replay.
constexpr double kManyPasses = 2;
// A warp's four 32-byte sectors of a line serve 32 lanes of 4 bytes: half of a line unused on average is
// worth a remark.
constexpr double kFewSectors = 2;

struct Facts {
  const Usage& usage;
  const Values& kernel;
  const Paging& paging;
  /// Share of the peak of the sub-cores that have warps: more CTAs would not change it.
  [[nodiscard]] double local(double share) const { return usage.empty < 1 ? share / (1 - usage.empty) : 0; }
  [[nodiscard]] double sum(std::initializer_list<Stall> reasons) const {
    double all = 0;
    for (const Stall reason : reasons) all += usage.stall(reason);
    return all;
  }
  [[nodiscard]] bool waits_for(std::initializer_list<Stall> reasons) const {
    return std::find(reasons.begin(), reasons.end(), usage.top_stall()) != reasons.end();
  }
};

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

using Rule = std::optional<Finding> (*)(const Facts&);

// --- Outside the SMs' work ---

/// The launch floor alone takes longer than the work.
std::optional<Finding> launch(const Facts& f) {
  const double all = f.usage.launch_cycles + f.usage.cycles;
  if (f.usage.launch_cycles < kHalf * all) return std::nullopt;
  return Finding{
      "launch", "Launch overhead",
      fmt::format("{} of the launch's {:.0f} cycles pass before its first CTA starts.",
                  percent(f.usage.launch_cycles / all), all),
      "Do more work in a launch: fuse kernels, launch them as a graph, or give each a larger problem."};
}

/// Warps wait for memory, and pages come over the host link meanwhile.
std::optional<Finding> host_link(const Facts& f) {
  if (f.paging.faults == 0 || f.sum({Stall::kLongScoreboard, Stall::kMioThrottle, Stall::kDrain}) < kHalf)
    return std::nullopt;
  const std::string wait = fmt::format(
      "Warps wait for memory {} of the time, and managed memory had {:.0f} far faults; the host link was "
      "busy {} "
      "of the kernels' time.",
      percent(f.sum({Stall::kLongScoreboard, Stall::kMioThrottle, Stall::kDrain})), f.paging.faults,
      percent(f.paging.link_busy));
  if (f.paging.link_busy >= kHalf)
    return Finding{"host_link", "Host link (managed memory)", wait,
                   "Keep data on the device: fewer migrations, no over-subscription."};
  return Finding{"page_faults", "Page faults (managed memory)", wait,
                 "Prefetch: cudaMemPrefetchAsync before the kernel."};
}

// --- Work that is done badly ---

/// Shared memory is what the kernel is busy with or waits for, and its accesses take more passes than any
/// needs.
std::optional<Finding> shared_conflicts(const Facts& f) {
  const bool busy = f.local(f.usage.l1) * f.usage.shared_share >= kBusy;
  const bool waits =
      f.waits_for({Stall::kShortScoreboard, Stall::kMioThrottle}) && f.usage.shared_share >= kHalf;
  if (f.usage.wavefronts <= kSurelyConflicts || (!busy && !waits)) return std::nullopt;
  return Finding{
      "shared_conflicts", "Shared-memory bank conflicts",
      fmt::format("A shared-memory instruction takes {:.1f} passes over the banks, more than any width of "
                  "access needs; the banks are busy {} of the time.",
                  f.usage.wavefronts, percent(std::min(1.0, f.local(f.usage.l1)))),
      "Pad or swizzle arrays so that the lanes of a warp fall into different banks."};
}

/// The constant cache is taken most of the time, and lanes of a load read different addresses.
std::optional<Finding> constant_replay(const Facts& f) {
  const double busy = f.local(f.usage.constant);
  if (f.usage.constant_passes < kManyPasses || busy < kHalf) return std::nullopt;
  return Finding{
      "constant_replay", "Constant loads that diverge",
      fmt::format(
          "A constant load takes {:.1f} passes, one for each address that its lanes read; the constant "
          "cache is taken {} of the time.",
          f.usage.constant_passes, percent(std::min(1.0, busy))),
      "Let the lanes of a warp read the same constant, or keep a table that they index in shared memory."};
}

/// Instructions are the limit, and most of their lanes are switched off.
std::optional<Finding> divergence(const Facts& f) {
  const double threads =
      f.kernel.number("block[0]") * f.kernel.number("block[1]") * f.kernel.number("block[2]");
  const double possible = threads / std::max(1.0, std::ceil(threads / kWarpSize));
  const double work = f.sum({Stall::kIssued, Stall::kMathPipe, Stall::kRegisterPort, Stall::kWait,
                             Stall::kBranch, Stall::kNoInstruction});
  if (f.usage.lanes >= kHalf * possible || work < kHalf) return std::nullopt;
  return Finding{
      "divergence", "Divergence",
      fmt::format(
          "An instruction has {:.1f} active lanes of {:.0f}, and {} of the time goes into issuing and "
          "executing instructions.",
          f.usage.lanes, possible, percent(work)),
      "Let the threads of a warp take the same branch: sort the work, or split the kernel by case."};
}

/// Most of what goes to the L2 are atomics, and warps wait for memory.
std::optional<Finding> atomics(const Facts& f) {
  const double waits = f.sum({Stall::kLongScoreboard, Stall::kMioThrottle, Stall::kDrain, Stall::kMemBar});
  if (f.usage.atomic_share < kHalf || (waits < kHalf && f.usage.l2 < kBusy)) return std::nullopt;
  return Finding{
      "atomics", "Atomic operations",
      fmt::format(
          "{} of the sectors that go to the L2 are atomics or reductions, and warps wait for memory {} of "
          "the time.",
          percent(f.usage.atomic_share), percent(waits)),
      "Combine within a warp or CTA first, and spread counters over more addresses."};
}

// --- Units that are busy ---

struct Unit {
  double share;
  Finding finding;
};

Unit issue_unit(const Facts& f) {
  const double share = f.local(f.usage.issue);
  return {share,
          {"issue", "Instruction issue",
           fmt::format("Sub-cores with work issue an instruction in {} of their cycles.", percent(share)),
           "Fewer instructions: wider loads, unrolled loops, tensor or packed arithmetic."}};
}

Unit pipe_unit(const Facts& f) {
  const Pipe unit = f.usage.top_pipe();
  const double share = f.local(f.usage.pipe(unit));
  std::string title(pipe_title(unit));
  const std::string why = fmt::format("The {} is taken {} of the time.", title, percent(share));
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return {share,
          {fmt::format("pipe.{}", pipe_name(unit)), title, why,
           "The unit is used well; only less or cheaper arithmetic of this kind is faster."}};
}

Unit l1_unit(const Facts& f) {
  const double share = f.local(f.usage.l1);
  const bool shared = f.usage.shared_share >= kHalf;
  std::string why =
      fmt::format("The banks of L1 and shared memory are busy {} of the time, {} of it for shared memory.",
                  percent(share), percent(f.usage.shared_share));
  if (shared && f.usage.wavefronts >= kManyWavefronts)
    why += fmt::format(
        " Its instructions take {:.1f} passes: conflicts, unless accesses are of 8 or 16 bytes per lane.",
        f.usage.wavefronts);
  return {share,
          {shared ? "shared_bandwidth" : "l1", shared ? "Shared-memory bandwidth" : "L1 cache bandwidth",
           std::move(why), "Keep more in registers; make accesses of a warp fall into few lines."}};
}

Unit l2_unit(const Facts& f) {
  return {f.usage.l2,
          {"l2", "L2 cache bandwidth",
           fmt::format("The L2 and the crossbar to it move {} of what they can.", percent(f.usage.l2)),
           "Reuse data in the L1 or shared memory; make accesses of a warp fall into few sectors."}};
}

Unit dram_unit(const Facts& f) {
  return {f.usage.dram,
          {"dram", "DRAM bandwidth",
           fmt::format("The DRAM moves {} of its peak bandwidth.", percent(f.usage.dram)),
           "Move fewer bytes: reuse through the L2, smaller types, fused kernels."}};
}

std::optional<Finding> busiest_unit(const Facts& f) {
  std::array<Unit, 5> units{dram_unit(f), l2_unit(f), l1_unit(f), pipe_unit(f), issue_unit(f)};
  const auto top = std::max_element(units.begin(), units.end(),
                                    [](const Unit& a, const Unit& b) { return a.share < b.share; });
  if (top->share < kBusy) return std::nullopt;
  return std::move(top->finding);
}

// --- Waiting ---

std::optional<Finding> small_grid(const Facts& f) {
  if (f.usage.empty < kHalf) return std::nullopt;
  return Finding{
      "grid", "Too little parallel work",
      fmt::format(
          "{} of the sub-cores' time there was no warp at all: the grid is small or unevenly distributed.",
          percent(f.usage.empty)),
      "Launch more CTAs, or run kernels side by side."};
}

/// More CTAs would be as fast as these.
std::optional<Finding> small_grid_of_busy_units(const Facts& f) {
  const bool busy = std::max({f.local(f.usage.issue), f.local(f.usage.l1),
                              f.local(f.usage.pipe(f.usage.top_pipe()))}) >= kBusy;
  return busy ? small_grid(f) : std::nullopt;
}

struct Wait {
  Stall reason;
  std::string_view key, title, advice;
};
constexpr std::array kWaits{
    Wait{Stall::kMathPipe, "pipe_rate", "Execution unit", "Mix in instructions of other units."},
    Wait{Stall::kMioThrottle, "memory_queue", "Memory queue", "Fewer, wider memory instructions."},
    Wait{Stall::kRegisterPort, "register_ports", "Register-file ports", "Operands in different banks."},
    Wait{Stall::kWait, "dependence", "Latency of dependent arithmetic",
         "More independent instructions: unroll, or more warps."},
    Wait{Stall::kShortScoreboard, "short_latency", "Latency of shared memory and special functions",
         "More warps, or independent instructions between load and use."},
    Wait{Stall::kLongScoreboard, "memory_latency", "Memory latency",
         "More loads in flight: more warps, or several independent loads per thread."},
    Wait{Stall::kBarrier, "barrier", "Barriers", "Smaller CTAs, or less work between unequal warps."},
    Wait{Stall::kMemBar, "fence", "Memory fences", "Fewer fences, or of a narrower scope."},
    Wait{Stall::kDepBar, "async_copies", "Asynchronous copies", "More stages of copies in flight."},
    Wait{Stall::kSleep, "sleep", "Sleep", "Shorter NANOSLEEP."},
    Wait{Stall::kBranch, "branch", "Branches", "Unroll loops, predicate short branches."},
    Wait{Stall::kNoInstruction, "instruction_fetch", "Instruction fetch",
         "Smaller loops, fewer warps in different code."},
    Wait{Stall::kDrain, "drain", "Stores at the end of warps", "More work in each warp."}};

/// No unit is busy: what warps wait for most.
std::optional<Finding> latency(const Facts& f) {
  const Stall top = f.usage.top_stall();
  const auto wait =
      std::find_if(kWaits.begin(), kWaits.end(), [&](const Wait& w) { return w.reason == top; });
  if (wait == kWaits.end() || f.usage.stall(top) == 0) return std::nullopt;
  std::string why = fmt::format(
      "No unit is busy; {} of the time the warp that is next waits for {}. A sub-core with work has {:.1f} "
      "warps to "
      "hide it.",
      percent(f.usage.stall(top)), stall_meaning(top), f.usage.warps);
  std::string title(wait->title);
  std::string key(wait->key);
  if (top == Stall::kMathPipe) {
    const Unit unit = pipe_unit(f);
    key = unit.finding.key;
    title = unit.finding.title;
  }
  return Finding{std::move(key), std::move(title), std::move(why), std::string(wait->advice)};
}

/// Worth saying, and never the bottleneck by itself.
std::optional<Finding> uncoalesced(const Facts& f) {
  const double requests = f.kernel.number("l1.requests"), sectors = f.kernel.number("l1.accesses");
  const double global = f.kernel.number("sm.global_instructions");
  if (global == 0 || requests < 8 * global || sectors > kFewSectors * requests) return std::nullopt;
  return Finding{
      "uncoalesced", "Scattered accesses",
      fmt::format("A global-memory instruction touches {:.1f} lines and uses {:.1f} of a line's 4 sectors.",
                  requests / global, sectors / requests),
      "Let neighbouring lanes access neighbouring addresses."};
}

constexpr std::array<Rule, 9> kRules{launch,     host_link, constant_replay,          shared_conflicts,
                                     divergence, atomics,   small_grid_of_busy_units, busiest_unit,
                                     latency};
constexpr std::array<Rule, 2> kRemarks{small_grid, uncoalesced};

/// Adds [start, start + length) of each of `values` whose kind is wanted to `spans`.
using Spans = std::vector<std::pair<double, double>>;

double covered(Spans spans) {
  std::sort(spans.begin(), spans.end());
  double total = 0, end = 0;
  for (const auto& [from, to] : spans) {
    total += std::max(0.0, to - std::max(from, end));
    end = std::max(end, to);
  }
  return total;
}

}  // namespace

Paging paging_of(const Run& run) {
  Paging paging;
  double busy = 0, cycles = 0;
  for (const Values& device : run.managed) {
    paging.faults += device.number("faults");
    busy += device.number("read_busy_cycles");
    cycles += device.number("kernel_cycles");
  }
  if (cycles > 0) paging.link_busy = std::min(1.0, busy / cycles);
  return paging;
}

Diagnosis diagnose(const Usage& usage, const Values& kernel, const Paging& paging) {
  const Facts facts{usage, kernel, paging};
  std::vector<Finding> found;
  const auto add = [&](Rule rule) {
    auto finding = rule(facts);
    const auto same = [&](const Finding& other) { return finding && other.key == finding->key; };
    if (finding && std::none_of(found.begin(), found.end(), same)) found.push_back(std::move(*finding));
  };
  for (const Rule rule : kRules)
    if (rule != latency || found.empty()) add(rule);
  for (const Rule rule : kRemarks) add(rule);
  if (found.empty()) found.push_back({"none", "Nothing measured", "No instruction was issued.", ""});
  Diagnosis diagnosis{found.front(), {}};
  diagnosis.also.assign(found.begin() + 1, found.end());
  return diagnosis;
}

TimeShares time_shares(const Run& run) {
  const double total = run.whole.number("total_cycles");
  Spans kernels, all;
  const auto add = [](Spans& spans, const Values& v) {
    const double start = v.number("start_cycle");
    spans.emplace_back(start, start + v.number("cycles"));
  };
  for (const Kernel& kernel : run.kernels) add(kernels, kernel.values);
  all = kernels;
  for (const Values& copy : run.copies) add(all, copy);
  if (total <= 0) return {};
  const double with_kernel = covered(std::move(kernels)) / total, busy = covered(std::move(all)) / total;
  return {std::min(1.0, with_kernel), std::clamp(busy - with_kernel, 0.0, 1.0),
          std::clamp(1 - busy, 0.0, 1.0)};
}

Finding diagnose_run(const Run& run) {
  const TimeShares shares = time_shares(run);
  const std::string split =
      fmt::format("Kernels take {} of the run, copies without a kernel {}, launches and the host {}.",
                  percent(shares.kernels), percent(shares.copies), percent(shares.rest));
  if (shares.copies >= kHalf)
    return {"host_link", "Copies over the host link", split, "Copy less, or while kernels run."};
  if (shares.rest >= kHalf)
    return {"launch", "Launches and the host", split,
            "Fewer and larger kernels; graphs; no waiting between them."};
  return {"kernels", "Kernels", split, "See the kernels, the longest first."};
}

}  // namespace lockstep::report
