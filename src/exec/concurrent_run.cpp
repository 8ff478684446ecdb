#include "exec/concurrent_run.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "exec/access_set.hpp"
#include "exec/cta.hpp"

namespace lockstep::exec {

namespace {

constexpr std::uint64_t kCtasEach = 2;  // of a thread, at least: fewer are not worth it

bool is_global(StateSpace state_space) {
  return state_space == StateSpace::kGlobal || state_space == StateSpace::kGeneric;
}

bool communicates(const Executable& kernel, const Operation& op, bool signals) {
  const bool accesses = op.handler == Handler::kStore || op.handler == Handler::kAtomic;
  if (signals && accesses && kernel.memory()[op.detail].signals) return true;
  switch (op.handler) {
    case Handler::kLane:
    case Handler::kLaneSync:
    case Handler::kBranch:
    case Handler::kBranchTable:
    case Handler::kReturn:
    case Handler::kExit:
    case Handler::kTrap:
    case Handler::kBarrier:
    case Handler::kWarpBarrier:
    case Handler::kNanosleep:
    case Handler::kNothing:
    case Handler::kCopyAsync:
    case Handler::kMatrixMove:
    case Handler::kStack:
      return op.reads_clock;
    case Handler::kLoad:
      return kernel.memory()[op.detail].polls && is_global(kernel.memory()[op.detail].state_space);
    case Handler::kStore:
      return op.second != ~0u;  // completes bytes of an mbarrier, maybe another CTA's
    case Handler::kAtomic:
      return is_global(kernel.memory()[op.detail].state_space) && !kernel.atomics()[op.second].commutes;
    case Handler::kMbarrier:
      return is_global(kernel.memory()[op.detail].state_space);
    case Handler::kCall:
      return kernel.calls()[op.detail].runtime != Runtime::kNone;
    default:
      return true;
  }
}

/// What one thread runs.
struct Part {
  Part(const Machine& of, AccessSet& set) : machine(of), accesses(set) { machine.accesses = &set; }
  Machine machine;
  AccessSet& accesses;
};

/// CTAs `first`, `first` + `threads`, ...: which thread runs which does not depend on how fast they are.
void run_part(Part& part, unsigned first, unsigned threads, CtaSink* sink, std::atomic<bool>& failed) {
  const std::uint64_t ctas = part.machine.launch.grid.count();
  try {
    Cta cta;
    CtaRecord record;
    for (std::uint64_t index = first; index < ctas && !failed; index += threads) {
      cta.start(part.machine, index, sink ? &record : nullptr);
      if (cta.run() != Cta::State::kDone || part.accesses.foreign()) failed = true;
      part.machine.notify_observer(1, [] { return std::string(); });
      if (sink && !failed) sink->take(first, record, failed);
    }
    if (sink && !failed) sink->end(first, failed);
  } catch (const std::exception&) {  // a fault: happens again one by one, where it is the first one
    failed = true;
  }
}

bool independent(const std::vector<std::unique_ptr<Part>>& parts) {
  for (const auto& part : parts)
    for (const auto& other : parts)
      if (part != other && part->accesses.conflicts_with(other->accesses)) return false;
  return true;
}

RunCounts sum_of(const std::vector<std::unique_ptr<Part>>& parts) {
  RunCounts sum;
  for (const auto& part : parts) {
    sum.warp_instructions += part->machine.counts.warp_instructions;
    sum.thread_instructions += part->machine.counts.thread_instructions;
  }
  return sum;
}

}  // namespace

bool communicates(const Executable& kernel, bool signals) {
  std::uint8_t reduced = 0;  // bytes: elements of one width never overlap
  return std::any_of(kernel.operations().begin(), kernel.operations().end(), [&](const Operation& op) {
    if (communicates(kernel, op, signals)) return true;
    if (op.handler != Handler::kAtomic || !is_global(kernel.memory()[op.detail].state_space)) return false;
    const std::uint8_t bytes = kernel.memory()[op.detail].bytes;
    const std::uint8_t before = std::exchange(reduced, bytes);
    return before != 0 && before != bytes;
  });
}

std::optional<RunCounts> run_concurrently(const Machine& machine, CtaSink* sink) {
  const Launch& launch = machine.launch;
  const auto threads = static_cast<unsigned>(
      std::min<std::uint64_t>(machine.options.threads, launch.grid.count() / kCtasEach));
  if (threads < 2 || machine.check || launch.cooperative || launch.cluster.count() > 1) return std::nullopt;
  if (machine.kernel.dependent() || communicates(machine.kernel, machine.options.signals != nullptr))
    return std::nullopt;
  std::optional<AccessSets> own;
  const auto sets =
      (machine.options.access_sets ? *machine.options.access_sets : own.emplace(machine.memory.arena_bytes()))
          .get(threads);
  if (sets.empty()) return std::nullopt;
  std::vector<std::unique_ptr<Part>> parts;
  for (const auto& set : sets) parts.push_back(std::make_unique<Part>(machine, *set));
  std::atomic<bool> failed{false};
  const auto run = [&](unsigned i) { run_part(*parts[i], i, threads, sink, failed); };
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(run, i);
    run(0);
  }
  const RunCounts counts = sum_of(parts);
  if (!failed && independent(parts) && counts.warp_instructions < machine.options.max_instructions) {
    for (const auto& part : parts) part->accesses.apply();
    return counts;
  }
  if (machine.options.observer) machine.options.observer->restarted();
  machine.kernel.note_dependent();
  for (const auto& part : parts) part->accesses.undo();
  return std::nullopt;
}

}  // namespace lockstep::exec
