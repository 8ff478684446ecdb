// All channels of a GPU and their numbering: which domain sends what to whom, and how long it takes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "icnt/cluster_messages.hpp"
#include "icnt/messages.hpp"
#include "icnt/ports.hpp"
#include "sim/engine.hpp"
#include "sim/inbox.hpp"
#include "sim/network.hpp"
#include "uvm/directory_messages.hpp"
#include "uvm/managed_command.hpp"
#include "uvm/tlb.hpp"

namespace lockstep::icnt {

/// Dispatcher -> SM: start a CTA.
struct LaunchCta {
  std::uint64_t cta = 0;      // position in the kernel
  std::uint8_t kernel = 0;    // kernel slot
  std::uint8_t carveout = 0;  // index into l1.shared_carveouts_kib, the same for all CTAs that share an SM
  ClusterPlace cluster = {};
};

/// SM -> dispatcher. kFreed: every warp has exited and its loads are back, the CTA's resources are free.
/// kDrained: its stores are acknowledged too; where the kernel has written to another device's memory from
/// this SM, sync.membar_system later: it ends with a release of system scope. Each comes once for a CTA, in
/// this order; both may have the same time.
struct CtaEvent {
  enum class Kind : std::uint8_t { kFreed, kDrained } kind = Kind::kFreed;
  std::uint8_t kernel = 0;
  std::uint64_t cta = 0;
  Cycle time = 0;  // core cycle at which it happened in the SM
};

/// Dispatcher -> copy engine and back.
struct CopyCommand {
  std::uint32_t index = 0;  // of the command in the trace
  bool to_device = true;
  Address address = 0;
  std::uint64_t bytes = 0;
  enum class Path : std::uint8_t {
    kLink,
    kFill,
    kWithin,
    kPeer
  } path = Path::kLink;  // kFill, kWithin: the device's memory only
  Address source = 0;    // kPeer: the device's own memory; `address` is another device's
};
struct CopyDone {
  std::uint32_t index = 0;
  Cycle start = 0, end = 0;  // core cycles
};

/// SM -> GMMU.
struct TranslationRequest {
  enum class Kind : std::uint8_t {
    kMiss,      // the SM's TLB does not know the page
    kAccessed,  // it does, and the page was used
    kForgotten  // reply to a shootdown
  } kind = Kind::kMiss;
  bool write = false;
  std::uint16_t page = 0;   // of its tree
  std::uint32_t token = 0;  // the SM's own; kForgotten: of the shootdown
  std::uint64_t tree = 0;
};

/// GMMU -> SM.
struct TranslationReply {
  enum class Kind : std::uint8_t {
    kResident,  // the page is on the device
    kRemote,    // it stays at `place`: each of its lines is to be requested
    kShootdown,
    kLinkBusy,  // with uvm.exits_wait: migrations are staged or under way
    kLinkIdle
  } kind = Kind::kResident;
  bool read_only = false;   // kResident: a store must request the page again
  std::uint32_t token = 0;  // of the request; kShootdown: its number
  std::uint64_t tree = 0;   // kShootdown: the pages to forget
  std::uint16_t first = 0, pages = 0;
  uvm::Granule granule = uvm::Granule::kPage;  // kResident: what a TLB entry may cover
  std::uint16_t place = uvm::kHostPlace;       // kRemote: a device, or the host
};

/// GMMU -> dispatcher: a host's command to managed memory is complete.
struct ManagedCommandDone {
  std::uint32_t index = 0;  // of the command in the trace
};

/// A device's domains: their number, and their ids in the engine. Those of the device itself are consecutive;
/// the host is a domain of its own, which drives the dispatchers of all devices.
struct Numbering {
  std::uint32_t sms = 0, partitions = 0, slices_per_partition = 1;
  std::uint32_t peer_lanes = 0;  // of the peer port, which is there where they are not 0
  std::uint32_t cores = 0;       // of the command processor
  sim::DomainId first = 0, host_id = 0;
  [[nodiscard]] std::uint32_t slices() const { return partitions * slices_per_partition; }
  [[nodiscard]] std::uint32_t domains() const { return sms + partitions + (peer_lanes > 0 ? 2 : 1) + cores; }
  [[nodiscard]] sim::DomainId sm(std::uint32_t i) const { return first + i; }
  [[nodiscard]] sim::DomainId partition(std::uint32_t i) const { return first + sms + i; }
  [[nodiscard]] sim::DomainId copy_engine() const { return first + sms + partitions; }
  [[nodiscard]] sim::DomainId peer_port() const { return first + sms + partitions + 1; }
  [[nodiscard]] sim::DomainId core(std::uint32_t i) const {
    return first + sms + partitions + (peer_lanes > 0 ? 2 : 1) + i;
  }
  [[nodiscard]] sim::DomainId dispatcher() const { return host_id; }
  /// Where there is one: one domain with the copy engine, because they share the host link.
  [[nodiscard]] sim::DomainId gmmu() const { return copy_engine(); }
};
[[nodiscard]] Numbering numbering_of(const config::GpuConfig& config, std::uint32_t peer_lanes = 0,
                                     std::uint32_t cores = 0);

/// One kind of channel, for `config --explain window`.
struct Edge {
  std::string name;
  Cycle latency = 0;   // whole core cycles, rounded down
  std::string reason;  // the hardware that it stands for
};

/// Requests: sources are SMs 0..S-1, then the copy engine (S); destinations are L2 slices
/// (partition * slices_per_partition + slice). Far requests: slice to slice, between L2 halves, on a network
/// of their own so that requests never wait for requests; far replies likewise. Replies: sources are slices;
/// destinations are SMs 0..S-1, then the copy engine (S).
///
/// Among several devices each lane of the peer port is one more source and one more destination of requests,
/// and of replies: it takes requests for other devices' memory as a slice would, and asks the slices for what
/// other devices want as an SM would. The cores of a command processor ask as SMs do; as sources of requests
/// and destinations of replies they come last.
class Fabric {
 public:
  /// `managed`: with the channels of the GMMU. The ids are 0 and up, the host's after those of the device.
  explicit Fabric(const config::GpuConfig& config, bool managed = false);
  /// `first`: of numbering_of(config, peer_lanes, cores).domains() ids for the device, `host`: that of the
  /// host.
  Fabric(const config::GpuConfig& config, sim::DomainId first, sim::DomainId host, bool managed,
         std::uint32_t peer_lanes = 0, std::uint32_t cores = 0);
  /// `here`: false: but for the host, all of its domains are those of another process.
  void register_with(sim::Engine& engine, bool here = true);

