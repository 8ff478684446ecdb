// The directory of managed pages as a part of the machine: the driver on the host.
#pragma once

#include <string>
#include <vector>

#include "core/directory_link.hpp"
#include "sim/domain.hpp"
#include "sim/inbox.hpp"
#include "uvm/directory.hpp"

namespace lockstep::host {

/// Where a command goes, in the network of directory commands.
struct DirectoryWay {
  std::uint32_t destination = 0;
  Cycle latency = 1;  // in the directory's cycles
  sim::ClockRatio to_receiver;
};

/// Domain in the core clock of device 0. What devices say takes host.data_latency_ps to it, and what it
/// commands host.command_latency_ps: as the host's commands and their completion.
class DirectoryDomain final : public sim::Domain {
 public:
  /// GMMUs are the sources 0, 2, 4 ... of `requests`, peer ports 1, 3, 5 ...; `ways` likewise. `reach`: see
  /// uvm::Directory. `span`: cycles that a request may be ahead.
  DirectoryDomain(const core::DirectoryRequests& requests, core::DirectoryCommands& commands,
                  std::vector<DirectoryWay> ways, std::vector<std::uint64_t> reach, Cycle span);

  [[nodiscard]] Cycle advance(Cycle from, Cycle to) override;
  void settle(Cycle) override {}
  void dump(std::string& out) const override;
  [[nodiscard]] bool quiescent() const { return inbox_.size() == 0 && directory_.idle(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(requests_), a.given(commands_), a.given(ways_), inbox_, directory_);
  }

 private:
  const core::DirectoryRequests* requests_;
  core::DirectoryCommands* commands_;
  std::vector<DirectoryWay> ways_;
  sim::Inbox<uvm::DirectoryRequest> inbox_;
  uvm::Directory directory_;
};

}  // namespace lockstep::host
