#include "export/processes.hpp"

namespace lockstep::exporter {
namespace {

using TaskKind = trace::HostTask::Kind;
using Space = MessageKey::Space;

const char* name_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::kCompute:
    case TaskKind::kElapse:
      return "compute";
    case TaskKind::kSend:
    case TaskKind::kMessage:
    case TaskKind::kOffer:
      return "call that sends";
    case TaskKind::kReceive:
    case TaskKind::kArrived:
    case TaskKind::kAccept:
      return "call that receives";
    case TaskKind::kFlush:
    case TaskKind::kSent:
      return "call that waits for what was sent";
    case TaskKind::kEnter:
      return "call";
    case TaskKind::kCall:
      return "call of the CUDA runtime";
    case TaskKind::kPut:
    case TaskKind::kGet:
    case TaskKind::kAtomic:
      return "one-sided call";
    case TaskKind::kDone:
      return "call that waits for one-sided calls";
  }
  return "";
}

constexpr Lane kHost = {}, kNic = {Lane::Kind::kNic};

}  // namespace

void Process::add(const trace::HostTask& task, Frontier& stream, std::uint32_t chain) {
  if (const std::uint64_t ps = times_->task(task, device_); ps > 0)
    stream.set({draft_->compute(device_, kHost, ps, name_of(task.kind), stream), chain});
  switch (task.kind) {
    case TaskKind::kSend:
    case TaskKind::kMessage:
    case TaskKind::kOffer:
      return send(task, stream);
    case TaskKind::kReceive:
    case TaskKind::kArrived:
      return arrive(task, stream, chain);
    case TaskKind::kAccept:
      return accept(task, stream);
    case TaskKind::kFlush:
      stream.merge(unflushed_);
      return unflushed_.clear();
    case TaskKind::kSent:
      if (const auto found = offered_.find({task.peer, task.instructions}); found != offered_.end())
        stream.add({found->second});
      return;
    case TaskKind::kPut:
    case TaskKind::kGet:
    case TaskKind::kAtomic:
      return operate(task, stream);
    case TaskKind::kDone:
      if (const auto found = replies_.find({task.peer, task.instructions}); found != replies_.end())
        stream.add({found->second});
      return;
    case TaskKind::kCompute:
    case TaskKind::kEnter:
    case TaskKind::kCall:
    case TaskKind::kElapse:
      return;
  }
}

void Process::send(const trace::HostTask& task, Frontier& stream) {
  const bool program = task.kind == TaskKind::kSend;
  const MessageKey key{device_, task.peer, program ? Space::kProgram : Space::kLibrary,
                       program ? sent_[task.peer]++ : task.instructions};
  const bool offered = task.kind == TaskKind::kOffer;
  const std::uint32_t node = draft_->send(key, task.bytes, offered, kHost, stream);
  if (offered) offered_[{task.peer, task.instructions}] = node;
  unflushed_.add({node});
  stream.add({node, begun_, true});
}

void Process::arrive(const trace::HostTask& task, Frontier& stream, std::uint32_t chain) {
  const bool program = task.kind == TaskKind::kReceive;
  if (const auto found = accepted_.find({task.peer, task.instructions}); !program && found != accepted_.end())
    return stream.add({found->second});
  const MessageKey key{task.peer, device_, program ? Space::kProgram : Space::kLibrary,
                       program ? got_[task.peer]++ : task.instructions};
  stream.set({draft_->receive(key, kHost, stream), chain});
}

void Process::accept(const trace::HostTask& task, Frontier& stream) {
  const std::uint32_t node =
      draft_->receive({task.peer, device_, Space::kLibrary, task.instructions}, kHost, stream);
  accepted_[{task.peer, task.instructions}] = node;
  stream.add({node, begun_, true});
}

void Process::operate(const trace::HostTask& task, Frontier& stream) {
  const bool get = task.kind == TaskKind::kGet;
  const bool fetches = get || (task.kind == TaskKind::kAtomic && task.local != 0);
  const MessageKey there{device_, task.peer, Space::kOneSided, task.instructions};
  const MessageKey back{task.peer, device_, Space::kReply, task.instructions};
  stream.add({draft_->send(there, get ? 0 : task.bytes, false, kHost, stream), begun_, true});
  Frontier come;
  come.set({draft_->receive(there, kNic, {})});
  (void)draft_->send(back, fetches ? task.bytes : 0, false, kNic, come);
  replies_[{task.peer, task.instructions}] = draft_->receive(back, kNic, {});
}

}  // namespace lockstep::exporter
