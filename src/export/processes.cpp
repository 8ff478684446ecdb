#include "export/processes.hpp"

namespace lockstep::exporter {
namespace {

using Kind = trace::HostTask::Kind;
using Space = MessageKey::Space;

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kCompute:
    case Kind::kElapse:
      return "compute";
    case Kind::kSend:
    case Kind::kMessage:
    case Kind::kOffer:
      return "call that sends";
    case Kind::kReceive:
    case Kind::kArrived:
    case Kind::kAccept:
      return "call that receives";
    case Kind::kFlush:
    case Kind::kSent:
      return "call that waits for what was sent";
    case Kind::kEnter:
      return "call";
    case Kind::kCall:
      return "call of the CUDA runtime";
    case Kind::kPut:
    case Kind::kGet:
    case Kind::kAtomic:
      return "one-sided call";
    case Kind::kDone:
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
    case Kind::kSend:
    case Kind::kMessage:
    case Kind::kOffer:
      return send(task, stream);
    case Kind::kReceive:
    case Kind::kArrived:
      return arrive(task, stream, chain);
    case Kind::kAccept:
      return accept(task, stream);
    case Kind::kFlush:
      stream.merge(unflushed_);
      return unflushed_.clear();
    case Kind::kSent:
      if (const auto found = offered_.find({task.peer, task.instructions}); found != offered_.end())
        stream.add({found->second});
      return;
    case Kind::kPut:
    case Kind::kGet:
    case Kind::kAtomic:
      return operate(task, stream);
    case Kind::kDone:
      if (const auto found = replies_.find({task.peer, task.instructions}); found != replies_.end())
        stream.add({found->second});
      return;
    case Kind::kCompute:
    case Kind::kEnter:
    case Kind::kCall:
    case Kind::kElapse:
      return;
  }
}

void Process::send(const trace::HostTask& task, Frontier& stream) {
  const bool program = task.kind == Kind::kSend;
  const MessageKey key{device_, task.peer, program ? Space::kProgram : Space::kLibrary,
                       program ? sent_[task.peer]++ : task.instructions};
  const bool offered = task.kind == Kind::kOffer;
  const std::uint32_t node = draft_->send(key, task.bytes, offered, kHost, stream);
  if (offered) offered_[{task.peer, task.instructions}] = node;
  unflushed_.add({node});
  stream.add({node, begun_, true});
}

void Process::arrive(const trace::HostTask& task, Frontier& stream, std::uint32_t chain) {
  const bool program = task.kind == Kind::kReceive;
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
  const bool get = task.kind == Kind::kGet;
  const bool fetches = get || (task.kind == Kind::kAtomic && task.local != 0);
  const MessageKey there{device_, task.peer, Space::kOneSided, task.instructions};
  const MessageKey back{task.peer, device_, Space::kReply, task.instructions};
  stream.add({draft_->send(there, get ? 0 : task.bytes, false, kHost, stream), begun_, true});
  Frontier come;
  come.set({draft_->receive(there, kNic, {})});
  (void)draft_->send(back, fetches ? task.bytes : 0, false, kNic, come);
  replies_[{task.peer, task.instructions}] = draft_->receive(back, kNic, {});
}

}  // namespace lockstep::exporter
