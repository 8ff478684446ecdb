// The functional effect of each operation.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include "cuda/clock_reads.hpp"
#include "cuda/interrupt.hpp"
#include "cuda/launch.hpp"
#include "cuda/runtime.hpp"
#include "exec/fault.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

constexpr std::uint64_t kBytesPerTick = 128;

bool in_arena(const std::byte* address) {
  const auto a = reinterpret_cast<Address>(address);
  return a >= exec::kArenaBase && a - exec::kArenaBase < exec::kMemoryKinds * exec::kRegionBytes;
}

bool on_device(const std::byte* address) {
  const auto a = reinterpret_cast<Address>(address);
  return in_arena(address) &&
         (a - exec::kArenaBase) / exec::kRegionBytes != unsigned(exec::MemoryKind::kHost);
}

bool is_managed(const std::byte* address) {
  const auto a = reinterpret_cast<Address>(address);
  return in_arena(address) &&
         (a - exec::kArenaBase) / exec::kRegionBytes == unsigned(exec::MemoryKind::kManaged);
}

/// Device addresses must lie in mapped memory; a host address is the program's own affair.
void check_range(const exec::DeviceMemory& memory, const std::byte* begin, std::uint64_t bytes) {
  if (in_arena(begin) && !memory.accessible(reinterpret_cast<Address>(begin), bytes))
    throw ApiError(Status::kErrorInvalidValue);
}

std::uint64_t span_of(std::size_t pitch, std::size_t slice, std::size_t width, std::size_t height,
                      std::size_t depth) {
  return slice * (depth - 1) + pitch * (height - 1) + width;
}

/// As the runtime: a side that the kind calls the device's must be one, e.g. to catch a host pointer there.
void check_kind(const Copy& c) {
  const bool to_device = c.kind == abi::kHostToDevice || c.kind == abi::kDeviceToDevice;
  const bool from_device = c.kind == abi::kDeviceToHost || c.kind == abi::kDeviceToDevice;
  if ((to_device && !in_arena(c.to.address)) || (from_device && !in_arena(c.from.address)))
    throw ApiError(Status::kErrorInvalidValue);
}

/// Runs `body`, which runs the grid. Where it is interrupted or there is no end to be seen: says where it
/// stands.
template <class Body>
exec::RunCounts guarded(const exec::Grid& grid, const KernelLaunch& launch, Body&& body) {
  const KernelRuns runs;
  try {
    if (!body()) end_interrupted(launch.kernel->name, grid.dump());
  } catch (const exec::DeviceFault& fault) {
    if (fault.kind() == exec::FaultKind::kInstructionLimit)
      fmt::print(stderr, "lockstep: kernel {} has no end within --max-cycles; its warps stand at\n{}",
                 launch.kernel->name, grid.dump());
    throw;
  }
  return grid.counts();
}

exec::RunCounts run_grid(exec::Grid grid, const KernelLaunch& launch) {
  return guarded(grid, launch, [&] {
    if (grid.run_at_once()) return true;
    for (std::uint64_t cta = 0; cta < grid.ctas(); ++cta)
      if (!grid.run_cta(cta, nullptr)) return false;
    return true;
  });
}

/// What more than so many cycles take to issue, and so many again for what machine code does without.
std::uint64_t instruction_limit(const Settings& settings, std::uint64_t ctas) {
  constexpr std::uint64_t kSlack = 4;
  if (settings.max_cycles == 0) return ~std::uint64_t{0};
  const std::uint64_t sms = std::min<std::uint64_t>(settings.gpu.gpu.sms, ctas);
  return settings.max_cycles * settings.gpu.sm.subcores * sms * kSlack;
}

template <class T>
void fill_row(std::byte* row, std::uint32_t value, std::size_t elements) {
  const T element = static_cast<T>(value);
  for (std::size_t i = 0; i < elements; ++i) std::memcpy(row + i * sizeof element, &element, sizeof element);
}

}  // namespace

/// What runs on the device reads and writes managed memory with all rights; the program's own accesses are
/// watched in between.
void Runtime::perform(const Operation& operation, StreamState& stream) {
  stream.asked = false;
  const bool works = std::holds_alternative<KernelLaunch>(operation) ||
                     std::holds_alternative<Copy>(operation) || std::holds_alternative<Fill>(operation);
  if (!works || !recorder_) {
    to_device(operation, stream);
  } else {
    if (const auto* launch = std::get_if<KernelLaunch>(&operation))
      (void)launch->kernel->executable();  // may load its module, which has managed variables
    note_host_accesses();
    to_device(operation, stream);
    if (host_pages_) host_pages_->watch();
  }
  if (recorder_) recorder_->tell(ordered_);
}

