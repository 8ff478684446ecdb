// The side of a NIC that serves requests of other NICs to its devices' memory.
#pragma once

#include <cstdint>
#include <vector>

#include "net/nic_port.hpp"
#include "util/request_table.hpp"

namespace lockstep::net {

/// Requests go to their device after a time, in the order in which they came. A request that must come after
/// its operation's data waits until the device has acknowledged these. The requesting NICs bound the number
/// of outstanding requests.
class Target {
 public:
  struct Counters {
    std::uint64_t reads = 0, writes = 0, atomics = 0;
  };

  /// `process`: cycles of that time. `nodes`: of the system. `operations`: of each NIC. `mark`: set in the
  /// tags of its requests.
  Target(NicPort& port, Cycle process, std::uint32_t nodes, std::uint32_t operations, std::uint32_t mark);

  void accept(Cycle now, const link::Message& request) { arrived_.push({now + process_, request}); }
  /// Passes on the requests that are due.
  void tick(Cycle now);
  /// The reply of a device to a request with the mark.
  void replied(const link::Message& reply);
  [[nodiscard]] Cycle next_event() const { return arrived_.empty() ? kNever : arrived_.front().due; }
  [[nodiscard]] bool idle() const { return arrived_.empty() && served_.used() == 0; }
  [[nodiscard]] std::size_t under_way() const { return arrived_.size() + served_.used(); }
  [[nodiscard]] const Counters& counters() const { return counters_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(port_), a.given(process_), a.given(operations_), a.given(mark_), arrived_,
              served_, writes_, held_, counters_);
  }

 private:
  struct alignas(64) Arrived {  // a cache line
    Cycle due = 0;
    link::Message request;
  };
  /// What is remembered of a request until its reply: many wait at once, so no more than that.
  struct Served {
    std::uint32_t tag = 0;  // the requesting NIC's
    std::uint16_t from = 0, operation = 0;
    SectorMask missing = 0;
  };
  void pass(const link::Message& request);
  [[nodiscard]] std::uint32_t& writes_of(std::uint16_t from, std::uint16_t operation) {
    return writes_[from * operations_ + operation];
  }
  [[nodiscard]] std::uint32_t& writes_of(const link::Message& request) {
    return writes_of(request.from, request.operation);
  }
  void release(std::uint16_t from, std::uint16_t operation);

  NicPort* port_;
  Cycle process_;
  std::uint32_t operations_, mark_;
  Ring<Arrived> arrived_;
  RequestTable<Served> served_;
  std::vector<std::uint32_t> writes_;  // by NIC and operation: not acknowledged
  std::vector<link::Message> held_;    // until their operation's writes are
  Counters counters_;
};

}  // namespace lockstep::net
