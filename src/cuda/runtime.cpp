#include "cuda/runtime.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "cuda/interrupt.hpp"
#include "cuda/launch.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

template <class Map>
auto& owned(Map& map, void* handle, Status otherwise) {
  const auto found = map.find(static_cast<typename Map::key_type>(handle));
  if (found == map.end()) throw ApiError(otherwise);
  return *found->second;
}

}  // namespace

Runtime::Runtime(Settings s)
    : settings(std::move(s)),
      memory(settings.gpu.dram.capacity_bytes, settings.devices),
      execution_(settings.execution),
      next_stream_(settings.devices) {
  watch_interrupts();
  for (unsigned d = 0; d < settings.devices; ++d)
    devices_.push_back(std::make_unique<DeviceState>(d, memory));
  if (settings.checks.any()) checker_ = std::make_unique<exec::Checker>(settings.checks, memory);
  if (settings.trace.empty()) return;
  recorder_ = std::make_unique<Recorder>(
      settings.trace, settings.socket < 0 ? nullptr : std::make_unique<Wire>(settings.socket),
      settings.devices);
  memory_log.record_into(recorder_->log());
  for (unsigned d = 0; d < settings.devices; ++d)
    memory_log.place(d, exec::kArenaBase + exec::device_region(d) * exec::kRegionBytes, exec::kRegionBytes);
  set_trace_name(program_invocation_short_name);
}

Runtime& Runtime::instance() {
  // Never destroyed: programs call the runtime until the very end of their process.
  static Runtime* runtime = [] {
    try {
      auto* made = new Runtime(read_settings());
      static const pid_t owner = ::getpid();
      std::atexit([] {
        if (::getpid() == owner) instance().report();  // not its copy in a fork
      });
      return made;
    } catch (const std::exception& e) {
      print_err("lockstep: error: {}\n", e.what());
      std::fflush(nullptr);
      _exit(2);
    }
  }();
  return *runtime;
}

void Runtime::set_trace_name(const std::string& name) {
  if (recorder_) recorder_->set_name(name);
}

DeviceState& Runtime::device(int number) {
  if (number < 0 || number >= devices()) throw ApiError(Status::kErrorInvalidDevice);
  return *devices_[static_cast<unsigned>(number)];
}

StreamState& Runtime::stream(abi::Stream handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= abi::kPerThreadStream) return device().default_stream;
  return owned(streams_, handle, Status::kErrorInvalidResourceHandle);
}
EventState& Runtime::event(abi::Event handle) {
  if (held_.going_on)  // what is done names events that the program may have destroyed
    if (const auto gone = gone_events_.find(reinterpret_cast<EventState*>(handle));
        gone != gone_events_.end())
      return *gone->second;
  return owned(events_, handle, Status::kErrorInvalidResourceHandle);
}
Graph& Runtime::graph(void* handle) {
  for (const auto& [address, graph] : graphs)
    if (Graph* found = graph->find(handle)) return *found;
  throw ApiError(Status::kErrorInvalidValue);
}
std::shared_ptr<const GraphCondition> Runtime::condition(Address handle) {
  for (const auto& [address, graph] : graphs)
    for (const auto& condition : graph->conditions)
      if (condition->memory.address() == handle) return condition;
  throw ApiError(Status::kErrorInvalidValue);
}
GraphExec& Runtime::graph_exec(void* handle) {
  return owned(graph_execs, handle, Status::kErrorInvalidValue);
}

abi::Stream Runtime::create_stream(unsigned flags, int priority) {
  // From now on the default stream does not hold up every stream: what was asked for so far comes first.
  if ((flags & kStreamNonBlocking) != 0) {
    log_wait_all();
    ordered_ = false;
  }
  auto made = std::make_unique<StreamState>();
  made->number = next_stream_++;
  made->device = current_device();
  made->flags = flags;
  made->priority = priority;
  auto* handle = made.get();
  streams_[handle] = std::move(made);
  return reinterpret_cast<abi::Stream>(handle);
}
void Runtime::destroy_stream(abi::Stream handle) {
  (void)owned(streams_, handle, Status::kErrorInvalidResourceHandle);
  auto gone = streams_.extract(reinterpret_cast<StreamState*>(handle));
  if (!held_.all.empty()) gone_streams_.insert(std::move(gone));
}

abi::Event Runtime::create_event(unsigned flags) {
  auto made = std::make_unique<EventState>();
  made->device = current_device();
  made->flags = flags;
  auto* handle = made.get();
  events_[handle] = std::move(made);
  return reinterpret_cast<abi::Event>(handle);
}
void Runtime::destroy_event(abi::Event handle) {
  (void)owned(events_, handle, Status::kErrorInvalidResourceHandle);
  auto gone = events_.extract(reinterpret_cast<EventState*>(handle));
  if (!held_.all.empty()) gone_events_.insert(std::move(gone));
}

