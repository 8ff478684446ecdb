#include "libraries/nccl/group.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::libraries::nccl {
namespace {

struct Operation {
  Communicator* communicator;
  std::string kernel;
  unsigned blocks;
  Job job;
  Stream stream;
};

/// The messages of one rank in one stream.
struct Mailing {
  Communicator* communicator;
  Stream stream;
  std::vector<Communicator::Message> messages;
};

struct Pending {
  std::vector<Communicator*> ranks;
  std::vector<Operation> operations;
  std::vector<Mailing> mailings;
};

struct State {
  int depth = 0;
  Pending pending;
};

State& state() {
  thread_local State own;
  return own;
}

void flush() {
  const Pending all = std::exchange(state().pending, {});
  for (Communicator* rank : all.ranks) rank->meet();
  for (const Operation& one : all.operations)
    one.communicator->run(one.kernel, one.blocks, one.job, one.stream);
  for (const Mailing& mailing : all.mailings)
    mailing.communicator->exchange(mailing.messages, mailing.stream);
}

void flush_unless_grouped() {
  if (state().depth == 0) flush();
}

}  // namespace

void start_group() { ++state().depth; }

void end_group() {
  if (state().depth == 0) throw Error(Failure::kNotSupported, "ncclGroupEnd without ncclGroupStart");
  --state().depth;
  flush_unless_grouped();
}

void add_rank(Communicator& communicator) {
  state().pending.ranks.push_back(&communicator);
  flush_unless_grouped();
}

void add_operation(Communicator& communicator, const std::string& kernel, unsigned blocks, const Job& job,
                   Stream stream) {
  state().pending.operations.push_back({&communicator, kernel, blocks, job, stream});
  flush_unless_grouped();
}

void add_message(Communicator& communicator, const Communicator::Message& message, Stream stream) {
  auto& mailings = state().pending.mailings;
  const auto same = std::find_if(mailings.begin(), mailings.end(), [&](const Mailing& mailing) {
    return mailing.communicator == &communicator && mailing.stream == stream;
  });
  if (same == mailings.end()) {
    mailings.push_back({&communicator, stream, {message}});
  } else {
    same->messages.push_back(message);
  }
  flush_unless_grouped();
}

Group::~Group() {
  if (!open_) return;
  --state().depth;
  if (state().depth == 0) state().pending = {};
}

}  // namespace lockstep::libraries::nccl
