#include "shmem/request.hpp"

#include <fmt/format.h>

#include <string>

namespace lockstep::shmem {

namespace {

using OperationKind = trace::NetOperation::Kind;

constexpr std::uint64_t kMaxInline = 8, kSignalBytes = 8;

class Reader {
 public:
  Reader(const Entry& entry, const EntryPlace& place, const std::vector<PeMemory>& pes,
         const exec::DeviceMemory& memory)
      : entry_(entry), place_(place), pes_(pes), memory_(memory) {}

  [[nodiscard]] Request read() const {
    check_head();
    Request request;
    request.value = entry_.value;
    request.compare = entry_.compare;
    trace::NetOperation& operation = request.operation;
    operation.kind = static_cast<OperationKind>(entry_.op);
    operation.blocking = has(Entry::kBlocking);
    operation.target = static_cast<std::uint16_t>(entry_.pe);
    operation.bytes = entry_.bytes;
    switch (operation.kind) {
      case OperationKind::kPut:
        read_put(request);
        break;
      case OperationKind::kGet:
        operation.remote = in_heap(entry_.remote, entry_.bytes, "reads");
        operation.local = own(entry_.local, entry_.bytes, "its data go to");
        break;
      case OperationKind::kAtomic:
        read_atomic(request);
        break;
      case OperationKind::kQuiet:
        operation.bytes = 0;
        break;
    }
    return request;
  }

 private:
  [[nodiscard]] bool has(std::uint8_t flag) const { return (entry_.flags & flag) != 0; }
  [[noreturn]] void fail(const std::string& what) const {
    throw BadEntry(fmt::format("device {}, network queue {}, entry {}: {}", place_.device, place_.queue,
                               place_.entry, what));
  }

  void check_head() const {
    if (entry_.op >= kOps) fail(fmt::format("operation {}; expected one below {}", entry_.op, kOps));
    if ((entry_.flags & ~unsigned{Entry::kAllFlags}) != 0 || entry_.reserved != 0)
      fail(fmt::format("flags {:#x}, reserved {:#x}; expected flags of {:#x} and 0", entry_.flags,
                       entry_.reserved, Entry::kAllFlags));
    if (entry_.pe >= pes_.size())
      fail(fmt::format("PE {}; there are {}, counted from 0", entry_.pe, pes_.size()));
    if (entry_.context != place_.queue) fail(fmt::format("it is of the context of queue {}", entry_.context));
  }

  void read_put(Request& request) const {
    trace::NetOperation& operation = request.operation;
    operation.inlined = has(Entry::kInline);
    operation.remote = in_heap(entry_.remote, entry_.bytes, "writes");
    if (operation.inlined) {
      if (entry_.bytes > kMaxInline)
        fail(fmt::format("{} bytes in the entry itself; expected at most {}", entry_.bytes, kMaxInline));
      request.inlined = entry_.local;
    } else {
      operation.local = own(entry_.local, entry_.bytes, "its data come from");
    }
    if (!has(Entry::kSignal)) return;
    operation.signal = in_heap(entry_.signal, kSignalBytes, "signals");
    if (operation.signal % kSignalBytes != 0)
      fail(fmt::format("a signal at offset {}; expected a multiple of {}", entry_.signal, kSignalBytes));
    request.adds = has(Entry::kSignalAdd);
  }

  void read_atomic(Request& request) const {
    if (entry_.atomic_op >= kAtomicOps)
      fail(fmt::format("atomic operation {}; expected one below {}", entry_.atomic_op, kAtomicOps));
    request.atomic_op = static_cast<AtomicOp>(entry_.atomic_op);
    if (entry_.bytes != 4 && entry_.bytes != 8)
      fail(fmt::format("an atomic operation on {} bytes; expected 4 or 8", entry_.bytes));
    request.operation.remote = in_heap(entry_.remote, entry_.bytes, "changes");
    if (request.operation.remote % entry_.bytes != 0)
      fail(fmt::format("an atomic operation on {} bytes at offset {}, which is not a multiple of that",
                       entry_.bytes, entry_.remote));
    if (has(Entry::kReturns))
      request.operation.local = own(entry_.local, entry_.bytes, "the old value goes to");
  }

  /// The address of what lies at an offset in the target's heap.
  [[nodiscard]] Address in_heap(std::uint64_t offset, std::uint64_t bytes, const char* does) const {
    const PeMemory& target = pes_[entry_.pe];
    if (offset > target.heap_bytes || bytes > target.heap_bytes - offset)
      fail(fmt::format("it {} {} bytes at offset {:#x} of the symmetric heap, which has {:#x}", does, bytes,
                       offset, target.heap_bytes));
    return reinterpret_cast<Address>(target.heap) + offset;
  }
  /// An address in the memory of the device whose queue it is.
  [[nodiscard]] Address own(Address address, std::uint64_t bytes, const char* role) const {
    const bool fits =
        bytes == 0 ||
        (address + bytes > address && memory_.in_arena(address) && memory_.in_arena(address + bytes - 1) &&
         memory_.owner(address) == place_.device && memory_.owner(address + bytes - 1) == place_.device &&
         memory_.accessible(address, bytes));
    if (!fits)
      fail(fmt::format("{} {} bytes at {:#x}, which is not memory of device {}", role, bytes, address,
                       place_.device));
    return address;
  }

  const Entry& entry_;
  const EntryPlace& place_;
  const std::vector<PeMemory>& pes_;
  const exec::DeviceMemory& memory_;
};

}  // namespace

Request read_request(const Entry& entry, const EntryPlace& place, const std::vector<PeMemory>& pes,
                     const exec::DeviceMemory& memory) {
  return Reader(entry, place, pes, memory).read();
}

}  // namespace lockstep::shmem
