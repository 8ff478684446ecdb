#include "shmem/effects.hpp"

#include <cstring>

namespace lockstep::shmem {

namespace {

using OperationKind = trace::NetOperation::Kind;

constexpr Address kWordBytes = 4;

template <class T>
T read_at(Address address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

template <class T>
T combine(AtomicOp op, T old, T value, T compare) {
  switch (op) {
    case AtomicOp::kFetch:
      return old;
    case AtomicOp::kSet:
      return value;
    case AtomicOp::kCompareSwap:
      return old == compare ? value : old;
    case AtomicOp::kAdd:
      return static_cast<T>(old + value);
    case AtomicOp::kAnd:
      return old & value;
    case AtomicOp::kOr:
      return old | value;
    case AtomicOp::kXor:
      return old ^ value;
  }
  return old;
}

template <class T>
void change(const Request& request, const exec::DeviceMemory& memory, exec::SignalLog& log) {
  const trace::NetOperation& operation = request.operation;
  const T old = read_at<T>(operation.remote);
  const T next =
      combine(request.atomic_op, old, static_cast<T>(request.value), static_cast<T>(request.compare));
  write_signalling(log, operation.remote, &next, sizeof next);
  memory.wrote(operation.remote, sizeof next);
  if (operation.local == 0) return;
  std::memcpy(reinterpret_cast<void*>(operation.local), &old, sizeof old);
  memory.wrote(operation.local, sizeof old);
}

void copy(const exec::DeviceMemory& memory, Address to, Address from, std::uint64_t bytes) {
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  memory.copied(to, from, bytes);
}

void put(const Request& request, const exec::DeviceMemory& memory, exec::SignalLog& log) {
  const trace::NetOperation& operation = request.operation;
  if (operation.inlined) {
    write_signalling(log, operation.remote, &request.inlined, operation.bytes);
    memory.wrote(operation.remote, operation.bytes);
  } else if (operation.bytes <= trace::kMaxSignallingPut) {
    unsigned char data[trace::kMaxSignallingPut];
    std::memcpy(data, reinterpret_cast<const void*>(operation.local), operation.bytes);
    write_signalling(log, operation.remote, data, operation.bytes);
    memory.copied(operation.remote, operation.local, operation.bytes);
  } else {
    copy(memory, operation.remote, operation.local, operation.bytes);
  }
  if (operation.signal == 0) return;
  const std::uint64_t value = request.value + (request.adds ? read_at<std::uint64_t>(operation.signal) : 0);
  write_signalling(log, operation.signal, &value, sizeof value);
  memory.wrote(operation.signal, sizeof value);
}

}  // namespace

void write_signalling(exec::SignalLog& log, Address to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const Address first = to & ~(kWordBytes - 1);
  log.begin_write();
  for (Address word = first; word < to + bytes; word += kWordBytes)
    log.before(word, read_at<std::uint32_t>(word));
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  for (Address word = first; word < to + bytes; word += kWordBytes)
    log.signalled(word, read_at<std::uint32_t>(word));
}

void perform(const Request& request, const exec::DeviceMemory& memory, exec::SignalLog& log) {
  const trace::NetOperation& operation = request.operation;
  switch (operation.kind) {
    case OperationKind::kPut:
      return put(request, memory, log);
    case OperationKind::kGet:
      return copy(memory, operation.local, operation.remote, operation.bytes);
    case OperationKind::kAtomic:
      return operation.bytes == 4 ? change<std::uint32_t>(request, memory, log)
                                  : change<std::uint64_t>(request, memory, log);
    case OperationKind::kQuiet:
      return;
  }
}

}  // namespace lockstep::shmem
