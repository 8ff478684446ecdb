// Several sources and destinations with their ports, and the same crossbar written a second time: in absolute
// time, one step after another, without inboxes, windows, clock ratios or sleep.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "icnt/ports.hpp"

namespace lockstep::icnt::test {

struct Packet {
  std::uint32_t id = 0, flits = 1;
};

struct Arrival {
  Cycle edge = 0;  // of the destination's clock
  std::uint32_t destination = 0, source = 0, id = 0;
  bool operator==(const Arrival&) const = default;
};

/// What the machine is, and what it is asked to carry.
struct Crossbar {
  std::uint64_t source_khz = 1, sink_khz = 1, icnt_khz = 1;
  std::uint32_t sources = 1, sinks = 1, credits = 8, capacity = 8;
  Cycle latency = 20;
};
/// Asked at each own edge of a source: the next message, or nothing (flits = 0).
struct Offer {
  std::uint32_t destination = 0, flits = 0;
};
using Traffic = std::function<Offer(std::uint32_t source, Cycle edge)>;
using Readiness = std::function<bool(std::uint32_t sink, Cycle edge)>;

struct Outcome {
  std::vector<Arrival> arrivals;       // by edge, then destination
  std::vector<std::uint64_t> stalls;   // by source
  std::vector<std::uint64_t> flits;    // by source
  std::vector<std::uint64_t> refused;  // by source: wishes that met a full port
  std::uint64_t credits_out = 0;       // at the end
};

/// The ports of lockstep, in windows of `window` source edges; with `sleep` a port is looked at only when its
/// next_event() says so or something is pushed.
[[nodiscard]] Outcome run_ports(const Crossbar& x, Cycle cycles, const Traffic& traffic, Cycle window,
                                bool sleep, const Readiness& ready);

/// The second implementation.
[[nodiscard]] Outcome run_reference(const Crossbar& x, Cycle cycles, const Traffic& traffic,
                                    const Readiness& ready);

/// Random bits of a place and a time, the same in every run.
[[nodiscard]] std::uint32_t mixed(std::uint32_t seed, std::uint32_t place, Cycle edge);

inline bool always(std::uint32_t, Cycle) { return true; }

/// Messages that `source` brought to `sink` from sink edge `from` on.
[[nodiscard]] inline std::uint64_t brought(const Outcome& o, std::uint32_t source, std::uint32_t sink,
                                           Cycle from = 0) {
  std::uint64_t n = 0;
  for (const Arrival& a : o.arrivals) n += a.source == source && a.destination == sink && a.edge >= from;
  return n;
}

}  // namespace lockstep::icnt::test
