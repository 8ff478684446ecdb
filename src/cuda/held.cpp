// Kernels that wait for a write of the host, and the work behind them: held at its call, done when the host
// waits or asks.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>

#include "cuda/held_work.hpp"
#include "cuda/interrupt.hpp"
#include "cuda/runtime.hpp"
#include "util/console.hpp"

namespace lockstep::cuda {

namespace {

bool is_blocking(const StreamState& s) { return !s.is_default && s.blocks(); }
std::uint32_t bit_of(const StreamState& s) { return std::uint32_t{1} << s.device; }

/// Reads the process's own memory whatever its access rights are: managed pages are watched meanwhile.
bool read_own(Address from, void* to, std::size_t bytes) {
  static const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  return ::pread(memory, to, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
}

std::size_t span_of(const Copy& c) {
  return c.from.slice * (c.depth - 1) + c.from.pitch * (c.height - 1) + c.width;
}

}  // namespace

void Held::add(const Work& work) {
  streams_.insert(work.stream);
  numbers_.insert(work.number);
  devices_ |= bit_of(*work.stream);
  if (work.stream->is_default) default_ |= bit_of(*work.stream);
  if (is_blocking(*work.stream)) blocking_ |= bit_of(*work.stream);
}

bool Held::holds(const StreamState& s) const {
  return streams_.count(&s) != 0 || (s.is_default && (blocking_ & bit_of(s)) != 0) ||
         (is_blocking(s) && (default_ & bit_of(s)) != 0);
}

bool Held::has(const StreamState& s) const {
  return streams_.count(&s) != 0 || (s.is_default && (blocking_ & bit_of(s)) != 0);
}

bool Held::holds(const Work& work) const {
  return holds(*work.stream) || (work.after != 0 && numbers_.count(work.after) != 0);
}

void Runtime::issue(StreamState& stream, Operation operation) {
  const OnDevice device(stream.device);
  Work work{&stream, std::move(operation), nullptr, 0, 0, 0, {}};
  if (const auto* wait = std::get_if<WaitEvent>(&work.operation)) {
    const EventState& e = event(wait->event);
    if (!e.recorded && e.held == 0) return;
    work.after = e.held;
    work.event_record = e.record;
  }
  if (!held_.all.empty() && holds_at_call(work)) return hold(std::move(work));
  if (const auto* record = std::get_if<RecordEvent>(&work.operation)) event(record->event).held = 0;
  if (!perform(work)) hold(std::move(work));
}

/// For copies of pageable memory, as hardware: from it is staged, to it is waited for.
bool Runtime::holds_at_call(Work& work) {
  if (!held_.held.holds(work)) return false;
  auto* const copy = std::get_if<Copy>(&work.operation);
  if (copy == nullptr) return true;
  const auto reachable = [&](const std::byte* a) {
    return memory.accessible(reinterpret_cast<Address>(a), 1);
  };
  const bool inside = reachable(copy->to.address) && reachable(copy->from.address);
  if ((copy->blocking && !(inside && copy->kind == abi::kDeviceToDevice)) || !reachable(copy->to.address)) {
    wait_until([&] { return !held_.held.holds(work); });
    return false;
  }
  copy->blocking = false;
  if (reachable(copy->from.address)) return true;
  work.staged.assign(copy->from.address, copy->from.address + span_of(*copy));
  copy->from.address = work.staged.data();
  return true;
}

void Runtime::hold(Work work) {
  if (const auto* launch = std::get_if<KernelLaunch>(&work.operation); launch && !work.run)
    (void)launch->kernel->executable();  // what cannot be executed is an error now
  work.number = ++held_.last_number;
  if (const auto* record = std::get_if<RecordEvent>(&work.operation)) event(record->event).held = work.number;
  held_.held.add(work);
  if (work.run) lookout.begin(work.run->source.kernel->name);
  held_.all.push_back(std::move(work));
}

/// Does what can be done, until nothing more can. Was there any?
bool Runtime::go_on() {
  if (held_.all.empty() || std::exchange(held_.going_on, true)) return false;
  bool any = false;
  struct Ended {
    HeldWork& held;
    ~Ended() {
      held.going_on = false;
      held.held = {};
      for (const Work& work : held.all) held.held.add(work);
    }
  } const ended{held_};
  for (bool moved = true; moved;) {
    moved = false;
    Held before;
    for (auto at = held_.all.begin(); at != held_.all.end();) {
      const bool ready = !before.holds(*at) && (!at->run || may_go_on(*at->run));
      const bool done = ready && try_work(*at);
      moved |= ready && (done || !at->run->awaited.empty());
      any |= moved;
      if (!done) before.add(*at);
      at = done ? held_.all.erase(at) : std::next(at);
    }
  }
  if (!held_.all.empty()) return any;
  lookout.end();
  gone_streams_.clear();
  gone_events_.clear();
  return any;
}

bool Runtime::try_work(Work& work) {
  try {
    return perform(work);
  } catch (...) {
    held_.all.remove_if([&](const Work& other) { return &other == &work; });
    throw;
  }
}

/// Has anything that it has read changed? One that only its rehearsal knows is asked again.
bool Runtime::may_go_on(const KernelRun& run) {
  bool given = false;
  const bool changed =
      run.awaited.empty() || std::ranges::any_of(run.awaited, [&](const exec::AwaitedWord& word) {
        std::uint64_t now = 0;
        if (!memory.accessible(word.address, word.bytes)) return true;  // which is a fault
        if (!read_own(word.address, &now, word.bytes)) {                // some systems do not allow it
          if (!std::exchange(given, true)) memory_log.note_host();
          std::memcpy(&now, reinterpret_cast<const void*>(word.address), word.bytes);
        }
        return now != word.bits;
      });
  if (given) memory_log.watch();
  return changed;
}

/// First of all, whatever is waited for, kernels of other devices go on: one that is done may have what it
/// waited for from one that is held still, which must be in the trace before the host's wait for the first.
void Runtime::wait_until(const std::function<bool()>& done) {
  if (recorder_ && devices_.size() > 1) go_on();
  bool alone = false;  // already when all that was written was last looked at
  for (unsigned round = 0; !done(); ++round) {
    const bool moved = go_on();
    if (held_.going_on) return;  // in a host function, which may not wait for the device
    if (done()) return;
    const Work* const work = waiting_kernel();
    const bool was_alone = std::exchange(alone, work && !lookout.has_other_threads() && !processes.shares());
    if (alone && was_alone && !moved) give_up(*work);
    if (!alone) pause(round);
  }
}

void Runtime::wait_held() {
  wait_until([&] { return held_.all.empty(); });
}
void Runtime::wait_held(unsigned device) {
  wait_until([&] { return !held_.held.has_device(device); });
}

const Work* Runtime::waiting_kernel() const {
  const auto found = std::ranges::find_if(held_.all, [](const Work& work) { return work.run != nullptr; });
  return found == held_.all.end() ? nullptr : &*found;
}

/// Another thread of the program may write what a kernel waits for: in real time, which changes no result.
void Runtime::pause(unsigned round) {
  using namespace std::chrono_literals;
  constexpr unsigned kLong = 5000;  // rounds of at least a millisecond
  const Work* const work = waiting_kernel();
  const std::string name = work ? work->run->source.kernel->name : "";
  const auto where = [&] { return work && work->run->grid ? work->run->grid->dump() : std::string(); };
  if (round == kLong)
    print_err("lockstep: kernel {} waits for a write of the program's; its warps stand at\n{}", name,
              where());
  const KernelRuns runs;
  mutex.unlock();
  std::this_thread::sleep_for(std::min<std::chrono::microseconds>(20us * (round + 1), 1ms));
  mutex.lock();
  if (interrupt_flag()->load()) end_interrupted(name, waiting_kernel() == work ? where() : std::string());
}

void Runtime::give_up(const Work& work) {
  DeviceState& device = *devices_[work.stream->device];
  device.sticky = Status::kErrorLaunchTimeout;
  throw ApiError(
      device.sticky,
      fmt::format("kernel {} waits for a write that nobody is left to make: the program's only "
                  "thread waits for the kernel; its warps stand at\n{}",
                  work.run->source.kernel->name, work.run->grid ? work.run->grid->dump() : std::string()));
}

/// At the end of the process, or of all that it has on a device.
void Runtime::drop_held(std::optional<unsigned> device) {
  try {
    go_on();
  } catch (const std::exception& e) {
    print_err("lockstep: {}\n", e.what());
  }
  const auto dropped = [&](const Work& work) { return !device || work.stream->device == *device; };
  const auto kernel =
      std::ranges::find_if(held_.all, [&](const Work& work) { return work.run != nullptr && dropped(work); });
  if (kernel != held_.all.end())
    print_err(
        "lockstep: warning: kernel {} still waited for a write of the program's; it and what was behind it, "
        "{} operations in all, are left out\n",
        kernel->run->source.kernel->name, std::ranges::count_if(held_.all, dropped));
  held_.all.remove_if(dropped);
  held_.held = {};
  for (const Work& work : held_.all) held_.held.add(work);
  if (!held_.all.empty()) return;
  held_ = {};
  lookout.end();
  gone_streams_.clear();
  gone_events_.clear();
}

}  // namespace lockstep::cuda
