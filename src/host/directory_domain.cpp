#include "host/directory_domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace lockstep::host {

DirectoryDomain::DirectoryDomain(const core::DirectoryRequests& requests, core::DirectoryCommands& commands,
                                 std::vector<DirectoryWay> ways, std::vector<std::uint64_t> reach, Cycle span)
    : requests_(&requests),
      commands_(&commands),
      ways_(std::move(ways)),
      inbox_(span),
      directory_(std::move(reach)) {}

Cycle DirectoryDomain::advance(Cycle from, Cycle to) {
  inbox_.gather(*requests_, 0, from);
  for (Cycle now = std::max(from, inbox_.next_arrival()); now < to; now = inbox_.next_arrival()) {
    inbox_.drain(now, [&](std::uint32_t source, const uvm::DirectoryRequest& request) {
      directory_.receive(static_cast<std::uint16_t>(source / 2), request);
    });
    for (const uvm::Directory::Output& output : directory_.output()) {
      const DirectoryWay& way = ways_[output.device * 2u + (output.port ? 1 : 0)];
      commands_->send(0, way.destination, way.to_receiver.ceil(now + way.latency), output.command);
    }
    directory_.clear_output();
  }
  return std::max(to, inbox_.next_arrival());
}

void DirectoryDomain::dump(std::string& out) const {
  fmt::format_to(std::back_inserter(out), "directory of managed pages: {} acquisitions are not complete\n",
                 directory_.acquisitions());
}

}  // namespace lockstep::host
