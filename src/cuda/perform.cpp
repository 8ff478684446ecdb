// The functional effect of each operation but kernels.
#include <algorithm>
#include <cstring>

#include "cuda/runtime.hpp"

namespace lockstep::cuda {

namespace {

constexpr std::uint64_t kBytesPerTick = 128;

Address number_of(const std::byte* address) { return reinterpret_cast<Address>(address); }

bool on_device(const exec::DeviceMemory& memory, const std::byte* address) {
  return memory.in_arena(number_of(address)) &&
         exec::DeviceMemory::kind_of(number_of(address)) != exec::MemoryKind::kHost;
}

bool is_managed(const exec::DeviceMemory& memory, const std::byte* address) {
  return memory.in_arena(number_of(address)) &&
         exec::DeviceMemory::kind_of(number_of(address)) == exec::MemoryKind::kManaged;
}

/// Between the memories of two devices?
bool between_devices(const exec::DeviceMemory& memory, const Copy& c) {
  const auto to = memory.owner(number_of(c.to.address)), from = memory.owner(number_of(c.from.address));
  return to && from && *to != *from;
}

/// Device addresses must lie in mapped memory; a host address is the program's own affair.
void check_range(const exec::DeviceMemory& memory, const std::byte* begin, std::uint64_t bytes) {
  if (memory.in_arena(number_of(begin)) && !memory.accessible(reinterpret_cast<Address>(begin), bytes))
    throw ApiError(Status::kErrorInvalidValue);
}

std::uint64_t span_of(std::size_t pitch, std::size_t slice, std::size_t width, std::size_t height,
                      std::size_t depth) {
  return slice * (depth - 1) + pitch * (height - 1) + width;
}

/// As the runtime: a side that the kind calls the device's must be one, e.g. to catch a host pointer there.
void check_kind(const exec::DeviceMemory& memory, const Copy& c) {
  const bool to_device = c.kind == abi::kHostToDevice || c.kind == abi::kDeviceToDevice;
  const bool from_device = c.kind == abi::kDeviceToHost || c.kind == abi::kDeviceToDevice;
  if ((to_device && !memory.in_arena(number_of(c.to.address))) ||
      (from_device && !memory.in_arena(number_of(c.from.address))))
    throw ApiError(Status::kErrorInvalidValue);
}

template <class T>
void fill_row(std::byte* row, std::uint32_t value, std::size_t elements) {
  const T element = static_cast<T>(value);
  for (std::size_t i = 0; i < elements; ++i) std::memcpy(row + i * sizeof element, &element, sizeof element);
}

}  // namespace

/// What runs on the device reads and writes managed memory with all rights; the program's own accesses are
/// watched in between. False: a kernel that waits; call again to go on.
bool Runtime::perform(Work& work) {
  const OnDevice device(work.stream->device);
  work.stream->asked = false;
  const bool works = std::holds_alternative<KernelLaunch>(work.operation) ||
                     std::holds_alternative<Copy>(work.operation) ||
                     std::holds_alternative<Fill>(work.operation);
  bool done = false;
  if (!works || !recorder_) {
    done = to_device(work);
  } else {
    if (const auto* launch = std::get_if<KernelLaunch>(&work.operation); launch && !work.run)
      (void)launch->kernel->executable();  // may load its module, which has managed variables
    note_host_accesses();
    done = to_device(work);
    if (host_pages_) host_pages_->watch();
  }
  if (recorder_) recorder_->tell(ordered_);
  return done;
}

bool Runtime::to_device(Work& work) {
  try {
    return carry_out(work);
  } catch (const exec::DeviceFault& fault) {
    device().sticky = fault_status(fault.kind());
    throw;
  }
}

bool Runtime::carry_out(Work& work) {
  struct Visitor {
    Runtime& rt;
    Work& work;
    const StreamState& stream;
    bool operator()(const Nothing&) const { return true; }
    bool operator()(KernelLaunch& launch) const {
      if (!work.run) work.run = rt.begin_kernel(std::move(launch), true);
      return rt.run_kernel(*work.run, stream);
    }
    bool operator()(const Copy& c) const { return rt.copy(c, stream), true; }
    bool operator()(const Fill& f) const { return rt.fill(f, stream), true; }
    bool operator()(const HostCall& h) const { return h.call(h.data), true; }
    bool operator()(const RecordEvent&) const { return rt.record_event(work), true; }
    // Operations happen in the order of the calls; only what is recorded has to wait.
    bool operator()(const WaitEvent&) const {
      if (StreamLog* log = rt.enter(stream)) log->stream_wait(stream.number, work.event_record);
      return true;
    }
    bool operator()(const PrefetchMemory& p) const {
      rt.note_host_accesses();
      if (StreamLog* log = rt.enter(stream))
        log->add(stream.number, {trace::Command::Kind::kStreamPrefetch, p.address, p.bytes, 0, 0, p.to_host});
      return true;
    }
    bool operator()(const AllocateMemory& a) const {
      return rt.device().graph_memory.begin_use(a.memory), true;
    }
    bool operator()(const FreeMemory& f) const {
      const auto address = reinterpret_cast<Address>(f.address);
      if (!rt.end_graph_use(address) && !rt.release(address)) throw ApiError(Status::kErrorInvalidValue);
      return true;
    }
  };
  return std::visit(Visitor{*this, work, *work.stream}, work.operation);
}

void Runtime::record_event(const Work& work) {
  EventState& e = event(std::get<RecordEvent>(work.operation).event);
  StreamLog* const log = enter(*work.stream);
  const std::uint32_t record = log ? log->record(work.stream->number) : 0;
  for (Work& waiting : held_.all)
    if (work.number != 0 && waiting.after == work.number) waiting.after = 0, waiting.event_record = record;
  if (e.held != work.number) return;  // has been recorded again
  e.held = 0;
  e.recorded = true;
  e.asked = false;
  e.ticks = ticks_;
  e.record = record;
}

void Runtime::note_host_accesses() {
  if (!recorder_) return;
  note_allocations();
  if (!host_pages_) return;
  for (const HostAccess& a : host_pages_->give())
    recorder_->log().add_host({trace::Command::Kind::kHostAccess, a.address, a.bytes, 0, 0, false, a.write});
}

/// Allocations that have come or gone since the last call.
void Runtime::note_allocations() {
  std::map<Address, std::uint64_t> now;
  for (const exec::Allocation& a : memory.allocations(exec::MemoryKind::kManaged)) now[a.begin] = a.bytes;
  for (const auto& [begin, bytes] : managed_) {
    const auto same = now.find(begin);
    if (same != now.end() && same->second == bytes) continue;
    recorder_->log().add_host({trace::Command::Kind::kRelease, begin, bytes});
    preferred_host_.set(begin, bytes, false);
  }
  for (const auto& [begin, bytes] : now) {
    const auto same = managed_.find(begin);
    if (same == managed_.end() || same->second != bytes)
      recorder_->log().add_host({trace::Command::Kind::kManage, begin, bytes});
  }
  managed_ = std::move(now);
  if (!managed_.empty() && !host_pages_) host_pages_ = std::make_unique<HostPages>(memory);
}

void Runtime::advise(Address begin, std::uint64_t bytes, int advice, bool host) {
  constexpr int kSetPreferred = 3, kUnsetPreferred = 4;  // cudaMemoryAdvise
  if (advice == kSetPreferred || advice == kUnsetPreferred)
    preferred_host_.set(begin, bytes, host && advice == kSetPreferred);
  note_host_accesses();
  record_managed({trace::Command::Kind::kAdvise, begin, bytes, 0, static_cast<std::uint8_t>(advice), host});
}

void Runtime::record_managed(const trace::Command& command) {
  if (recorder_) recorder_->log().add_host(command);
}

StreamLog* Runtime::enter(const StreamState& stream) {
  if (!recorder_) return nullptr;
  recorder_->log().enter(stream.number, (stream.flags & kStreamNonBlocking) == 0, stream.device);
  return &recorder_->log();
}

/// Managed memory is touched by the host where the copy's kind names it, by default where its preferred
/// location is the host, else by the device (CUDA C++ Programming Guide, "Memcpy()/Memset() behavior with
/// managed memory"). The first byte stands for all (assumed).
bool Runtime::host_touches(const std::byte* address, int kind, int naming_kind) const {
  if (!is_managed(memory, address)) return false;
  if (kind == abi::kDefault) return preferred_host_.contains(reinterpret_cast<Address>(address));
  return kind == abi::kHostToHost || kind == naming_kind;
}

void Runtime::record_copy(const Copy& c, const StreamState& stream) {
  if (!recorder_) return;
  const bool host_writes = host_touches(c.to.address, c.kind, abi::kDeviceToHost),
             host_reads = host_touches(c.from.address, c.kind, abi::kHostToDevice);
  const bool to_device = on_device(memory, c.to.address) && !host_writes,
             from_device = on_device(memory, c.from.address) && !host_reads;
  const bool crosses = to_device != from_device;
  const auto span = [&](const CopyEnd& e) { return span_of(e.pitch, e.slice, c.width, c.height, c.depth); };
  if (!crosses || !from_device) record_touch(c.from, span(c.from), false, host_reads, stream);
  if (!crosses || !to_device) record_touch(c.to, span(c.to), true, host_writes, stream);
  if (!to_device && !from_device) return;
  (void)enter(stream);
  const std::uint64_t bytes = c.width * c.height * c.depth;
  if (!crosses) {
    const bool peers = between_devices(memory, c);
    trace::Command command{peers ? trace::Command::Kind::kPeerCopy : trace::Command::Kind::kDeviceCopy,
                           number_of(c.to.address), bytes};
    if (peers) command.source = number_of(c.from.address);
    if (bytes > 0) recorder_->log().add(stream.number, command);
    return;
  }
  const auto to = reinterpret_cast<Address>(c.to.address), from = reinterpret_cast<Address>(c.from.address);
  if (to_device) recorder_->copy_to_device(stream.number, to, bytes);
  if (from_device) recorder_->copy_to_host(stream.number, from, bytes);
  // Copies to memory that is not page-locked block the host whatever their name says (CUDA Runtime API, "API
  // synchronization behavior").
  if (c.blocking || (from_device && !memory.accessible(to, c.width)))
    recorder_->log().wait_stream(stream.number, (stream.flags & kStreamNonBlocking) == 0);
}

void Runtime::record_touch(const CopyEnd& end, std::uint64_t bytes, bool write, bool host,
                           const StreamState& stream) {
  if (!recorder_ || !is_managed(memory, end.address)) return;
  trace::Command command{host ? trace::Command::Kind::kHostAccess : trace::Command::Kind::kDeviceAccess,
                         reinterpret_cast<Address>(end.address), bytes};
  command.write = write;
  if (host) return record_managed(command);
  (void)enter(stream);
  recorder_->log().add(stream.number, command);
}

void Runtime::copy(const Copy& c, const StreamState& stream) {
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
  ticks_ += c.width * c.height * c.depth / kBytesPerTick;
  record_copy(c, stream);
}

void Runtime::record_fill(const Fill& f, const StreamState& stream) {
  const std::uint64_t bytes = f.width * f.element * f.height * f.depth;
  if (!on_device(memory, f.address) || bytes == 0) return;
  if (StreamLog* log = enter(stream))
    log->add(stream.number, {trace::Command::Kind::kFill, reinterpret_cast<Address>(f.address), bytes});
}

void Runtime::fill(const Fill& f, const StreamState& stream) {
  if (!memory.in_arena(number_of(f.address))) throw ApiError(Status::kErrorInvalidValue);
  const std::uint64_t span = span_of(f.pitch, f.slice, f.width * f.element, f.height, f.depth);
  check_range(memory, f.address, span);
  record_touch({f.address}, span, true, false, stream);
  record_fill(f, stream);
  for (std::size_t z = 0; z < f.depth; ++z)
    for (std::size_t y = 0; y < f.height; ++y) {
      std::byte* row = f.address + z * f.slice + y * f.pitch;
      memory.wrote(reinterpret_cast<Address>(row), f.width * f.element);
      if (f.element == 1) std::memset(row, static_cast<int>(f.value & 0xff), f.width);
      if (f.element == 2) fill_row<std::uint16_t>(row, f.value, f.width);
      if (f.element == 4) fill_row<std::uint32_t>(row, f.value, f.width);
    }
  ticks_ += f.width * f.element * f.height * f.depth / kBytesPerTick;
}

}  // namespace lockstep::cuda
