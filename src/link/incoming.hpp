// What arrives at an end of links.
#pragma once

#include <cstdint>
#include <vector>

#include "link/message.hpp"
#include "sim/inbox.hpp"

namespace lockstep::link {

/// The networks that carry messages to a node, and its number in each. The numbers of their sources (those of
/// the links' directions) are different.
struct Incoming {
  struct From {
    const Network* network = nullptr;
    std::uint32_t destination = 0;
  };
  std::vector<From> networks;

  void gather(sim::Inbox<Message>& inbox, Cycle from) const {
    for (const From& f : networks) inbox.gather(*f.network, f.destination, from);
  }
};

}  // namespace lockstep::link