  [[nodiscard]] const Numbering& numbering() const { return numbering_; }
  [[nodiscard]] std::uint16_t reply_to_sm(std::uint32_t sm) const { return static_cast<std::uint16_t>(sm); }
  [[nodiscard]] std::uint16_t reply_to_copy_engine() const {
    return static_cast<std::uint16_t>(numbering_.sms);
  }

  /// A peer lane as a source of requests and a destination of replies, and as the other way round.
  [[nodiscard]] std::uint16_t peer_requester(std::uint32_t lane) const {
    return static_cast<std::uint16_t>(numbering_.sms + 1 + lane);
  }
  /// A core of the command processor, likewise.
  [[nodiscard]] std::uint16_t core_requester(std::uint32_t core) const {
    return static_cast<std::uint16_t>(numbering_.sms + 1 + numbering_.peer_lanes + core);
  }
  [[nodiscard]] std::uint32_t peer_responder(std::uint32_t lane) const { return numbering_.slices() + lane; }

  /// Specs of the ports; "own clock" is the core clock for SMs and the copy engine, the L2 clock for slices.
  [[nodiscard]] InjectionPort<Request>::Spec sm_request_port() const;
  [[nodiscard]] InjectionPort<Reply>::Spec slice_reply_port() const;  // to SMs and copy engine, in core edges
  [[nodiscard]] InjectionPort<Request>::Spec slice_far_port() const;
  [[nodiscard]] InjectionPort<Reply>::Spec slice_far_reply_port() const;
  [[nodiscard]] EjectionPort<Request>::Spec slice_request_eject() const;
  [[nodiscard]] EjectionPort<Request>::Spec slice_far_eject() const;
  [[nodiscard]] EjectionPort<Reply>::Spec sm_reply_eject() const;
  [[nodiscard]] EjectionPort<Reply>::Spec slice_far_reply_eject() const;

