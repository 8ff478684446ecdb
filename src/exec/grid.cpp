// A launch: its CTAs in the order of their index.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "exec/check/launch_check.hpp"
#include "exec/concurrent_run.hpp"
#include "exec/cta.hpp"
#include "exec/launch.hpp"
#include "exec/machine.hpp"
#include "trace/kernel_trace.hpp"
#include "util/error.hpp"

namespace lockstep::exec {

namespace {

constexpr std::uint64_t kWorkspaceBytes = 256;
constexpr std::uint64_t kDefaultHeapBytes = 8 << 20;  // the CUDA runtime's default
// Before a grid whose CTAs spin asks whether it gets any further.
constexpr std::uint64_t kGridPatience = 8, kGridLong = 4096;  // rounds, instructions

void require(bool holds, const Launch& launch, const std::string& what) {
  if (!holds) throw UserError(fmt::format("launch of {}: {}", launch.kernel->name(), what));
}

void check_geometry(const Launch& l) {
  using Limits = trace::KernelHeader;
  require(l.grid.count() > 0 && l.grid.x <= Limits::kMaxGridX && l.grid.y <= Limits::kMaxGridYz &&
              l.grid.z <= Limits::kMaxGridYz,
          l, fmt::format("grid ({},{},{}) is not allowed", l.grid.x, l.grid.y, l.grid.z));
  require(l.block.count() > 0 && l.block.count() <= Limits::kMaxThreads && l.block.z <= Limits::kMaxThreadsZ,
          l, fmt::format("block ({},{},{}) is not allowed", l.block.x, l.block.y, l.block.z));
  const auto& directives = l.kernel->entry().directives;
  const auto& most = directives.maxntid;
  if (most[0] != 0) {
    const std::uint64_t limit = std::uint64_t{most[0]} * std::max(most[1], 1u) * std::max(most[2], 1u);
    require(l.block.count() <= limit, l,
            fmt::format("{} threads a CTA, .maxntid allows {}", l.block.count(), limit));
  }
  const auto& exact = directives.reqntid;
  require(exact[0] == 0 || l.block == Dim3{exact[0], std::max(exact[1], 1u), std::max(exact[2], 1u)}, l,
          "the block is not that of .reqntid");
  const Dim3& c = l.cluster;
  require(c.count() > 0 && c.count() <= trace::kMaxClusterCtas && l.grid.x % c.x == 0 &&
              l.grid.y % c.y == 0 && l.grid.z % c.z == 0,
          l, fmt::format("clusters of ({},{},{}) CTAs are not allowed", c.x, c.y, c.z));
}

}  // namespace

struct Grid::State {
  struct RunningCta {
    Cta cta;
    CtaRecord record;
    Cta::State state = Cta::State::kSpinning;
    std::uint64_t executed = 0;                              // warp instructions in its turns
    std::vector<std::pair<std::size_t, std::size_t>> marks;  // by warp: records and words at State::mark()
  };
  State(const Launch& launch, DeviceMemory& memory, const RunOptions& options)
      : own_heap(memory, kDefaultHeapBytes, launch.device), machine(launch, memory, options) {}

  DeviceHeap own_heap;
  Machine machine;
  std::optional<LaunchCheck> check;
  bool recording = false;
  std::map<std::uint64_t, std::unique_ptr<RunningCta>> started;
  std::vector<std::unique_ptr<RunningCta>> idle, resting;  // resting: ended, but of a cluster that has not
  std::uint64_t next = 0;                                  // first CTA that has not been started by help()
  bool waits = false;
  bool served = false;  // the server has written since it was last asked whether the launch stands still

