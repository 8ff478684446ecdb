#include "trace/host_task_code.hpp"

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

using Kind = HostTask::Kind;

void encode_host_task(const HostTask& task, Bytes& out) {
  put_varint(out, static_cast<std::uint64_t>(task.kind) + (task.within ? HostTask::kKinds : 0));
  if (task.kind == Kind::kCompute) put_varint(out, task.instructions);
  if (task.kind == Kind::kSend || task.kind == Kind::kReceive) put_varint(out, task.peer);
  if (task.kind == Kind::kCompute || task.kind == Kind::kSend) put_varint(out, task.bytes);
  if (task.kind != Kind::kSend) return;
  put_varint(out, task.local);
  put_varint(out, task.remote);
}

HostTask decode_host_task(ByteReader& in) {
  HostTask task;
  const std::uint64_t kind = in.number(2 * HostTask::kKinds - 1, "the kind of a host's task");
  task.kind = static_cast<Kind>(kind % HostTask::kKinds);
  task.within = kind >= HostTask::kKinds;
  if (task.kind == Kind::kCompute) task.instructions = in.varint();
  if (task.kind == Kind::kSend || task.kind == Kind::kReceive)
    task.peer = static_cast<std::uint16_t>(
        in.number(Command::kMaxDevices - 1u, "the other process of a host's task"));
  if (task.kind == Kind::kCompute || task.kind == Kind::kSend) task.bytes = in.varint();
  if (task.kind != Kind::kSend) return task;
  task.local = in.varint();
  task.remote = in.varint();
  return task;
}

}  // namespace lockstep::trace