  /// Flits of a message on a link of the given width (bytes an icnt cycle): header with the first sector's
  /// data.
  [[nodiscard]] static std::uint32_t flits(unsigned sectors_of_data, std::uint32_t link_bytes) {
    const std::uint32_t bytes = sectors_of_data * kSectorBytes;
    return bytes <= link_bytes ? 1 : (bytes + link_bytes - 1) / link_bytes;
  }

  /// Has the window before left anything for the slice?
  [[nodiscard]] bool mail_for_slice(std::uint32_t slice) const {
    return request->has_mail(slice) || reply_credit->has_mail(slice) ||
           (far_request && (far_request->has_mail(slice) || far_reply->has_mail(slice) ||
                            far_request_credit->has_mail(slice) || far_reply_credit->has_mail(slice)));
  }

  /// Every channel with its latency.
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }

  /// Core cycles. What no window may be longer than, whoever is due in it: half of launch.cta_latency_ps,
  /// because a CTA is wanted at the end of the window of its dispatch and decoded in the next one;
  /// launch.done_latency_ps, which is how long ahead the dispatcher asks for a cut; what inboxes hold.
  [[nodiscard]] Cycle longest_window() const;
  static constexpr Cycle kInboxWindow = sim::kInboxWindow;

  template <class A>
  void persist(A& a) {
    a.members(*this, request, request_credit, reply, reply_credit, far_request, far_request_credit, far_reply,
              far_reply_credit, launch, cta_event, copy_command, copy_done, translation_request,
              translation_reply, managed_command, managed_done, cluster, a.given(config_),
              a.given(numbering_), a.given(edges_));
  }

  // The networks, with the credits that travel the other way.
  std::unique_ptr<sim::Network<Request>> request;
  std::unique_ptr<sim::Network<Credit>> request_credit;
  std::unique_ptr<sim::Network<Reply>> reply;
  std::unique_ptr<sim::Network<Credit>> reply_credit;
  std::unique_ptr<sim::Network<Request>> far_request;  // null with one half
  std::unique_ptr<sim::Network<Credit>> far_request_credit;
  std::unique_ptr<sim::Network<Reply>> far_reply;  // slice to slice
  std::unique_ptr<sim::Network<Credit>> far_reply_credit;
  std::unique_ptr<sim::Network<LaunchCta>> launch;                        // source 0 is the dispatcher
  std::unique_ptr<sim::Network<CtaEvent>> cta_event;                      // destination 0 is the dispatcher
  std::unique_ptr<sim::Network<CopyCommand>> copy_command;                // 0 -> 0, the peer port is 1
  std::unique_ptr<sim::Network<CopyDone>> copy_done;                      // 0 and 1 -> 0
  std::unique_ptr<sim::Network<TranslationRequest>> translation_request;  // SM -> 0; null without GMMU
  std::unique_ptr<sim::Network<TranslationReply>> translation_reply;      // 0 -> SM
  std::unique_ptr<sim::Network<uvm::ManagedCommand>> managed_command;     // 0 -> 0; null without GMMU
  std::unique_ptr<sim::Network<ManagedCommandDone>> managed_done;         // 0 -> 0
  std::unique_ptr<sim::Network<ClusterMessage>> cluster;                  // SM -> SM; null without clusters

 private:
  template <class T>
  [[nodiscard]] typename InjectionPort<T>::Spec injection(std::uint64_t own_khz, std::uint64_t receiver_khz,
                                                          Cycle latency, std::uint32_t credits) const;
  /// `sender_khz`: the clock of those that the credits go back to.
  template <class T>
  [[nodiscard]] typename EjectionPort<T>::Spec ejection(std::uint64_t own_khz, std::uint64_t sender_khz,
                                                        Cycle latency) const;
  [[nodiscard]] ChannelSpec channel(std::uint64_t own_khz, std::uint64_t receiver_khz,
                                    Cycle icnt_latency) const;
  [[nodiscard]] Cycle span_of(Cycle icnt_latency, std::uint64_t receiver_khz) const;
  /// Returns the latency, in whole core cycles.
  Cycle add_edge(const std::string& name, Cycle latency, const std::string& reason);
  [[nodiscard]] Cycle core_cycles(Cycle icnt_latency) const;

  config::GpuConfig config_;
  Numbering numbering_;
  std::vector<Edge> edges_;
};

}  // namespace lockstep::icnt