void Runtime::submit(abi::Stream handle, Operation operation) {
  make_context_current();
  if (handle == kBlocking) {
    std::get<Copy>(operation).blocking = true;
    return submit(nullptr, std::move(operation));
  }
  StreamState& s = stream(handle);
  if (std::holds_alternative<KernelLaunch>(operation) && s.device != current_device())
    throw ApiError(Status::kErrorInvalidResourceHandle);
  if (const auto* record = std::get_if<RecordEvent>(&operation);
      record && event(record->event).device != s.device)
    throw ApiError(Status::kErrorInvalidResourceHandle);
  if (const auto* wait = std::get_if<WaitEvent>(&operation)) {
    const EventState& e = event(wait->event);
    if (e.capture != nullptr) {  // joins the capture that the event was recorded in
      if (s.capture != nullptr && s.capture != e.capture) throw ApiError(Status::kErrorStreamCaptureMerge);
      s.capture = e.capture;
      s.capture_tail.insert(s.capture_tail.end(), e.capture_point.begin(), e.capture_point.end());
      return;
    }
  }
  if (s.capture == nullptr) return issue(s, std::move(operation));
  if (const auto* record = std::get_if<RecordEvent>(&operation)) {
    EventState& e = event(record->event);
    e.capture = s.capture;
    e.capture_point = s.capture_tail;
    return;
  }
  GraphNode* const node = s.capture->add(std::move(operation), s.capture_tail);
  node->device = s.device;
  s.capture_tail = {node};
}

void Runtime::drop_launches(GraphExec& exec, bool destroyed) {
  for (const abi::Event event : std::exchange(exec.events, {})) destroy_event(event);
  if (!destroyed) return;
  for (const auto& [device, stream] : std::exchange(exec.streams, {})) destroy_stream(stream);
}

void Runtime::end_capture(Graph* graph) {
  const auto leave = [graph](StreamState& s) {
    if (s.capture != graph) return;
    s.capture = nullptr;
    s.capture_origin = false;
    s.capture_tail.clear();
  };
  for (const auto& [handle, state] : streams_) leave(*state);
  for (const auto& [handle, state] : events_)
    if (state->capture == graph) state->capture = nullptr;
}

void Runtime::wait_all() {
  wait_held(current_device());
  log_wait_all();
}
void Runtime::log_wait_all() {
  if (!recorder_) return;
  wait_until([] { return true; });
  recorder_->log().wait_all(current_device());
  recorder_->tell(ordered_);
}
void Runtime::wait_stream(abi::Stream handle) {
  const StreamState& s = stream(handle);
  wait_until([&] { return !held_.held.has(s); });
  if (!recorder_) return;
  recorder_->log().wait_stream(s.number, s.blocks());
  recorder_->tell(ordered_);
}
void Runtime::wait_event(abi::Event handle) {
  const EventState& e = event(handle);
  const std::uint64_t record = e.held;
  wait_until([&] { return record == 0 || !held_.held.holds(record); });
  if (!e.recorded || !recorder_) return;
  recorder_->log().wait_event(e.record);
  recorder_->tell(ordered_);
}

// The host's calls take no time, so who only asks again and again would never see the end: the second time it
// waits.
bool Runtime::is_complete(abi::Event handle) {
  EventState& e = event(handle);
  if (e.held != 0) go_on();
  if (e.held != 0) return false;
  if (!e.recorded) return true;
  if (recorder_ && recorder_->live() && !std::exchange(e.asked, true)) {
    recorder_->tell(ordered_);
    const auto answer = recorder_->ask(e.record);
    if (answer.there && !answer.cycle) return false;
  }
  wait_event(handle);
  return true;
}

bool Runtime::is_complete(StreamState& s) {
  if (held_.held.has(s)) go_on();
  if (held_.held.has(s)) return false;
  wait_until([] { return true; });
  if (recorder_ && recorder_->live() && !std::exchange(s.asked, true)) {
    const std::uint32_t end = enter(s)->mark(s.number);
    recorder_->tell(ordered_);
    const auto answer = recorder_->ask(end);
    if (answer.there && !answer.cycle) return false;
  }
  if (recorder_) {
    recorder_->log().wait_stream(s.number, s.blocks());
    recorder_->tell(ordered_);
  }
  return true;
}

