// What a part of a NIC sends, without the time that links take, and replies to it in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "net/nic_port.hpp"
#include "tests/random.hpp"
#include "util/bits.hpp"

namespace lockstep::test {

class PortBench {
 public:
  /// Of the NIC with number `node` in a system of `nodes`.
  PortBench(std::uint16_t node, std::uint32_t nodes) : port(wiring(node, nodes)) {}
  PortBench(const PortBench&) = delete;
  PortBench& operator=(const PortBench&) = delete;

  /// Takes what has been sent up to `now`.
  [[nodiscard]] std::vector<link::Message> sent(Cycle now) {
    std::vector<link::Message> all;
    port.links().tick(now);
    std::vector<Time> next(2);
    network_.flip(std::vector<sim::DomainId>{0}, now + 1, next);
    network_.collect(0, [&](std::uint32_t, Cycle, const link::Message& m) { all.push_back(m); });
    return all;
  }

 private:
  link::Network network_{"link", {0}, {1}};

 public:
  net::NicPort port;

 private:
  [[nodiscard]] link::EndpointWiring wiring(std::uint16_t node, std::uint32_t nodes) {
    link::WireSpec spec;
    spec.bytes_per_second = std::uint64_t{1} << 40;  // a GB each cycle
    link::EndpointWiring all;
    all.incoming.networks.push_back({&network_, node});
    all.node = node;
    all.wires.emplace_back(network_, 0, 0, 2, spec);
    all.framing.emplace_back(link::kIdeal, link::FramingBytes{});
    all.wire_to.assign(nodes, 0);
    return all;
  }
};

/// Requests that have no reply yet. Replies come in any order, to reads in any parts.
class Pending {
 public:
  explicit Pending(std::uint32_t seed) : random_(seed) {}
  void add(const link::Message& request) { all_.push_back({request, request.access.sectors}); }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] const link::Message& request(std::size_t i) const { return all_[i].request; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

  /// f(request, reply) for some reply; f is called before its request is taken away with the last one.
  template <class F>
  void reply_to_one(F&& f) {
    const std::size_t i = random_() % all_.size();
    One& one = all_[i];
    link::Message reply;
    reply.access = one.request.access;
    reply.is_reply = true;
    if (icnt::is_read(reply.access.kind)) {
      SectorMask part = 0;
      while (part == 0) part = static_cast<SectorMask>(random_() & one.missing);
      reply.access.sectors = part;
      one.missing = static_cast<SectorMask>(one.missing & ~part);
    } else {
      one.missing = 0;
    }
    const link::Message request = one.request;
    if (one.missing == 0) all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
    f(request, reply);
  }
  /// Number of different tags but for their last bit: those of a NIC's accesses.
  [[nodiscard]] std::size_t accesses() const {
    std::vector<std::uint32_t> tags;
    for (const One& one : all_) tags.push_back(one.request.access.tag >> 1);
    std::ranges::sort(tags);
    return static_cast<std::size_t>(std::unique(tags.begin(), tags.end()) - tags.begin());
  }

 private:
  struct One {
    link::Message request;
    SectorMask missing = 0;
  };
  Random32 random_;
  std::vector<One> all_;
};

}  // namespace lockstep::test
