// Accesses of the device to memory of the host, packet by packet over the host link.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "util/types.hpp"
#include "uvm/link.hpp"

namespace lockstep::uvm {

struct RemotePortSettings {
  Cycle latency = 0;                // from the end of a request's packet to the start of the reply's
  std::uint32_t header_bytes = 18;  // of each packet
  std::uint32_t outstanding = 256;  // limit on requests that wait for a reply
  std::uint64_t tree_cycles[2]{};   // time of 2 MiB in each direction: the wire's speed
};

/// An access to one line.
struct RemoteAccess {
  std::uint32_t source = 0;
  std::uint64_t token = 0;
  std::uint32_t bytes = 0;
  bool write = false;        // carries data to the host
  bool returns_data = true;  // data return: loads and atomics; a store is done when it has been sent
};

/// Each direction is a wire that sends one packet after another, in order; packets are sent between those of
/// migrations, which are delayed for as long as the packets take (taken()). A load is a
/// packet of a header, then, the latency later, header and data on the way back; a store header and data; an
/// atomic header and data both ways. Times of wires are kept in thousandths of a cycle. PCIe: tags for 256
/// requests, 1.0 to 1.6 us for a round trip, headers of 18 bytes (Min et al., "EMOGI", VLDB 2020,
/// section 3.3).
class RemotePort {
 public:
  explicit RemotePort(const RemotePortSettings& settings) : settings_(settings) {}

  void add(Cycle now, const RemoteAccess& access);
  /// Takes the first access that is done by `now`; false if there is none.
  bool pop(Cycle now, RemoteAccess& access);
  /// Earliest end, or kNever if nothing is under way.
  [[nodiscard]] Cycle next() const { return flying_.empty() ? kNever : flying_.top().done; }
  [[nodiscard]] bool idle() const { return flying_.empty(); }

  /// Cycles for which packets have occupied the direction since the last call.
  [[nodiscard]] Cycle taken(Direction direction);
  /// Bytes that crossed, headers included.
  [[nodiscard]] std::uint64_t bytes(Direction direction) const { return bytes_[index(direction)]; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(settings_), free_, taken_, bytes_, waiting_, tags_used_, flying_, order_);
  }

 private:
  struct Flight {
    Cycle done;
    std::uint64_t order;
    RemoteAccess access;
    friend bool operator>(const Flight& a, const Flight& b) {
      return a.done != b.done ? a.done > b.done : a.order > b.order;
    }
  };
  static unsigned index(Direction d) { return static_cast<unsigned>(d); }
  void start(Cycle now, const RemoteAccess& access);
  /// The end of a packet that may start at `from`, thousandths of a cycle.
  [[nodiscard]] std::uint64_t pass(Direction direction, std::uint64_t from, std::uint64_t bytes);

  RemotePortSettings settings_;
  std::uint64_t free_[2]{}, taken_[2]{};  // thousandths of a cycle
  std::uint64_t bytes_[2]{};
  std::deque<RemoteAccess> waiting_;  // for a tag
  std::uint32_t tags_used_ = 0;
  std::priority_queue<Flight, std::vector<Flight>, std::greater<>> flying_;
  std::uint64_t order_ = 0;
};

}  // namespace lockstep::uvm
