#include "trace/host_task_code.hpp"

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {
namespace {

using TaskKind = HostTask::Kind;

bool has_bytes(TaskKind kind) {
  return kind == TaskKind::kCompute || kind == TaskKind::kElapse || moves_data(kind);
}
bool has_peer(TaskKind kind) {
  return kind == TaskKind::kSend || kind == TaskKind::kReceive || names_message(kind);
}

/// The most that HostTask::instructions may be: a message's number, or a call's.
std::uint64_t most_instructions(TaskKind kind) {
  return kind == TaskKind::kCall ? Command::kCalls - 1 : kMaxMessages - 1;
}

}  // namespace

std::uint64_t code_of(const HostTask& task) {
  const auto kind = static_cast<std::uint64_t>(task.kind);
  if (kind < HostTask::kCountedKinds) return kind + (task.within ? HostTask::kCountedKinds : 0);
  return 2 * kind + (task.within ? 1 : 0);
}

void set_code(HostTask& task, std::uint64_t code) {
  const bool is_first = code < 2 * HostTask::kCountedKinds;
  task.kind = static_cast<TaskKind>(is_first ? code % HostTask::kCountedKinds : code / 2);
  task.within = is_first ? code >= HostTask::kCountedKinds : code % 2 != 0;
}

bool set_instructions(HostTask& task, std::uint64_t number) {
  task.instructions = number;
  return !is_library_task(task.kind) || number <= most_instructions(task.kind);
}

void encode_host_task(const HostTask& task, Bytes& out) {
  put_varint(out, code_of(task));
  if (task.kind == TaskKind::kCompute || is_library_task(task.kind)) put_varint(out, task.instructions);
  if (has_peer(task.kind)) put_varint(out, task.peer);
  if (has_bytes(task.kind)) put_varint(out, task.bytes);
  if (!moves_data(task.kind)) return;
  put_varint(out, task.local);
  put_varint(out, task.remote);
}

HostTask decode_host_task(ByteReader& in) {
  HostTask task;
  set_code(task, in.number(kHostTaskCodes - 1, "the kind of a host's task"));
  if (task.kind == TaskKind::kCompute) task.instructions = in.varint();
  if (is_library_task(task.kind))
    task.instructions = in.number(most_instructions(task.kind), "the number of a message or a call");
  if (has_peer(task.kind))
    task.peer = static_cast<std::uint16_t>(
        in.number(Command::kMaxDevices - 1u, "the other process of a host's task"));
  if (has_bytes(task.kind)) task.bytes = in.varint();
  if (!moves_data(task.kind)) return task;
  task.local = in.varint();
  task.remote = in.varint();
  return task;
}

}  // namespace lockstep::trace
