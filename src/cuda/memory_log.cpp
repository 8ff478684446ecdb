#include "cuda/memory_log.hpp"

#include <utility>

namespace lockstep::cuda {

namespace {
using CommandKind = trace::Command::Kind;

}  // namespace

void MemoryLog::note_host() {
  if (log_ == nullptr) return;
  note_allocations();
  if (!host_pages_) return;
  for (const HostAccess& a : host_pages_->give())
    log_->add_host({CommandKind::kHostAccess, a.address, a.bytes, 0, 0, false, a.write});
}

void MemoryLog::set_watching(bool watches) {
  if (watches == watches_) return;
  note_host();
  watches_ = watches;
  watch();
}

/// Allocations that have come or gone since the last call.
void MemoryLog::note_allocations() {
  std::map<Address, std::uint64_t> now;
  for (const exec::Allocation& a : memory_.allocations(exec::MemoryKind::kManaged)) now[a.begin] = a.bytes;
  for (const auto& [begin, bytes] : managed_) {
    const auto same = now.find(begin);
    if (same != now.end() && same->second == bytes) continue;
    log_->add_host({CommandKind::kRelease, begin, bytes});
    preferred_host_.set(begin, bytes, false);
  }
  for (const auto& [begin, bytes] : now) {
    const auto same = managed_.find(begin);
    if (same == managed_.end() || same->second != bytes) log_->add_host({CommandKind::kManage, begin, bytes});
  }
  managed_ = std::move(now);
  if (!managed_.empty() && !host_pages_) host_pages_ = std::make_unique<HostPages>(memory_);
}

void MemoryLog::advise(Address begin, std::uint64_t bytes, int advice, bool host, std::uint16_t device) {
  constexpr int kSetPreferred = 3, kUnsetPreferred = 4;  // cudaMemoryAdvise
  if (advice == kSetPreferred || advice == kUnsetPreferred)
    preferred_host_.set(begin, bytes, host && advice == kSetPreferred);
  note_host();
  if (log_ == nullptr) return;
  trace::Command command{CommandKind::kAdvise, begin, bytes, 0, static_cast<std::uint8_t>(advice), host};
  command.place = device;
  log_->add_host(command);
}

void MemoryLog::place(unsigned device, Address begin, std::uint64_t bytes) {
  if (log_ != nullptr && memory_.devices() > 1) log_->place(device, begin, bytes);
}

void MemoryLog::multicast(unsigned device, Address begin, std::uint64_t bytes, Address memory) {
  if (log_ != nullptr) log_->multicast(device, begin, bytes, memory);
}

bool MemoryLog::is_on_device(const std::byte* address) const {
  return memory_.in_arena(address_of(address)) &&
         exec::DeviceMemory::kind_of(address_of(address)) != exec::MemoryKind::kHost;
}

bool MemoryLog::is_managed(const std::byte* address) const {
  return memory_.in_arena(address_of(address)) &&
         exec::DeviceMemory::kind_of(address_of(address)) == exec::MemoryKind::kManaged;
}

bool MemoryLog::between_devices(const Copy& c) const {
  const auto to = memory_.owner(address_of(c.to.address)), from = memory_.owner(address_of(c.from.address));
  return to && from && *to != *from;
}

/// Managed memory is touched by the host where the copy's kind names it, by default where its preferred
/// location is the host, else by the device (CUDA C++ Programming Guide, "Memcpy()/Memset() behavior with
/// managed memory"). The first byte stands for all (assumed).
bool MemoryLog::host_touches(const std::byte* address, int kind, int naming_kind) const {
  if (!is_managed(address)) return false;
  if (kind == abi::kDefault) return preferred_host_.contains(address_of(address));
  return kind == abi::kHostToHost || kind == naming_kind;
}

/// The device or the host touches one end of a copy, or what is filled, where that is managed.
void MemoryLog::touch(const CopyEnd& end, std::uint64_t bytes, bool write, bool host,
                      const StreamState& stream) {
  if (!is_managed(end.address)) return;
  trace::Command command{host ? CommandKind::kHostAccess : CommandKind::kDeviceAccess,
                         address_of(end.address), bytes};
  command.write = write;
  if (host) return log_->add_host(command);
  log_->enter(stream);
  log_->add(stream.number, command);
}

MemoryLog::Sides MemoryLog::sides_of(const Copy& c) const {
  const bool host_writes = host_touches(c.to.address, c.kind, abi::kDeviceToHost),
             host_reads = host_touches(c.from.address, c.kind, abi::kHostToDevice);
  return {host_writes, host_reads, is_on_device(c.to.address) && !host_writes,
          is_on_device(c.from.address) && !host_reads};
}

/// Copies to memory that is not page-locked block the host whatever their name says (CUDA Runtime API, "API
/// synchronization behavior").
bool MemoryLog::host_waits(const Copy& c, const Sides& sides) const {
  return sides.cross() &&
         (c.blocking || (sides.from_device && !memory_.accessible(address_of(c.to.address), c.width)));
}

void MemoryLog::copy(const Copy& c, const StreamState& stream) {
  if (log_ == nullptr) return;
  const Sides sides = sides_of(c);
  const auto span = [&](const CopyEnd& e) { return span_of(e.pitch, e.slice, c.width, c.height, c.depth); };
  if (!sides.cross() || !sides.from_device) touch(c.from, span(c.from), false, sides.host_reads, stream);
  if (!sides.cross() || !sides.to_device) touch(c.to, span(c.to), true, sides.host_writes, stream);
  if (!sides.to_device && !sides.from_device) return;
  log_->enter(stream);
  if (!sides.cross()) return copy_inside(c, stream);
  const Address to = address_of(c.to.address), from = address_of(c.from.address);
  const std::uint64_t bytes = c.width * c.height * c.depth;
  if (sides.to_device) log_->add(stream.number, {CommandKind::kStreamCopyToDevice, to, bytes});
  if (sides.from_device) log_->add(stream.number, {CommandKind::kStreamCopyToHost, from, bytes});
  if (host_waits(c, sides)) log_->wait_stream(stream.number);
}

void MemoryLog::order(const Copy& c, const StreamState& stream) {
  if (log_ == nullptr) return;
  const Sides sides = sides_of(c);
  if (!sides.to_device && !sides.from_device) return;
  log_->enter(stream);
  if (host_waits(c, sides)) log_->wait_stream(stream.number, StreamLog::Waiter::kRuntime);
}

void MemoryLog::order(const Fill& f, const StreamState& stream) {
  if (log_ != nullptr && is_on_device(f.address)) log_->enter(stream);
}

/// From devices' memory to devices' memory, after StreamLog::enter().
void MemoryLog::copy_inside(const Copy& c, const StreamState& stream) {
  const std::uint64_t bytes = c.width * c.height * c.depth;
  if (bytes == 0) return;
  const bool peers = between_devices(c);
  trace::Command command{peers ? CommandKind::kPeerCopy : CommandKind::kDeviceCopy, address_of(c.to.address),
                         bytes};
  if (peers) command.source = address_of(c.from.address);
  log_->add(stream.number, command);
}

void MemoryLog::fill(const Fill& f, const StreamState& stream) {
  if (log_ == nullptr) return;
  touch({f.address}, span_of(f.pitch, f.slice, f.width, f.height, f.depth, f.element), true, false, stream);
  const std::uint64_t bytes = f.width * f.element * f.height * f.depth;
  if (!is_on_device(f.address) || bytes == 0) return;
  log_->enter(stream);
  log_->add(stream.number, {CommandKind::kFill, address_of(f.address), bytes});
}

}  // namespace lockstep::cuda
