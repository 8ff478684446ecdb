// A device's port to the other devices of its system.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/directory_link.hpp"
#include "core/peer_copies.hpp"
#include "icnt/fabric.hpp"
#include "icnt/ports.hpp"
#include "link/framing.hpp"
#include "link/incoming.hpp"
#include "link/wire.hpp"
#include "mem/address_map.hpp"
#include "sim/domain.hpp"
#include "sim/inbox.hpp"
#include "stats/counter_source.hpp"
#include "util/request_table.hpp"
#include "util/ring.hpp"

namespace lockstep::core {

/// How a device is connected to the others.
struct PeerWiring {
  static constexpr std::uint32_t kNoWire = 0xffffffff;
  link::Incoming incoming;
  std::uint16_t device = 0;       // its number
  std::uint32_t devices = 0;      // of the system
  std::uint32_t first_nic = 0;    // after devices and hosts; equals the number of devices without networking
  std::uint32_t cores = 0;        // of its command processor
  std::vector<link::Wire> wires;  // that it sends on, two queues each
  std::vector<link::Framing> framing;  // of each wire
  std::vector<std::uint32_t> wire_to;  // by endpoint: index of the wire, kNoWire where none leads there
  /// A switch that multicasts, and that the device has a link to.
  struct Multicast {
    std::uint16_t number = 0;   // of the switch
    std::uint32_t wire = 0;     // to it
    std::uint64_t devices = 0;  // that it has links to, bit d is device d
  };
  std::vector<Multicast> multicast;
  Cycle span = 64;                            // cycles that a message may be ahead
  std::uint32_t lanes = 1, lane_bytes = 128;  // ports into the crossbar, and what each takes in an icnt cycle
  std::uint32_t accesses = 4096;              // to other devices under way at most
  std::uint32_t copy_lines = 8192;            // of one copy under way at most
  DirectoryLink directory;                    // with managed memory
};

/// Domain in core cycles; the part that takes requests from the crossbar works at the edges of the L2 clock.
///
/// Outward: takes requests of this device's SMs for lines of other devices, as their slice would, keeps them
/// in a table, sends them over the wire that leads there and hands the replies back. Inward: asks the slices
/// of this device for what others want, as an SM would, and sends the replies. Requests and replies have a
/// queue each on every wire, and a reply never waits for a request: there is no cyclic wait. Lines of
/// multicast memory go to a switch that multicasts, of several by their addresses in turn. Copies:
/// PeerCopies.
///
/// Queues on a host are its memory, and accessed as another device's. For a NIC's own queue the store to the
/// status word is posted to the NIC: it is acknowledged when it has left the crossbar.
///
/// Managed pages: the directory orders copies of pages that migrate; SMs send lines of pages that another
/// device has, as they would to the host, with the device from the GMMU's reply (icnt::remote_tag).
///
/// Requests of others are booked to the kernel slot `kernel`, beyond those of the dispatcher.
class PeerPort final : public sim::Domain, public stats::CounterSource {
 public:
  PeerPort(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map,
           std::uint8_t kernel, PeerWiring wiring);

  [[nodiscard]] Cycle advance(Cycle from, Cycle to) override;
  void settle(Cycle) override {}
  void dump(std::string& out) const override;
  void take_counters(std::uint8_t kernel, stats::KernelCounters& total) override;
  [[nodiscard]] bool quiescent() const override;

  [[nodiscard]] const std::vector<link::Wire>& wires() const { return wiring_.wires; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(fabric_), a.given(map_), a.given(wiring_), a.given(kernel_),
              a.given(command_cycles_), a.given(data_cycles_), a.given(core_to_l2_), a.given(l2_to_core_),
              commands_, orders_, inbox_, lanes_, asked_, served_, copy_lines_asked_, copies_, counters_);
    a(wiring_.wires);
  }

