#include "trace/net_operation_code.hpp"

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

namespace {

using OperationKind = NetOperation::Kind;
constexpr std::uint64_t kBlocking = 1, kInlined = 2, kMaxFlags = 3;
constexpr std::uint64_t kMax32 = 0xffffffff;

}  // namespace

void encode_net_operation(const NetOperation& operation, Bytes& out) {
  put_varint(out, static_cast<std::uint64_t>(operation.kind));
  put_varint(out, (operation.blocking ? kBlocking : 0) + (operation.inlined ? kInlined : 0));
  put_varint(out, operation.target);
  put_varint(out, operation.queue);
  put_varint(out, operation.ready);
  if (operation.kind == OperationKind::kQuiet) return;
  for (const std::uint64_t number : {operation.local, operation.remote, operation.bytes})
    put_varint(out, number);
  if (operation.kind == OperationKind::kPut) put_varint(out, operation.signal);
}

NetOperation decode_net_operation(ByteReader& in) {
  NetOperation operation;
  operation.kind =
      static_cast<OperationKind>(in.number(NetOperation::kKinds - 1, "the kind of a network operation"));
  const std::uint64_t flags = in.number(kMaxFlags, "the flags of a network operation");
  operation.blocking = (flags & kBlocking) != 0;
  operation.inlined = (flags & kInlined) != 0;
  operation.target =
      static_cast<std::uint16_t>(in.number(Command::kMaxDevices - 1u, "the target of a network operation"));
  operation.queue = static_cast<std::uint32_t>(in.number(kMax32, "the queue of a network operation"));
  operation.ready = static_cast<std::uint32_t>(in.number(kMax32, "the signals of a network operation"));
  if (operation.kind == OperationKind::kQuiet) return operation;
  operation.local = in.varint();
  operation.remote = in.varint();
  operation.bytes = in.varint();
  if (operation.kind == OperationKind::kPut) operation.signal = in.varint();
  return operation;
}

}  // namespace lockstep::trace