void Runtime::to_device(const Operation& operation, const StreamState& stream) {
  struct Visitor {
    Runtime& rt;
    const StreamState& stream;
    void operator()(const Nothing&) const {}
    void operator()(const KernelLaunch& launch) const { rt.run_kernel(launch, stream); }
    void operator()(const Copy& c) const { rt.copy(c, stream); }
    void operator()(const Fill& f) const { rt.fill(f, stream); }
    void operator()(const HostCall& h) const { h.call(h.data); }
    void operator()(const RecordEvent& r) const {
      EventState& e = rt.event(r.event);
      e.recorded = true;
      e.asked = false;
      e.ticks = rt.ticks_;
      e.capture = nullptr;
      if (StreamLog* log = rt.enter(stream)) e.record = log->record(stream.number);
    }
    // Operations happen in the order of the calls; only what is recorded has to wait.
    void operator()(const WaitEvent& w) const {
      const EventState& e = rt.event(w.event);
      if (!e.recorded) return;
      if (StreamLog* log = rt.enter(stream)) log->stream_wait(stream.number, e.record);
    }
    void operator()(const PrefetchMemory& p) const {
      rt.note_host_accesses();
      if (StreamLog* log = rt.enter(stream))
        log->add(stream.number, {trace::Command::Kind::kStreamPrefetch, p.address, p.bytes, 0, 0, p.to_host});
    }
    void operator()(const AllocateMemory& a) const { rt.graph_memory.begin_use(a.memory); }
    void operator()(const FreeMemory& f) const {
      if (rt.graph_memory.end_use(reinterpret_cast<Address>(f.address))) return;
      if (!rt.memory.release(reinterpret_cast<Address>(f.address)))
        throw ApiError(Status::kErrorInvalidValue);
    }
  };
  std::visit(Visitor{*this, stream}, operation);
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

void Runtime::run_kernel(const KernelLaunch& l, const StreamState& stream) {
  exec::Launch launch;
  launch.kernel = &l.kernel->executable();
  launch.grid = {l.grid.x, l.grid.y, l.grid.z};
  launch.block = {l.block.x, l.block.y, l.block.z};
  launch.cluster = {l.cluster.x, l.cluster.y, l.cluster.z};
  launch.dynamic_shared_bytes = static_cast<std::uint32_t>(l.dynamic_shared);
  launch.parameters = l.parameters;
  launch.cooperative = l.cooperative;
  launch.id = ++launches_;
  exec::RunOptions options;
  options.textures = &textures;
  options.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  options.stack_bytes = static_cast<std::uint32_t>(stack_bytes_);
  if (!heap_)
    heap_ = std::make_unique<exec::DeviceHeap>(memory, heap_bytes_);  // its size is fixed from now on
  options.heap = heap_.get();
  options.sm_count = settings.gpu.gpu.sms;
  options.threads = settings.threads;
  options.access_sets = &access_sets_;
  std::vector<exec::ChildLaunch> children;
  options.children = &children;
  options.interrupt = interrupt_flag();
  options.max_instructions = instruction_limit(settings, launch.grid.count());
  const exec::RunCounts counts = execute(launch, l, stream, options);
  ticks_ += counts.warp_instructions;
  if (!children.empty()) run_children(children, l, stream);
}

exec::RunCounts Runtime::execute(const exec::Launch& launch, const KernelLaunch& l, const StreamState& stream,
                                 const exec::RunOptions& options) {
  if (!recorder_) return run_grid(exec::Grid(launch, memory, options), l);
  try {
    return execute_recorded(launch, l, stream, options);
  } catch (const exec::DeviceFault& fault) {
    if (fault.kind() == exec::FaultKind::kInstructionLimit) recorder_->tell_stopped();
    throw;
  }
}

exec::RunCounts Runtime::execute_recorded(const exec::Launch& launch, const KernelLaunch& l,
                                          const StreamState& stream, const exec::RunOptions& options) {
  (void)enter(stream);
  trace::KernelHeader header = launch_header(*l.kernel, l, settings.gpu);
  header.stream = stream.number;
  header.shared_base = exec::kSharedWindow;
  header.local_base = exec::kLocalWindow;
  const auto& code = launch.kernel->operations();
  const bool clocked =
      std::any_of(code.begin(), code.end(), [](const exec::Operation& o) { return o.reads_clock; });
  if (clocked && recorder_->live()) return execute_clocked(launch, l, stream, header, options);
  exec::Grid grid(launch, memory, options);
  return guarded(grid, l, [&] { return recorder_->kernel(grid, l, header); });
}

/// Once in a process of its own, for the trace; then, simulated, here with the times at which it read its
/// clocks.
exec::RunCounts Runtime::execute_clocked(const exec::Launch& launch, const KernelLaunch& l,
                                         const StreamState& stream, const trace::KernelHeader& header,
                                         exec::RunOptions options) {
  exec::RunOptions silent = options;
  silent.print = {};
  std::optional<ClockReads> reads;
  if (recorder_->rehearse([&] { return exec::Grid(launch, memory, silent); }, l, header)) {
    recorder_->log().wait_stream(stream.number, (stream.flags & kStreamNonBlocking) == 0);
    recorder_->tell(ordered_);
    auto cycles = recorder_->ask_clocks();
    if (!cycles.empty()) {
      reads.emplace(std::move(cycles), header.warps_per_cta(), settings.gpu.clock.core_khz);
      options.clock = reads->source();
    }
  }
  const exec::RunCounts counts = run_grid(exec::Grid(launch, memory, options), l);
  if (reads && reads->differed() && clock_warnings_.insert(header.name).second)
    fmt::print(stderr,
               "lockstep: warning: {}: what it executes depends on its clock; it is timed as with a clock "
               "that counts "
               "executed instructions\n",
               header.name);
  return counts;
}

StreamLog* Runtime::enter(const StreamState& stream) {
  if (!recorder_) return nullptr;
  recorder_->log().enter(stream.number, (stream.flags & kStreamNonBlocking) == 0);
  return &recorder_->log();
}

/// Managed memory is touched by the host where the copy's kind names it, by default where its preferred
/// location is the host, else by the device (CUDA C++ Programming Guide, "Memcpy()/Memset() behavior with
/// managed memory"). The first byte stands for all (assumed).
bool Runtime::host_touches(const std::byte* address, int kind, int naming_kind) const {
  if (!is_managed(address)) return false;
  if (kind == abi::kDefault) return preferred_host_.contains(reinterpret_cast<Address>(address));
  return kind == abi::kHostToHost || kind == naming_kind;
}

void Runtime::record_copy(const Copy& c, const StreamState& stream) {
  if (!recorder_) return;
  const bool host_writes = host_touches(c.to.address, c.kind, abi::kDeviceToHost),
             host_reads = host_touches(c.from.address, c.kind, abi::kHostToDevice);
  const bool to_device = on_device(c.to.address) && !host_writes,
             from_device = on_device(c.from.address) && !host_reads;
  const bool crosses = to_device != from_device;
  const auto span = [&](const CopyEnd& e) { return span_of(e.pitch, e.slice, c.width, c.height, c.depth); };
  if (!crosses || !from_device) record_touch(c.from, span(c.from), false, host_reads, stream);
  if (!crosses || !to_device) record_touch(c.to, span(c.to), true, host_writes, stream);
  if (!to_device && !from_device) return;
  (void)enter(stream);
  const std::uint64_t bytes = c.width * c.height * c.depth;
  if (!crosses) {
    const auto written = reinterpret_cast<Address>(c.to.address);
    if (bytes > 0) recorder_->log().add(stream.number, {trace::Command::Kind::kDeviceCopy, written, bytes});
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
  if (!recorder_ || !is_managed(end.address)) return;
  trace::Command command{host ? trace::Command::Kind::kHostAccess : trace::Command::Kind::kDeviceAccess,
                         reinterpret_cast<Address>(end.address), bytes};
  command.write = write;
  if (host) return record_managed(command);
  (void)enter(stream);
  recorder_->log().add(stream.number, command);
}

void Runtime::copy(const Copy& c, const StreamState& stream) {
  check_kind(c);
  check_range(memory, c.to.address, span_of(c.to.pitch, c.to.slice, c.width, c.height, c.depth));
  check_range(memory, c.from.address, span_of(c.from.pitch, c.from.slice, c.width, c.height, c.depth));
  for (std::size_t z = 0; z < c.depth; ++z)
    for (std::size_t y = 0; y < c.height; ++y)
      std::memmove(c.to.address + z * c.to.slice + y * c.to.pitch,
                   c.from.address + z * c.from.slice + y * c.from.pitch, c.width);
  ticks_ += c.width * c.height * c.depth / kBytesPerTick;
  record_copy(c, stream);
}

void Runtime::record_fill(const Fill& f, const StreamState& stream) {
  const std::uint64_t bytes = f.width * f.element * f.height * f.depth;
  if (!on_device(f.address) || bytes == 0) return;
  if (StreamLog* log = enter(stream))
    log->add(stream.number, {trace::Command::Kind::kFill, reinterpret_cast<Address>(f.address), bytes});
}

void Runtime::fill(const Fill& f, const StreamState& stream) {
  if (!in_arena(f.address)) throw ApiError(Status::kErrorInvalidValue);
  const std::uint64_t span = span_of(f.pitch, f.slice, f.width * f.element, f.height, f.depth);
  check_range(memory, f.address, span);
  record_touch({f.address}, span, true, false, stream);
  record_fill(f, stream);
  for (std::size_t z = 0; z < f.depth; ++z)
    for (std::size_t y = 0; y < f.height; ++y) {
      std::byte* row = f.address + z * f.slice + y * f.pitch;
      if (f.element == 1) std::memset(row, static_cast<int>(f.value & 0xff), f.width);
      if (f.element == 2) fill_row<std::uint16_t>(row, f.value, f.width);
      if (f.element == 4) fill_row<std::uint32_t>(row, f.value, f.width);
    }
  ticks_ += f.width * f.element * f.height * f.depth / kBytesPerTick;
}

}  // namespace lockstep::cuda
