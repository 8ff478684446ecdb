#include "shmem/messages.hpp"

#include <fmt/format.h>

#include <cstring>

#include "util/error.hpp"

namespace lockstep::shmem {

namespace {
using TaskKind = trace::HostTask::Kind;
}  // namespace

trace::HostTask Messages::check(const HostTask& task, unsigned device) const {
  const auto fail = [&](const std::string& what) {
    throw UserError(fmt::format("shmem: the process of PE {} {}", task.pe, what));
  };
  const auto& pes = agent_.pes();
  if (pes.empty()) throw UserError("shmem: a process of a host before init()");
  if (task.pe >= pes.size() || task.pe != device)
    fail(fmt::format("has a task in a stream of device {}; expected one of its own", device));
  if (task.task >= kTasks || task.flags > HostTask::kWithin)
    fail(fmt::format("has task {} with flags {}; expected one below {}, and at most {}", task.task,
                     task.flags, kTasks, HostTask::kWithin));
  if (task.peer >= pes.size())
    fail(fmt::format("names PE {}; there are {}, counted from 0", task.peer, pes.size()));
  trace::HostTask to;
  to.kind = static_cast<TaskKind>(task.task);
  to.peer = static_cast<std::uint16_t>(task.peer);
  to.within = task.flags == HostTask::kWithin;
  to.instructions = to.kind == TaskKind::kCompute ? task.instructions : 0;
  to.bytes = to.kind == TaskKind::kCompute || to.kind == TaskKind::kSend ? task.bytes : 0;
  if (to.kind != TaskKind::kSend) return to;
  const PeMemory& target = pes[task.peer];
  if (task.remote > target.heap_bytes || task.bytes > target.heap_bytes - task.remote)
    fail(fmt::format("sends {} bytes to offset {:#x} of the symmetric heap, which has {:#x}", task.bytes,
                     task.remote, target.heap_bytes));
  if (task.bytes > 0 && (!memory_.in_arena(task.local) || memory_.owner(task.local) != task.pe ||
                         !memory_.accessible(task.local, task.bytes)))
    fail(fmt::format("sends {} bytes at {:#x}, which is not memory of device {}", task.bytes, task.local,
                     task.pe));
  to.local = task.local;
  to.remote = reinterpret_cast<Address>(target.heap) + task.remote;
  return to;
}

bool Messages::perform(const trace::HostTask& task, unsigned device) {
  if (task.kind == TaskKind::kSend) {
    std::memmove(reinterpret_cast<void*>(task.remote), reinterpret_cast<const void*>(task.local), task.bytes);
    memory_.copied(task.remote, task.local, task.bytes);
    ++waiting_[{device, task.peer}];
  } else if (task.kind == TaskKind::kReceive) {
    std::uint64_t& waiting = waiting_[{task.peer, device}];
    if (waiting == 0) return false;
    --waiting;
  }
  return true;
}

}  // namespace lockstep::shmem
