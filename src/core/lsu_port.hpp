// The SM's port into the crossbar: requests out, with their books, and replies in.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"
#include "icnt/entry_log.hpp"
#include "icnt/fabric.hpp"
#include "mem/address_map.hpp"
#include "stats/counters.hpp"
#include "trace/net_operation.hpp"
#include "util/bits.hpp"

namespace lockstep::core {

class LsuPort {
 public:
  LsuPort(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map, std::uint32_t sm)
      : map_(&map),
        half_(map.half_of_sm(sm)),
        reply_to_(fabric.reply_to_sm(sm)),
        out_bytes_(config.icnt.sm_out_bytes),
        in_bytes_(config.icnt.sm_in_bytes),
        out_(*fabric.request, *fabric.request_credit, sm, fabric.sm_request_port()),
        in_(*fabric.reply, *fabric.reply_credit, sm, fabric.sm_reply_eject()),
        kernels_(std::bit_ceil(out_.room())),
        peer_stores_(config.launch.max_kernels),
        counters_(config.launch.max_kernels) {}

  /// Start of a window.
  void gather(Cycle from) {
    out_.gather(from);
    in_.gather(from);
  }

  [[nodiscard]] bool full() const { return out_.full(); }

  /// Whether the line is another device's, which the L2 does not keep.
  [[nodiscard]] bool is_peers(Address line) const { return map_->is_peer_port(map_->port(line, half_)); }

  /// Precondition: not full. The reply address is filled in here.
  void send(Cycle now, icnt::Request& request) {
    request.reply_to = reply_to_;
    if (icnt::carries_data(request.kind) && map_->near_queues(request.line) && rings(now, request))
      return put_out(now, map_->peer_port(request.line), request);
    push(now, map_->port(request.line, half_), request);
  }
  /// Sends a request for a managed page that is elsewhere, with its reply address: through its slice to the
  /// host, or to the peer port, to which the reply comes.
  void send_remote(Cycle now, const icnt::Request& request) {
    const bool to_peer = request.reply_to == reply_to_;
    push(now, to_peer ? map_->peer_port(request.line) : map_->port(request.line, half_), request);
  }

  /// Sends what may leave. A message's wait for a credit is booked to the kernel of the first one that
  /// leaves.
  void tick(Cycle now) {
    if (queued_ == 0) return;
    const std::uint32_t room = out_.room();
    out_.tick(now);
    const std::uint32_t left = out_.room() - room;
    if (left == 0) return;
    counters_[kernels_[head_ & (kernels_.size() - 1)]].stall_cycles += out_.take_stall_cycles();
    queued_ -= left;
    head_ = queued_ == 0 ? 0 : head_ + left;
  }

  /// Takes at most one reply: accept(reply). An acknowledgement is one flit. The slice that sent it has
  /// booked it.
  template <class Accept>
  void receive(Cycle now, Accept&& accept) {
    if (in_.pending() == 0) return;
    const auto flits = [&](const icnt::Reply& r) {
      const bool data = icnt::reply_carries_data(r.kind);
      return icnt::Fabric::flits(data ? bit_count(r.sectors) : 0u, in_bytes_);
    };
    (void)in_.tick(now, true, flits, accept);
  }

  /// Data of a copy that another SM has asked for come here, too.
  void fill(Cycle now, std::uint32_t bytes) { in_.occupy(now, (bytes + in_bytes_ - 1) / in_bytes_); }

  [[nodiscard]] Cycle next_event(Cycle now) const {
    return std::min(out_.next_event(now), in_.next_event(now, true));
  }
  /// Nothing to send and nothing on its way here.
  [[nodiscard]] bool idle() const { return queued_ == 0 && in_.pending() == 0; }
  [[nodiscard]] std::uint64_t credits_missing() const { return out_.credits_missing(); }
  /// A warp that has waited for signals of `word` goes on.
  void note_found(Cycle now, Address word, std::uint32_t signals) {
    if (word % trace::kNetEntryBytes == 0 && map_->near_queues(word) &&
        map_->doorbell(line_of(word)) != mem::Apertures::kNoDoorbell)
      entries_.find(now, word, signals);
  }
  [[nodiscard]] const icnt::EntryLog& entries() const { return entries_; }
  [[nodiscard]] std::uint32_t queued() const { return queued_; }
  [[nodiscard]] stats::IcntCounters& counters(std::uint8_t kernel) { return counters_[kernel]; }
  /// A kernel's first CTA arrives in this SM.
  void begin_kernel(std::uint8_t kernel) { peer_stores_[kernel] = false; }
  /// Whether the kernel has written to another device's memory from this SM.
  [[nodiscard]] bool stored_to_peer(std::uint8_t kernel) const { return peer_stores_[kernel] != 0; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(map_), a.given(half_), a.given(reply_to_), a.given(out_bytes_),
              a.given(in_bytes_), out_, in_, kernels_, head_, queued_, peer_stores_, counters_, entries_);
  }

 private:
  /// Where the line has entries of a queue: a write of the status word, the first of the 64 bytes, of one.
  [[nodiscard]] static bool writes_status(const icnt::Request& r) {
    static_assert(trace::kNetEntryBytes == 2 * kSectorBytes);
    return r.signals && ((r.bytes[0] | r.bytes[2]) & 0xf) != 0;
  }
  /// A write near queues. Whether it is to the status word of an entry whose doorbell a NIC has.
  [[nodiscard]] bool rings(Cycle now, icnt::Request& request) {
    const std::uint16_t doorbell = map_->doorbell(request.line);
    if (doorbell == mem::Apertures::kNoDoorbell) return false;
    request.entry_status = writes_status(request);
    entries_.store(now, icnt::entry_of(request), request.entry_status);
    const bool locks = request.entry_status || map_->locking().fields;
    if (doorbell == mem::Apertures::kLocks && locks) request.lock = icnt::LineLock::kControl;
    if (!request.entry_status) return false;
    return mem::Apertures::is_nic(doorbell);
  }
  void push(Cycle now, std::uint32_t to, const icnt::Request& request) {
    if (map_->is_peer_port(to) && icnt::carries_data(request.kind)) peer_stores_[request.kernel] = true;
    put_out(now, to, request);
  }
  void put_out(Cycle now, std::uint32_t to, const icnt::Request& request) {
    const auto data = icnt::carries_data(request.kind) ? bit_count(request.sectors) : 0u;
    const std::uint32_t flits = icnt::Fabric::flits(data, out_bytes_);
    ++counters_[request.kernel].requests;
    counters_[request.kernel].flits += flits;
    kernels_[(head_ + queued_++) & (kernels_.size() - 1)] = request.kernel;
    out_.push(now, to, flits, request);
  }

  const mem::AddressMap* map_;
  std::uint32_t half_;
  std::uint16_t reply_to_;
  std::uint32_t out_bytes_, in_bytes_;
  icnt::InjectionPort<icnt::Request> out_;
  icnt::EjectionPort<icnt::Reply> in_;
  std::vector<std::uint8_t> kernels_;  // of the messages queued, a ring
  std::uint32_t head_ = 0, queued_ = 0;
  std::vector<std::uint8_t> peer_stores_;  // by kernel
  std::vector<stats::IcntCounters> counters_;
  icnt::EntryLog entries_;
};

}  // namespace lockstep::core