float Runtime::elapsed_milliseconds(abi::Event from, abi::Event to) {
  const EventState &a = event(from), &b = event(to);
  if ((a.held | b.held) != 0) go_on();
  if ((a.held | b.held) != 0) throw ApiError(Status::kErrorNotReady);
  if (!a.recorded || !b.recorded || a.device != b.device || ((a.flags | b.flags) & kEventDisableTiming) != 0)
    throw ApiError(Status::kErrorInvalidResourceHandle);
  if (recorder_ && recorder_->live()) {
    recorder_->tell(ordered_);
    const auto begin = recorder_->ask(a.record), end = recorder_->ask(b.record);
    if (begin.there && end.there) {
      if (!begin.cycle || !end.cycle) throw ApiError(Status::kErrorNotReady);
      const double cycles = static_cast<double>(*end.cycle) - static_cast<double>(*begin.cycle);
      return static_cast<float>(cycles / static_cast<double>(settings.gpu.clock.core_khz));
    }
  }
  return static_cast<float>((static_cast<double>(b.ticks) - static_cast<double>(a.ticks)) * 1e-6);
}

Address Runtime::allocate(std::uint64_t bytes, exec::MemoryKind kind) {
  constexpr std::uint64_t kManagedUnit = 64 << 10, kManagedBlock = 2 << 20;
  // Managed allocations share no pages, and large ones begin where the driver's blocks do, at 2 MiB.
  const std::uint64_t alignment = kind != exec::MemoryKind::kManaged ? exec::DeviceMemory::kAlignment
                                  : bytes < kManagedBlock            ? kManagedUnit
                                                                     : kManagedBlock;
  const auto address = memory.allocate(bytes, kind, alignment, current_device());
  if (!address) throw ApiError(Status::kErrorMemoryAllocation);
  return *address;
}

bool Runtime::release(Address address) {
  const auto found = memory.find(address);
  if (!found || found->begin != address) return false;
  const bool managed = found->kind == exec::MemoryKind::kManaged;
  if (managed) memory_log.note_host();
  pools.end_use(address);
  memory.release(address);
  if (managed) memory_log.note_host();
  return true;
}

bool Runtime::end_graph_use(Address address) {
  return std::ranges::any_of(devices_, [&](auto& device) { return device->graph_memory.end_use(address); });
}

void Runtime::reset() {
  DeviceState& own = device();
  const auto is_own = [&](Address address) {
    const auto found = memory.find(address);
    return found && found->device == own.number();
  };
  drop_held({own.number()});
  memory_log.note_host();
  own.drop_heap();
  std::erase_if(arrays, [&](const auto& entry) { return is_own(entry.second->address); });
  own.graph_memory.clear();
  pools.clear(static_cast<int>(own.number()));
  std::erase_if(graph_execs, [&](const auto& entry) { return entry.second->graph->device == own.number(); });
  std::erase_if(graphs, [&](const auto& entry) { return entry.second->device == own.number(); });
  multicast.clear(own.number());
  virtual_memory.clear(own.number());
  for (const exec::Allocation& allocation : memory.allocations())
    if (is_own(allocation.begin) && !modules.owns(allocation.begin)) memory.release(allocation.begin);
  modules.reset(own.number());
  for (unsigned peer = 0; peer < settings.devices; ++peer) memory.set_peer(own.number(), peer, false);
  own.sticky = Status::kSuccess;
}

KernelLaunch Runtime::prepare(const void* function, KernelLaunch launch, void** args) {
  return prepare_launch(modules.kernel(function), std::move(launch), args, settings.gpu);
}

void Runtime::warn_once(const std::string& text) {
  if (warned_.insert(text).second) print_err("lockstep: warning: {}\n", text);
}

void Runtime::warn_unsupported(const char* function) {
  if (unsupported_.insert(function).second)
    print_err("lockstep: {} is not supported: cudaErrorNotSupported\n", function);
}

void Runtime::report() {
  if (checker_) {
    checker_->find_leaks([this](const exec::Allocation& a) {
      return modules.owns(a.begin) ||
             std::ranges::any_of(devices_, [&](const auto& d) { return d->heap_owns(a.begin); });
    });
    save_findings();
  }
  const auto fine = [this] {
    return std::ranges::all_of(devices_, [](const auto& d) { return d->sticky == Status::kSuccess; });
  };
  if (fine()) drop_held();
  if (fine()) memory_log.note_host();
  if (recorder_ && fine()) recorder_->finish();
  std::string names;
  for (const std::string& name : unsupported_) names += " " + name;
  if (!names.empty()) print_err("lockstep: the program called functions that are not supported:{}\n", names);
}

}  // namespace lockstep::cuda
