// Operations that are enqueued together: those between ncclGroupStart() and ncclGroupEnd() of a host thread,
// or one.
#pragma once

#include <string>

#include "libraries/nccl/communicator.hpp"

namespace lockstep::libraries::nccl {

void start_group();
/// Throws Error where no group was started, or where one of its operations cannot be enqueued.
void end_group();

/// What is done at once, or at the end of the group where there is one.
void add_rank(Communicator& communicator);
void add_operation(Communicator& communicator, const std::string& kernel, unsigned blocks, const Job& job,
                   Stream stream);
void add_message(Communicator& communicator, const Communicator::Message& message, Stream stream);

/// A group until the end of the scope, unless an exception leaves it; done() ends it.
class Group {
 public:
  Group() { start_group(); }
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  void done() {
    open_ = false;
    end_group();
  }

 private:
  bool open_ = true;
};

}  // namespace lockstep::libraries::nccl
