// The GMMU of managed memory as a part of the machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/copy_engine.hpp"
#include "core/directory_link.hpp"
#include "icnt/fabric.hpp"
#include "sim/domain.hpp"
#include "sim/inbox.hpp"
#include "uvm/gmmu.hpp"

namespace lockstep::core {

/// Domain in core cycles. Misses of the SMs' TLBs arrive uvm.request_latency after they happened; replies and
/// shootdowns reach the SMs uvm.reply_latency later. A shootdown goes to every SM. The host's commands come
/// as fast as its copies (host.*).
class GmmuDomain final : public sim::Domain {
 public:
  /// `frames`: pages of device memory for managed data, until a notice says more. `copies` is driven by this
  /// domain: it shares the host link (uvm.shares_link), is where lines of pages on the host come from the
  /// crossbar and go to it, and moves the lines of migrations (uvm.through_l2). `directory`: where it is one
  /// of several `devices`.
  GmmuDomain(const config::GpuConfig& config, icnt::Fabric& fabric, const uvm::AddressSpace& managed,
             std::uint64_t frames, CopyEngine& copies, const DirectoryLink& directory = {},
             std::size_t devices = 1);

  [[nodiscard]] Cycle advance(Cycle from, Cycle to) override;
  void settle(Cycle) override {}
  void dump(std::string& out) const override;
  [[nodiscard]] bool quiescent() const {
    return requests_.size() == 0 && commands_.size() == 0 && directory_commands_.size() == 0 && gmmu_.idle();
  }

  // Between windows.
  /// The address space has grown.
  void grow() { gmmu_.memory().grow(); }
  [[nodiscard]] const uvm::Counters& counters() { return gmmu_.counters(); }
  /// Grows while faults are served.
  [[nodiscard]] std::uint64_t activity() {
    return counters().transfers + counters().write_backs + counters().batches +
           counters().fault_handling_cycles;
  }
  [[nodiscard]] const std::vector<uvm::AllocationCounters>& by_allocation() {
    return gmmu_.memory().log().by_allocation();
  }
  /// What came from other devices and went there; none with one device.
  [[nodiscard]] std::vector<uvm::PeerPages> peers() {
    const uvm::DirectoryClient* client = gmmu_.memory().directory();
    return client ? client->peers() : std::vector<uvm::PeerPages>();
  }
  /// The end of something under way is known: the handling of a fault, a transfer, the driver's work.
  [[nodiscard]] bool end_is_known() const { return gmmu_.next() != kNever; }
  [[nodiscard]] std::uint64_t frames() { return gmmu_.memory().frames().all(); }
  /// Frames that hold pages or wait for them.
  [[nodiscard]] std::uint64_t frames_used() {
    return gmmu_.memory().frames().all() - gmmu_.memory().frames().free();
  }
  void record(std::vector<uvm::Event>* events) { gmmu_.memory().log().record(events); }
  [[nodiscard]] const uvm::PageTable& table() { return gmmu_.memory().table(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(fabric_), a.given(managed_), a.given(copies_), link_, a.given(shares_link_),
              a.given(exits_wait_), link_busy_, a.given(sms_), remote_lines_, a.given(reply_latency_),
              a.given(done_latency_), requests_, commands_, a.given(directory_), directory_commands_, gmmu_);
  }

 private:
  void tick(Cycle now);
  void move_lines(Cycle now);
  void receive(std::uint32_t sm, const icnt::TranslationRequest& request, Cycle now);
  void receive_remote();
  void reply_remote(const uvm::AccessReply& reply);
  void send_replies(Cycle now);
  void tell_link(Cycle now);

  icnt::Fabric* fabric_;
  const uvm::AddressSpace* managed_;
  CopyEngine* copies_;
  uvm::HostLink link_;
  bool shares_link_, exits_wait_;
  bool link_busy_ = false;  // as the SMs know it
  std::uint32_t sms_;
  std::vector<std::vector<icnt::Reply>> remote_lines_;  // asked for last, by SM and its token
  Cycle reply_latency_;
  Cycle done_latency_;
  sim::Inbox<icnt::TranslationRequest> requests_;
  sim::Inbox<uvm::ManagedCommand> commands_;
  DirectoryLink directory_;
  sim::Inbox<uvm::DirectoryCommand> directory_commands_;
  uvm::Gmmu gmmu_;
};

}  // namespace lockstep::core
