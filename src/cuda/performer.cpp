#include "cuda/performer.hpp"

#include <cstring>

#include "cuda/program_clock.hpp"

namespace lockstep::cuda {

namespace {

constexpr std::uint64_t kLineBytes = 128;

/// Device addresses must lie in mapped memory; a host address is the program's own affair.
void check_range(const exec::DeviceMemory& memory, const std::byte* begin, std::uint64_t bytes) {
  if (memory.in_arena(address_of(begin)) && !memory.accessible(reinterpret_cast<Address>(begin), bytes))
    throw ApiError(Status::kErrorInvalidValue);
}

/// As the runtime: a side that the kind calls the device's must be one, e.g. to catch a host pointer there.
void check_kind(const exec::DeviceMemory& memory, const Copy& c) {
  const bool to_device = c.kind == abi::kHostToDevice || c.kind == abi::kDeviceToDevice;
  const bool from_device = c.kind == abi::kDeviceToHost || c.kind == abi::kDeviceToDevice;
  if ((to_device && !memory.in_arena(address_of(c.to.address))) ||
      (from_device && !memory.in_arena(address_of(c.from.address))))
    throw ApiError(Status::kErrorInvalidValue);
}

/// Is what is waited for there? Differences are cyclic (CUDA driver API, CUstreamWaitValue_flags).
bool holds(const ValueOperation& wait, const std::byte* word) {
  using Kind = ValueOperation::Kind;
  std::uint64_t now = 0;
  std::memcpy(&now, word, wait.bytes);
  const std::uint64_t all = wait.bytes == 8 ? ~std::uint64_t{0} : 0xffffffff;
  switch (wait.kind) {
    case Kind::kWaitGreaterOrEqual:
      return ((now - wait.value) & all & ~(all >> 1)) == 0;
    case Kind::kWaitEqual:
      return now == (wait.value & all);
    case Kind::kWaitAnd:
      return (now & wait.value & all) != 0;
    case Kind::kWaitNor:
      return (~(now | wait.value) & all) != 0;
    default:
      return true;
  }
}

template <class T>
void fill_row(std::byte* row, std::uint32_t value, std::size_t elements) {
  const T element = static_cast<T>(value);
  for (std::size_t i = 0; i < elements; ++i) std::memcpy(row + i * sizeof element, &element, sizeof element);
}

}  // namespace

/// What runs on the device reads and writes managed memory with all rights; the program's own accesses are
/// watched in between.
bool Performer::perform(Work& work) {
  const OnDevice device(work.stream->device);
  const Recording::Scope scope(parts_.recording, work.in_range);
  work.stream->asked = false;
  const std::uint64_t before = ticks();
  const bool works =
      std::holds_alternative<KernelLaunch>(work.operation) || std::holds_alternative<Copy>(work.operation) ||
      std::holds_alternative<ValueOperations>(work.operation) || std::holds_alternative<Fill>(work.operation);
  bool done = false;
  if (!std::holds_alternative<KernelLaunch>(work.operation) || !work.in_range)
    parts_.recording.begin(*work.stream, work.issue);
  if (!works || parts_.recording.recorder() == nullptr) {
    done = on_device(work);
  } else {
    if (const auto* launch = std::get_if<KernelLaunch>(&work.operation); launch && !work.run)
      (void)launch->kernel->executable();  // may load its module, which has managed variables
    parts_.memory_log.note_host();
    done = on_device(work);
    parts_.memory_log.watch();
  }
  if (!work.in_range) ticks_outside_ += ticks() - before;
  parts_.recording.send_news();
  return done;
}

bool Performer::on_device(Work& work) {
  try {
    return carry_out(work);
  } catch (const exec::DeviceFault& fault) {
    parts_.devices.current().sticky = fault_status(fault.kind());
    throw;
  }
}

bool Performer::carry_out(Work& work) {
  struct Visitor {
    Performer& p;
    Work& work;
    const StreamState& stream;
    bool operator()(const Nothing&) const { return true; }
    bool operator()(KernelLaunch& launch) const {
      if (!work.run) work.run = p.parts_.kernels.begin(std::move(launch), true);
      work.run->recording.issue = work.issue;
      return p.parts_.kernels.run(*work.run, stream);
    }
    bool operator()(const Copy& c) const { return p.copy(c, stream), true; }
    bool operator()(const Fill& f) const { return p.fill(f, stream), true; }
    bool operator()(const HostCall& h) const {
      const ClockReader program(ClockScope::kCallback);
      return h.call(h.data), true;
    }
    bool operator()(const RecordEvent&) const { return p.record_event(work), true; }
    bool operator()(const WaitEvent&) const { return p.wait_event(work), true; }
    bool operator()(const PrefetchMemory& m) const { return p.prefetch(m, stream), true; }
    bool operator()(const AllocateMemory& a) const {
      return p.parts_.devices.current().graph_memory.begin_use(a.memory), true;
    }
    bool operator()(const FreeMemory& f) const { return p.free(f), true; }
    bool operator()(ValueOperations& v) const { return p.values(v, stream); }
    bool operator()(const ProcessTask& t) const { return p.task(t, stream); }
  };
  return std::visit(Visitor{*this, work, *work.stream}, work.operation);
}

void Performer::record_event(Work& work) {
  const auto& record = std::get<RecordEvent>(work.operation);
  EventState& e = parts_.streams.kept_event(record.event);
  StreamLog* const log = parts_.recording.enter(*work.stream);
  if (log && record.of_device) log->wait_for_device(work.stream->number);
  const bool timed = (e.flags & kEventDisableTiming) == 0;
  const std::uint64_t number = timed ? parts_.recording.event_times().count_record() : 0;
  const auto timestamp = timed ? parts_.recording.timestamp() : trace::Command::Timestamp::kNone;
  work.event_record = log ? log->record(work.stream->number, timestamp) : 0;
  if (e.held != work.number) return;  // has been recorded again
  e.held = 0;
  e.recorded = true;
  e.asked = false;
  e.ticks = ticks();
  e.record = work.event_record;
  e.timed = number;
}

/// Operations happen in the order of the calls; only what is recorded has to wait.
void Performer::wait_event(const Work& work) {
  StreamLog* const log = parts_.recording.enter(*work.stream);
  if (!log) return;
  log->stream_wait(work.stream->number, work.event_record);
  if (std::get<WaitEvent>(work.operation).of_device) log->hold_device(work.stream->number);
}

void Performer::prefetch(const PrefetchMemory& p, const StreamState& stream) {
  parts_.memory_log.note_host();
  trace::Command command{trace::Command::Kind::kStreamPrefetch, p.address, p.bytes, 0, 0, p.to_host};
  command.place = p.device;
  StreamLog* const log = parts_.recording.enter(stream);
  if (log && !parts_.recording.is_outside()) log->add(stream.number, command);
}

void Performer::free(const FreeMemory& f) {
  const auto address = reinterpret_cast<Address>(f.address);
  if (!parts_.devices.end_graph_use(address) && !parts_.allocations.release(address))
    throw ApiError(Status::kErrorInvalidValue);
}

/// False where one waits still. Nothing is recorded of a wait: what is behind it may come before the write in
/// simulated time.
bool Performer::values(ValueOperations& operations, const StreamState& stream) {
  for (; operations.done < operations.list.size(); ++operations.done) {
    const ValueOperation& one = operations.list[operations.done];
    if (!parts_.memory.accessible(one.address, one.bytes)) throw ApiError(Status::kErrorInvalidValue);
    auto* const word = reinterpret_cast<std::byte*>(one.address);
    if (one.kind == ValueOperation::Kind::kWrite) {
      if (parts_.memory.in_arena(one.address))
        note({word, one.bytes, one.bytes, 0, 1, one.bytes, 1, 1}, stream);
      parts_.memory.wrote(one.address, one.bytes);
      std::memcpy(word, &one.value, one.bytes);
    } else if (!holds(one, word)) {
      return false;
    }
  }
  return true;
}

/// False: it waits for a message.
bool Performer::task(const ProcessTask& t, const StreamState& stream) {
  if (!parts_.kernels.messages().perform(t.task, stream.device)) return false;
  if (t.call != nullptr) t.call(t.data);
  trace::Command command{trace::Command::Kind::kHostTask};
  command.task = t.task;
  if (StreamLog* log = parts_.recording.enter(stream)) log->add(stream.number, command);
  return true;
}

void Performer::copy(const Copy& c, const StreamState& stream) {
  exec::DeviceMemory& memory = parts_.memory;
  check_kind(memory, c);
  check_range(memory, c.to.address, span_of(c.to.pitch, c.to.slice, c.width, c.height, c.depth));
  check_range(memory, c.from.address, span_of(c.from.pitch, c.from.slice, c.width, c.height, c.depth));
  for (std::size_t z = 0; z < c.depth; ++z)
    for (std::size_t y = 0; y < c.height; ++y) {
      std::byte* const to = c.to.address + z * c.to.slice + y * c.to.pitch;
      const std::byte* const from = c.from.address + z * c.from.slice + y * c.from.pitch;
      std::memmove(to, from, c.width);
      memory.copied(reinterpret_cast<Address>(to), reinterpret_cast<Address>(from), c.width);
    }
  copied_lines_ += c.width * c.height * c.depth / kLineBytes;
  if (parts_.recording.is_outside()) return parts_.memory_log.order(c, stream);
  parts_.memory_log.copy(c, stream);
}

/// A fill that is about to be done.
void Performer::note(const Fill& f, const StreamState& stream) {
  if (parts_.recording.is_outside()) return parts_.memory_log.order(f, stream);
  parts_.memory_log.fill(f, stream);
}

void Performer::fill(const Fill& f, const StreamState& stream) {
  exec::DeviceMemory& memory = parts_.memory;
  const std::uint64_t span = span_of(f.pitch, f.slice, f.width, f.height, f.depth, f.element);
  const Address first = address_of(f.address);  // also registered memory of the host
  if (!memory.in_arena(first) && !memory.accessible(first, span)) throw ApiError(Status::kErrorInvalidValue);
  check_range(memory, f.address, span);
  note(f, stream);
  for (std::size_t z = 0; z < f.depth; ++z)
    for (std::size_t y = 0; y < f.height; ++y) {
      std::byte* row = f.address + z * f.slice + y * f.pitch;
      memory.wrote(reinterpret_cast<Address>(row), f.width * f.element);
      if (f.element == 1) std::memset(row, static_cast<int>(f.value & 0xff), f.width);
      if (f.element == 2) fill_row<std::uint16_t>(row, f.value, f.width);
      if (f.element == 4) fill_row<std::uint32_t>(row, f.value, f.width);
    }
  copied_lines_ += f.width * f.element * f.height * f.depth / kLineBytes;
}

}  // namespace lockstep::cuda