 private:
  enum Queue : unsigned { kRequests, kReplies };
  // Of requests under way no more is remembered than their replies need: there are many at once.
  /// A request from this device to another one.
  struct Asked {
    Address line = 0;
    std::uint32_t tag = 0;       // the requester's
    std::uint16_t reply_to = 0;  // likewise
    std::uint16_t to = 0;
    icnt::AccessKind kind = icnt::AccessKind::kLoad;
    SectorMask missing = 0;
    std::uint8_t kernel = 0;
    bool copy = false;       // PeerCopies wants it
    SectorMask managed = 0;  // of a managed page: all its sectors, which the SM gets together
  };
  [[nodiscard]] static Asked asked_of(const icnt::Request& r, std::uint16_t to) {
    return {r.line, r.tag, r.reply_to, to, r.kind, r.sectors, r.kernel};
  }
  /// A request to this device's slices, from another device or for a line of a copy to it.
  struct Served {
    Address destination = 0;   // of a copy: the line there
    std::uint32_t tag = 0;     // the other device's
    std::uint16_t device = 0;  // that has asked, or gets the copy
    std::uint16_t via = 0;     // of a multicast: as the request says
    SectorMask sectors = 0, missing = 0;
    bool copy = false, multicast = false;
  };
  struct Reply {
    std::uint16_t to = 0;  // in the reply network
    icnt::Reply reply;
  };
  struct Lane {
    Lane(icnt::Fabric& fabric, std::uint32_t lane);
    icnt::EjectionPort<icnt::Request> asked;         // L2 edges
    icnt::InjectionPort<icnt::Reply> replies;        // L2 edges
    icnt::InjectionPort<icnt::Request> served;       // core edges
    icnt::EjectionPort<icnt::Reply> remote_replies;  // core edges
    Ring<icnt::Request> to_serve;
    Ring<Reply> to_reply;
    Cycle due = 0;  // core edge before which nothing happens here
    void serve(Cycle now, const icnt::Request& request) {
      to_serve.push(request);
      due = std::min(due, now);
    }
    void reply(Cycle now, const Reply& one) {
      to_reply.push(one);
      due = std::min(due, now);
    }
    template <class A>
    void persist(A& a) {
      a.members(*this, asked, replies, served, remote_replies, to_serve, to_reply, due);
    }
  };

  void tick(Cycle now);
  void take_commands(Cycle now);
  void take_messages(Cycle now);
  void take_reply(Cycle now, const icnt::Request& reply);
  void exchange_with_sms(Lane& lane, Cycle edge, Cycle now);
  void exchange_with_slices(Lane& lane, Cycle now);
  void accept(Cycle now, const icnt::Request& request);
  void ask_all(const icnt::Request& request);
  void ring(Cycle now, const icnt::Request& request);
  [[nodiscard]] const PeerWiring::Multicast& multicast_switch(std::uint64_t devices, Address line) const;
  void send_reply(const Served& served, const icnt::Reply& reply);
  void accept_managed(const icnt::Request& request);
  void copied(const PeerCopies::Done& done, Cycle now);
  void accept_local(const icnt::Reply& reply);
  void read_for_copies(Cycle now);
  [[nodiscard]] bool may_read() const;
  void ask(const Asked& asked, const icnt::Request& request);
  void send(std::uint16_t to, Queue queue, link::Message message);
  [[nodiscard]] Cycle next_of(const Lane& lane, Cycle now) const;
  [[nodiscard]] Cycle next_event(Cycle now) const;
  [[nodiscard]] std::uint32_t flits(unsigned sectors) const {
    return icnt::Fabric::flits(sectors, wiring_.lane_bytes);
  }
  [[nodiscard]] bool may_ask() const { return asked_.used() < wiring_.accesses + copy_lines_asked_; }

  icnt::Fabric* fabric_;
  const mem::AddressMap* map_;
  PeerWiring wiring_;
  std::uint8_t kernel_;
  Cycle command_cycles_, data_cycles_;
  sim::ClockRatio core_to_l2_, l2_to_core_;
  sim::Inbox<icnt::CopyCommand> commands_;
  sim::Inbox<uvm::DirectoryCommand> orders_;
  sim::Inbox<link::Message> inbox_;
  std::vector<Lane> lanes_;
  RequestTable<Asked> asked_;
  RequestTable<Served> served_;
  std::size_t copy_lines_asked_ = 0;  // of asked_, those of copies
  PeerCopies copies_;
  std::vector<stats::IcntCounters> counters_;  // by kernel slot
};

}  // namespace lockstep::core
