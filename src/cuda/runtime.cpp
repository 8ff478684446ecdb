#include "cuda/runtime.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "cuda/interrupt.hpp"
#include "cuda/launch.hpp"
#include "cuda/program_clock.hpp"
#include "util/console.hpp"

namespace lockstep::cuda {

Runtime::Runtime(Settings s)
    : settings(std::move(s)), memory(settings.gpu.dram.capacity_bytes, settings.devices) {
  watch_interrupts();
}

Runtime& Runtime::instance() {
  // Never destroyed: programs call the runtime until the very end of their process.
  static Runtime* runtime = [] {
    try {
      auto* made = new Runtime(read_settings());
      static const pid_t owner = ::getpid();
      std::atexit([] {
        const ClockReader ours(ClockScope::kRuntime);
        if (::getpid() == owner) instance().report();  // not its copy in a fork
      });
      if (made->recording.live()) show_simulated_time();
      return made;
    } catch (const std::exception& e) {
      print_err("lockstep: error: {}\n", e.what());
      std::fflush(nullptr);
      _exit(2);
    }
  }();
  return *runtime;
}

void Runtime::submit(abi::Stream handle, Operation operation, Issue issue) {
  make_context_current();
  if (handle == kBlocking) {
    pass_turn();
    std::get<Copy>(operation).blocking = true;
    return submit(nullptr, std::move(operation), issue);
  }
  if (const auto* copy = std::get_if<Copy>(&operation);
      copy && (copy->kind < abi::kHostToHost || copy->kind > abi::kDefault))
    throw ApiError(Status::kErrorInvalidMemcpyDirection);
  StreamState& s = streams.stream(handle);
  if (std::holds_alternative<KernelLaunch>(operation) && s.device != current_device())
    throw ApiError(Status::kErrorInvalidResourceHandle);
  if (const auto* record = std::get_if<RecordEvent>(&operation);
      record && streams.event(record->event).device != s.device)
    throw ApiError(Status::kErrorInvalidResourceHandle);
  if (auto* launch = std::get_if<KernelLaunch>(&operation))
    if (issue.as == Issue::As::kCall && launch->l2.bytes == 0) launch->l2 = s.window;
  if (!capture(s, operation)) held.submit(s, std::move(operation), issue);
}

void Runtime::record_device(unsigned device, abi::Event event) {
  EventState& e = streams.event(event);
  if (streams.invalidate_captures(device)) throw ApiError(Status::kErrorStreamCaptureUnsupported);
  e.capture = nullptr;  // stands for other work from now on
  held.submit(streams.own_stream(device, Streams::Own::kRecords), RecordEvent{event, false, true});
}

void Runtime::make_device_wait(unsigned device, abi::Event event) {
  Graph* const capture = streams.event(event).capture;
  if (capture != nullptr) capture->invalidated = true;
  if (streams.invalidate_captures(device) || capture != nullptr)
    throw ApiError(Status::kErrorStreamCaptureUnsupported);
  held.submit(streams.own_stream(device, Streams::Own::kWaits), WaitEvent{event, false, true});
}

bool Runtime::capture(StreamState& s, Operation& operation) {
  if (s.capture != nullptr && s.capture->invalidated) throw ApiError(Status::kErrorStreamCaptureInvalidated);
  if (const auto* wait = std::get_if<WaitEvent>(&operation); wait && !wait->external) {
    const EventState& e = streams.event(wait->event);
    if (e.capture != nullptr) {  // joins the capture that the event was recorded in
      if (s.capture != nullptr && s.capture != e.capture) throw ApiError(Status::kErrorStreamCaptureMerge);
      s.capture = e.capture;
      s.capture_tail.insert(s.capture_tail.end(), e.capture_point.begin(), e.capture_point.end());
      return true;
    }
  }
  const auto* const record = std::get_if<RecordEvent>(&operation);
  if (s.capture == nullptr) {
    if (record) streams.event(record->event).capture = nullptr;  // stands for this stream's work from now on
    return false;
  }
  if (record && !record->external) {
    EventState& e = streams.event(record->event);
    e.capture = s.capture;
    e.capture_point = s.capture_tail;
    return true;
  }
  GraphNode* const node = s.capture->add(std::move(operation), s.capture_tail);
  node->device = s.device;
  s.capture_tail = {node};
  return true;
}

KernelLaunch Runtime::prepare(const void* function, KernelLaunch launch, void** args) {
  launch.function = function;
  return prepare_launch(modules.kernel(function), std::move(launch), args, settings.gpu);
}

void Runtime::wait_all() {
  pass_turn();
  held.wait_device(current_device());
  recording.wait_all(current_device());
}

void Runtime::wait_stream(abi::Stream handle) {
  pass_turn();
  const StreamState& s = streams.stream(handle);
  held.wait_stream(s);
  recording.wait_stream(s);
}

void Runtime::wait_event(abi::Event handle) {
  pass_turn();
  const EventState& e = streams.event(handle);
  held.wait_event(e);
  if (e.recorded) recording.wait_event(e.record);
}

// Questions take no time, so who only asks again and again would never see the end: the second time it
// waits.
bool Runtime::is_complete(abi::Event handle) {
  pass_turn();
  EventState& e = streams.event(handle);
  if (e.held != 0) held.go_on();
  if (e.held != 0) return false;
  if (!e.recorded) return true;
  if (recording.live() && !std::exchange(e.asked, true) && recording.is_pending(e.record)) return false;
  wait_event(handle);
  return true;
}

bool Runtime::is_complete(abi::Stream handle) {
  pass_turn();
  StreamState& s = streams.stream(handle);
  if (held.has(s)) held.go_on();
  if (held.has(s)) return false;
  held.catch_up();
  if (recording.live() && !std::exchange(s.asked, true) && recording.is_pending(recording.mark_end(s)))
    return false;
  recording.wait_stream(s);
  return true;
}

float Runtime::elapsed_milliseconds(abi::Event from, abi::Event to) {
  const EventState &a = streams.event(from), &b = streams.event(to);
  if ((a.held | b.held) != 0) held.go_on();
  if ((a.held | b.held) != 0) throw ApiError(Status::kErrorNotReady);
  if (!a.recorded || !b.recorded || a.device != b.device || ((a.flags | b.flags) & kEventDisableTiming) != 0)
    throw ApiError(Status::kErrorInvalidResourceHandle);
  if (recording.live()) {
    const auto begin = recording.query(a.record), end = recording.query(b.record);
    if (begin.there && end.there) {
      if (!begin.cycle || !end.cycle) throw ApiError(Status::kErrorNotReady);
      const double cycles = static_cast<double>(*end.cycle) - static_cast<double>(*begin.cycle);
      return static_cast<float>(cycles / static_cast<double>(settings.gpu.clock.core_khz));
    }
  }
  if (const auto known = recording.event_times().milliseconds(a.timed, b.timed)) return *known;
  return static_cast<float>((static_cast<double>(b.ticks) - static_cast<double>(a.ticks)) * 1e-6);
}

void Runtime::set_in_range(bool in_range) {
  if (in_range) kernels.enter_range();
  recording.set_in_range(in_range);
  memory_log.set_watching(recording.in_range());
}

void Runtime::reset() {
  DeviceState& own = devices.current();
  const auto is_own = [&](Address address) {
    const auto found = memory.find(address);
    return found && found->device == own.number();
  };
  held.drop({own.number()});
  kernels.agent().detach();
  memory_log.note_host();
  own.drop_heap();
  arrays.remove_if([&](const Array& array) { return is_own(array.address); });
  own.graph_memory.clear();
  pools.clear(static_cast<int>(own.number()));
  graphs.clear(own.number());
  multicast.clear(own.number());
  virtual_memory.clear(own.number());
  for (const exec::Allocation& allocation : memory.allocations())
    if (is_own(allocation.begin) && !modules.owns(allocation.begin)) {
      memory.release(allocation.begin);
      pinned.remove(allocation.begin);
    }
  modules.reset(own.number());
  for (unsigned peer = 0; peer < settings.devices; ++peer) memory.set_peer(own.number(), peer, false);
  own.sticky = Status::kSuccess;
  own.cache_preference = 0;
  primary_context(own.number()).used = false;
}

void Runtime::report() {
  findings.find_leaks(
      [this](const exec::Allocation& a) { return modules.owns(a.begin) || devices.heap_owns(a.begin); });
  if (!devices.any_failed()) held.drop();
  if (!devices.any_failed()) memory_log.note_host();
  if (!devices.any_failed()) recording.finish();
  warnings.list_unsupported();
}

}  // namespace lockstep::cuda
