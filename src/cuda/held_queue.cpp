#include "cuda/held_queue.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>

#include "cuda/interrupt.hpp"
#include "util/console.hpp"

namespace lockstep::cuda {

namespace {

/// Reads the process's own memory whatever its access rights are: managed pages are watched meanwhile.
bool read_own(Address from, void* to, std::size_t bytes) {
  static const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  return ::pread(memory, to, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
}

bool is_receive(const Operation& operation) {
  const auto* const task = std::get_if<ProcessTask>(&operation);
  return task != nullptr && task->task.kind == trace::HostTask::Kind::kReceive;
}

/// Not only for what comes before it.
bool waits_itself(const Work& work) {
  return work.run != nullptr || std::holds_alternative<ValueOperations>(work.operation) ||
         is_receive(work.operation);
}
std::string name_of(const Work& work) {
  if (work.run) return "kernel " + work.run->source.kernel->name;
  if (!is_receive(work.operation)) return "a stream (cuStreamWaitValue)";
  return fmt::format("the process of PE {}, which receives from PE {},", work.stream->device,
                     std::get<ProcessTask>(work.operation).task.peer);
}
/// Where the warps of a kernel stand.
std::string place_of(const Work& work) {
  return work.run && work.run->grid ? "; its warps stand at\n" + work.run->grid->dump() : std::string();
}

}  // namespace

void HeldQueue::submit(StreamState& stream, Operation operation, Issue issue) {
  const OnDevice device(stream.device);
  Work work{&stream, std::move(operation), issue, with_.recording.in_range(), nullptr, 0, 0, 0, {}};
  if (const auto* wait = std::get_if<WaitEvent>(&work.operation)) {
    const EventState& e = with_.streams.event(wait->event);
    if (!e.recorded && e.held == 0) return;
    work.after = e.held;
    work.event_record = e.record;
  }
  if (!all_.empty() && holds_at_call(work)) return hold(std::move(work));
  if (const auto* record = std::get_if<RecordEvent>(&work.operation))
    with_.streams.event(record->event).held = 0;
  if (!performer_.perform(work)) hold(std::move(work));
}

/// For copies of pageable memory, as hardware: from it is staged, to it is waited for.
bool HeldQueue::holds_at_call(Work& work) {
  if (!held_.holds(work)) return false;
  auto* const copy = std::get_if<Copy>(&work.operation);
  if (copy == nullptr) return true;
  const auto reachable = [&](const std::byte* a) {
    return with_.memory.accessible(reinterpret_cast<Address>(a), 1);
  };
  const bool inside = reachable(copy->to.address) && reachable(copy->from.address);
  if ((copy->blocking && !(inside && copy->kind == abi::kDeviceToDevice)) || !reachable(copy->to.address)) {
    wait_until([&] { return !held_.holds(work); });
    return false;
  }
  copy->blocking = false;
  if (reachable(copy->from.address)) return true;
  work.staged.assign(copy->from.address,
                     copy->from.address +
                         span_of(copy->from.pitch, copy->from.slice, copy->width, copy->height, copy->depth));
  copy->from.address = work.staged.data();
  return true;
}

void HeldQueue::hold(Work work) {
  if (const auto* launch = std::get_if<KernelLaunch>(&work.operation); launch && !work.run)
    (void)launch->kernel->executable();  // what cannot be executed is an error now
  work.number = ++last_number_;
  if (const auto* record = std::get_if<RecordEvent>(&work.operation))
    with_.streams.event(record->event).held = work.number;
  held_.add(work);
  if (work.run) with_.watchdog.begin(work.run->source.kernel->name);
  with_.streams.keep_destroyed(true);
  all_.push_back(std::move(work));
}

/// Nothing is held any more.
void HeldQueue::end() {
  with_.watchdog.end();
  with_.streams.keep_destroyed(false);
}

void HeldQueue::count_held() {
  held_ = {};
  for (const Work& work : all_) held_.add(work);
}

bool HeldQueue::go_on() {
  if (all_.empty() || std::exchange(going_on_, true)) return false;
  bool any = false;
  struct Ended {
    HeldQueue& queue;
    ~Ended() {
      queue.going_on_ = false;
      queue.count_held();
      if (queue.all_.empty()) queue.end();
    }
  } const ended{*this};
  for (bool moved = true; moved;) {
    moved = false;
    Held before;
    for (auto at = all_.begin(); at != all_.end();) {
      const bool ready = !before.holds(*at) && (!at->run || may_go_on(*at->run));
      const bool done = ready && try_work(*at);
      moved |= done || (ready && at->run && !at->run->awaited.empty());
      any |= moved;
      if (!done) before.add(*at);
      at = done ? all_.erase(at) : std::next(at);
    }
  }
  return any;
}

bool HeldQueue::try_work(Work& work) {
  try {
    const bool done = performer_.perform(work);
    if (std::holds_alternative<RecordEvent>(work.operation))
      for (Work& waiting : all_)
        if (waiting.after == work.number) waiting.after = 0, waiting.event_record = work.event_record;
    return done;
  } catch (...) {
    all_.remove_if([&](const Work& other) { return &other == &work; });
    throw;
  }
}

/// Has anything that it has read changed? One that only its rehearsal knows is asked again.
bool HeldQueue::may_go_on(const KernelRun& run) {
  bool given = false;
  const bool changed =
      run.awaited.empty() || std::ranges::any_of(run.awaited, [&](const exec::AwaitedWord& word) {
        std::uint64_t now = 0;
        if (!with_.memory.accessible(word.address, word.bytes)) return true;  // which is a fault
        if (!read_own(word.address, &now, word.bytes)) {                      // some systems do not allow it
          if (!std::exchange(given, true)) with_.memory_log.note_host();
          std::memcpy(&now, reinterpret_cast<const void*>(word.address), word.bytes);
        }
        return now != word.bits;
      });
  if (given) with_.memory_log.watch();
  return changed;
}

void HeldQueue::catch_up() {
  if (with_.recording.recorder() != nullptr && with_.devices.count() > 1) go_on();
}

void HeldQueue::wait_until(const std::function<bool()>& done) {
  catch_up();
  bool alone = false;  // already when all that was written was last looked at
  for (unsigned round = 0; !done(); ++round) {
    const bool moved = go_on();
    if (going_on_) return;  // in a host function, which may not wait for the device
    if (done()) return;
    const Work* const work = waiting_kernel();
    const bool was_alone =
        std::exchange(alone, work && !with_.watchdog.has_other_threads() && !with_.processes.shares());
    if (alone && was_alone && !moved) give_up(*work);
    if (!alone) pause(round);
  }
}

void HeldQueue::wait_all() {
  wait_until([&] { return all_.empty(); });
}
void HeldQueue::wait_device(unsigned device) {
  wait_until([&] { return !held_.has_device(device); });
}
void HeldQueue::wait_stream(const StreamState& stream) {
  wait_until([&] { return !held_.has(stream); });
}
void HeldQueue::wait_event(const EventState& event) {
  const std::uint64_t record = event.held;
  wait_until([&] { return record == 0 || !held_.holds(record); });
}

const Work* HeldQueue::waiting_kernel() const {
  const auto found = std::ranges::find_if(all_, waits_itself);
  return found == all_.end() ? nullptr : &*found;
}

/// Another thread of the program may write what a kernel waits for: in real time, which changes no result.
void HeldQueue::pause(unsigned round) {
  using namespace std::chrono_literals;
  constexpr unsigned kLong = 5000;  // rounds of at least a millisecond
  const Work* const work = waiting_kernel();
  const std::string name = work ? name_of(*work) : "",
                    kernel = work && work->run ? work->run->source.kernel->name : "(none)";
  const auto where = [&] {
    return work && work->run && work->run->grid ? work->run->grid->dump() : std::string();
  };
  if (round == kLong && work)
    print_err("lockstep: {} waits for a write of the program's{}\n", name, place_of(*work));
  with_.turns.pass(with_.mutex);
  const KernelRuns runs;
  with_.mutex.unlock();
  std::this_thread::sleep_for(std::min<std::chrono::microseconds>(20us * (round + 1), 1ms));
  with_.mutex.lock();
  if (interrupt_flag()->load()) end_interrupted(kernel, waiting_kernel() == work ? where() : std::string());
}

void HeldQueue::give_up(const Work& work) {
  Status& sticky = with_.devices[work.stream->device].sticky;
  sticky = Status::kErrorLaunchTimeout;
  throw ApiError(
      sticky, fmt::format("{} waits for a write that can no longer happen: the program's only thread waits "
                          "for it{}{}",
                          name_of(work), place_of(work), network_waits()));
}

/// Which words of the network's memory the kernels that are held have read.
std::string HeldQueue::network_waits() const {
  constexpr int kMaxLines = 16;
  std::string text;
  int lines = 0;
  for (const Work& work : all_) {
    if (!work.run) continue;
    for (const exec::AwaitedWord& word : work.run->awaited) {
      const std::string what = with_.agent.describe(word.address);
      if (what.empty() || ++lines > kMaxLines) continue;
      text += fmt::format("  device {}, kernel {}: waits for {}, which is {}\n", work.stream->device,
                          work.run->source.kernel->name, what, word.bits);
    }
  }
  if (lines > kMaxLines) text += fmt::format("  and {} more\n", lines - kMaxLines);
  return text;
}

void HeldQueue::drop(std::optional<unsigned> device) {
  try {
    go_on();
  } catch (const std::exception& e) {
    print_err("lockstep: {}\n", e.what());
  }
  const auto dropped = [&](const Work& work) { return !device || work.stream->device == *device; };
  const auto kernel =
      std::ranges::find_if(all_, [&](const Work& work) { return waits_itself(work) && dropped(work); });
  if (kernel != all_.end())
    print_err(
        "lockstep: warning: {} still waited for a write of the program's; it and what was behind it, {} "
        "operations in all, are left out\n",
        name_of(*kernel), std::ranges::count_if(all_, dropped));
  all_.remove_if(dropped);
  count_held();
  if (all_.empty()) end();
}

}  // namespace lockstep::cuda