  RunningCta& start(std::uint64_t index);
  void start_cluster(std::uint64_t index);
  bool help(std::uint64_t index);
  bool run_others(std::uint64_t index, bool& further);
  [[nodiscard]] bool may_take_turns() const;
  RunningCta* whose_turn();
  bool take_turns(const RunningCta& until);
  bool ask_server();
  [[nodiscard]] bool has_room() const;
  [[nodiscard]] bool is_livelocked(LivelockDetector& still, std::uint64_t before);
  void fault_at_spinner();
  void mark();
  void cut();
  [[nodiscard]] std::vector<std::uint64_t> cluster_of(std::uint64_t index) const;
};

Grid::Grid(const Launch& launch, DeviceMemory& memory, const RunOptions& options) {
  check_geometry(launch);
  const Executable& kernel = *launch.kernel;
  require(launch.parameters.size() >= kernel.parameter_bytes(), launch,
          fmt::format("{} bytes of parameters are given, {} expected", launch.parameters.size(),
                      kernel.parameter_bytes()));
  state_ = std::make_unique<State>(launch, memory, options);
  Machine& machine = state_->machine;
  machine.heap = options.heap ? options.heap : &state_->own_heap;
  if (options.checker) machine.check = &state_->check.emplace(*options.checker, machine);
  machine.shared_bytes = launch.dynamic_shared_bytes == 0
                             ? kernel.shared_bytes()
                             : kernel.dynamic_shared_offset() + launch.dynamic_shared_bytes;
  require(machine.shared_bytes <= options.shared_bytes_limit, launch,
          fmt::format("{} bytes of shared memory a CTA, {} allowed", machine.shared_bytes,
                      options.shared_bytes_limit));
  machine.shared_bytes =
      (machine.shared_bytes + options.shared_unit - 1) / options.shared_unit * options.shared_unit;
  if (!launch.cooperative) return;
  const auto workspace =
      memory.allocate(kWorkspaceBytes, MemoryKind::kDevice, DeviceMemory::kAlignment, launch.device);
  require(workspace.has_value(), launch, "no memory for the workspace of a cooperative launch");
  std::fill_n(reinterpret_cast<char*>(*workspace), kWorkspaceBytes, '\0');
  memory.wrote(*workspace, kWorkspaceBytes);
  machine.workspace = *workspace;
}

Grid::~Grid() {
  if (state_)
    for (const auto& [at, child] : state_->machine.buffers) state_->machine.memory.release(at);
  if (state_ && state_->machine.workspace != 0) state_->machine.memory.release(state_->machine.workspace);
}
Grid::Grid(Grid&&) noexcept = default;

std::uint64_t Grid::ctas() const { return state_->machine.launch.grid.count(); }
unsigned Grid::threads() const { return state_->machine.options.threads; }
RunCounts Grid::counts() const { return state_->machine.counts; }
bool Grid::waits() const { return state_->waits; }

std::vector<AwaitedWord> Grid::awaited() const {
  std::vector<AwaitedWord> words;
  for (const auto& [address, value] : state_->machine.watch.values)
    words.push_back({address, value.bytes, value.bits});
  return words;
}

std::string Grid::dump() const {
  WarpPlaces places;
  for (const auto& [index, running] : state_->started) running->cta.add_places(places);
  return places.text();
}

Grid::State::RunningCta& Grid::State::start(std::uint64_t index) {
  auto& place = started[index];
  if (place) return *place;
  if (idle.empty()) {
    place = std::make_unique<RunningCta>();
  } else {
    place = std::move(idle.back());
    idle.pop_back();
  }
  place->state = machine.turns ? Cta::State::kTurnOver : Cta::State::kSpinning;
  place->executed = 0;
  place->cta.start(machine, index, recording ? &place->record : nullptr);
  return *place;
}

std::vector<std::uint64_t> Grid::State::cluster_of(std::uint64_t index) const {
  const Dim3 &size = machine.launch.cluster, &grid = machine.launch.grid;
  const Dim3 at = machine.cta_id(index);
  std::vector<std::uint64_t> members;
  for (std::uint32_t z = at.z - at.z % size.z, i = 0; i < size.z; ++i, ++z)
    for (std::uint32_t y = at.y - at.y % size.y, j = 0; j < size.y; ++j, ++y)
      for (std::uint32_t x = at.x - at.x % size.x, k = 0; k < size.x; ++k, ++x)
        members.push_back(x + std::uint64_t{grid.x} * (y + std::uint64_t{grid.y} * z));
  return members;
}

/// CTAs of a cluster run together.
void Grid::State::start_cluster(std::uint64_t index) {
  if (started.count(index) != 0) return;
  std::vector<Cta*> members;
  for (const std::uint64_t member : cluster_of(index)) members.push_back(&start(member).cta);
  for (Cta* member : members) member->join(members);
}

/// Each other CTA that is on its way runs until it ends or waits. False: interrupted.
bool Grid::State::run_others(std::uint64_t index, bool& further) {
  for (auto& [other, running] : started) {
    if (other == index || running->state == Cta::State::kDone) continue;
    const std::uint64_t before = machine.counts.warp_instructions;
    running->state = running->cta.run();
    if (running->state == Cta::State::kInterrupted) return false;
    further |= running->state == Cta::State::kDone ||
               (running->state == Cta::State::kBlocked && machine.counts.warp_instructions != before);
  }
  return true;
}

/// An upper bound on the CTAs that can be resident at once.
bool Grid::State::has_room() const {
  if (!machine.options.may_wait || machine.launch.cooperative) return true;
  std::uint64_t live = 0;
  for (const auto& [index, running] : started) live += running->state != Cta::State::kDone;
  return live < std::uint64_t{machine.options.sm_count} * machine.options.sm_ctas;
}

/// Whether all CTAs are on the machine at once and take work: then they run along with each other, as they
/// would there. Clusters and cooperative launches have an order of their own.
bool Grid::State::may_take_turns() const {
  const Launch& l = machine.launch;
  const RunOptions& options = machine.options;
  const std::uint64_t of_sm = std::min<std::uint64_t>(options.sm_ctas, options.sm_threads / l.block.count());
  const std::uint64_t held = options.sm_count * std::max<std::uint64_t>(1, of_sm);
  return machine.kernel.takes_work() && !l.cooperative && l.cluster.count() == 1 && l.grid.count() > 1 &&
         l.grid.count() <= held;
}

/// The CTA that has executed least, of those that do not wait.
Grid::State::RunningCta* Grid::State::whose_turn() {
  RunningCta* first = nullptr;
  for (auto& [index, running] : started)
    if (running->state == Cta::State::kTurnOver && (first == nullptr || running->executed < first->executed))
      first = running.get();
  return first;
}

/// CTAs run in turn until that one has ended or waits, or none can take a turn. False: interrupted.
bool Grid::State::take_turns(const RunningCta& until) {
  for (; next < machine.launch.grid.count(); ++next)
    if (started.count(next) == 0) start_cluster(next);
  while (until.state == Cta::State::kTurnOver) {
    RunningCta* const running = whose_turn();
    const std::uint64_t before = machine.counts.warp_instructions;
    running->state = running->cta.run();
    running->executed += machine.counts.warp_instructions - before;
    if (running->state == Cta::State::kInterrupted) return false;
  }
  return true;
}

/// CTA `index` waits for something: the others run. When that brings nothing, as many again are started; a
/// cooperative launch has all of them on the machine. False: interrupted.
bool Grid::State::help(std::uint64_t index) {
  bool further = false;
  if (!run_others(index, further)) return false;
  if (further) return true;
  const std::uint64_t all = machine.launch.grid.count();
  const std::uint64_t more = machine.launch.cooperative ? all : started.size();
  bool fresh = false;
  for (std::uint64_t n = 0; n < more && next < all && has_room(); ++next) {
    if (next <= index || started.count(next) != 0) continue;
    start_cluster(next);
    fresh = true;
    ++n;
  }
  if (fresh) return run_others(index, further);
  if (ask_server()) return true;
  bool all_blocked = true;
  for (const auto& [other, running] : started)
    all_blocked &= running->state == Cta::State::kBlocked || running->state == Cta::State::kDone;
  if (all_blocked) started.at(index)->cta.fault(FaultKind::kDeadlock, "every thread waits");
  return true;
}

/// Where no CTA gets any further. True: some may now.
bool Grid::State::ask_server() {
  if (!machine.options.server || !machine.options.server()) return false;
  ++machine.watch.changes;
  served = true;
  return true;
}

/// After a round of all CTAs, none of which has ended or waits for another one only.
bool Grid::State::is_livelocked(LivelockDetector& still, std::uint64_t before) {
  const auto verdict = still.round(machine.counts.warp_instructions - before, [this] {
    Fingerprint print;
    print.add(started.size());
    for (const auto& [index, running] : started) {
      print.add(static_cast<std::uint64_t>(running->state));
      if (running->state != Cta::State::kDone) running->cta.add_to(print);
    }
    return print.value();
  });
  if (verdict == LivelockDetector::Verdict::kBegun) mark();
  if (verdict == LivelockDetector::Verdict::kStands) cut();
  if (verdict == LivelockDetector::Verdict::kDead) fault_at_spinner();
  return verdict == LivelockDetector::Verdict::kStands;
}

/// The error for threads that spin on words that no other thread can change.
void Grid::State::fault_at_spinner() {
  for (auto& [index, running] : started)
    if (running->state == Cta::State::kSpinning)
      running->cta.fault(FaultKind::kDeadlock, "every thread waits, for what no thread will change");
}

void Grid::State::mark() {
  if (!recording) return;
  for (auto& [index, running] : started) {
    running->marks.clear();
    for (const WarpRecord& warp : running->record.warps)
      running->marks.emplace_back(warp.records.size(), warp.words.size());
  }
}

/// What has been executed since mark() has led back to where everybody was then.
void Grid::State::cut() {
  if (!recording) return;
  for (auto& [index, running] : started)
    for (std::size_t w = 0; w < running->marks.size(); ++w) {
      running->record.warps[w].records.resize(running->marks[w].first);
      running->record.warps[w].words.resize(running->marks[w].second);
    }
}

bool Grid::run_cta(std::uint64_t index, CtaRecord* record) {
  State& s = *state_;
  s.recording = record != nullptr;
  s.waits = false;
  s.machine.turns = s.may_take_turns();
  s.start_cluster(index);
  State::RunningCta& running = *s.started.at(index);
  LivelockDetector still(s.machine.watch, kGridPatience, kGridLong);
  std::uint64_t before = s.machine.counts.warp_instructions;
  if (s.machine.turns && !s.take_turns(running)) return false;
  while (running.state != Cta::State::kDone) {
    running.state = running.cta.run();
    if (running.state == Cta::State::kInterrupted) return false;
    if (running.state == Cta::State::kDone) break;
    if (!s.help(index)) return false;
    if (std::exchange(s.served, false)) still.restart(), before = s.machine.counts.warp_instructions;
    if (s.machine.options.may_wait && s.is_livelocked(still, before)) {
      s.waits = true;
      return false;
    }
  }
  s.machine.notify_observer(1, [] { return std::string(); });
  if (record) std::swap(*record, running.record);
  s.resting.push_back(std::move(s.started.at(index)));
  s.started.erase(index);
  const bool alone = s.machine.launch.cluster.count() == 1;
  if (alone || s.started.empty())  // until then others of the cluster may look at it
    std::move(s.resting.begin(), s.resting.end(), std::back_inserter(s.idle)), s.resting.clear();
  return true;
}

bool Grid::run_concurrently(CtaSink* sink) {
  const auto counts = exec::run_concurrently(state_->machine, sink);
  if (counts) state_->machine.counts = *counts;
  return counts.has_value();
}

bool run(const Launch& launch, DeviceMemory& memory, const RunOptions& options, RunCounts* counts) {
  Grid grid(launch, memory, options);
  bool done = true;
  const bool all = grid.run_concurrently();
  for (std::uint64_t i = 0; !all && done && i < grid.ctas(); ++i) done = grid.run_cta(i, nullptr);
  if (counts) *counts = grid.counts();
  return done;
}

}  // namespace lockstep::exec
