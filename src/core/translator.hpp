// Translation in an SM: its TLB, accesses that wait for a reply of the GMMU, and those that try again.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/known_blocks.hpp"
#include "core/lsu_access.hpp"
#include "icnt/fabric.hpp"
#include "sim/inbox.hpp"
#include "uvm/address_space.hpp"
#include "uvm/counters.hpp"
#include "uvm/tlb.hpp"

namespace lockstep::core {

/// Part of an SM. Managed addresses are looked up in the SM's TLB, in the cycle of the L1 tags. A miss is
/// parked and requested from the GMMU, and the load/store unit continues: any number of hits under misses.
/// Parked lines try again, one per cycle, when the load/store unit has no operation; they do not access the
/// TLB again, so they succeed whatever has happened to the page since. A shootdown is processed after the
/// replies that came before it: the TLB drops its entries, and when no fill of the pages is under way the L1
/// drops their lines and the SM acknowledges (not with uvm.early_reuse).
///
/// Other device memory is always there. With tlb.miss_latency the SM's first line of a block of 2 MB, and all
/// of the block until then, wait that long. The GPU's TLBs, which the SMs share, are not modelled: SMs of one
/// kernel come to a block at about the same time. Source: figure 3.2 of Jia et al. 2018,
/// "Dissecting the NVIDIA Volta GPU architecture via microbenchmarking", as public summaries give it.
class Translator {
 public:
  /// `managed`: nullptr without managed memory.
  Translator(const config::GpuConfig& config, icnt::Fabric& fabric, const uvm::AddressSpace* managed,
             std::uint32_t sm);

  /// Start of a window: takes the mail.
  void gather(Cycle from) {
    if (managed_) replies_.gather(*fabric_->translation_reply, sm_, from);
  }

  /// For unmanaged memory: whether its translation is present, or none is needed.
  [[nodiscard]] bool knows(Address line) {
    return miss_latency_ == 0 || blocks_.has(KnownBlocks::block_of(line));
  }
  /// It does from now on. Between windows.
  void learn(Address line) {
    if (miss_latency_ > 0) blocks_.add(KnownBlocks::block_of(line));
  }
  /// Whether all memory is such.
  [[nodiscard]] bool manages_nothing() const { return managed_ == nullptr; }
  /// False: an address that the TLB does not know; to be parked.
  [[nodiscard]] bool translate(Cycle now, Address line, bool write) {
    if (!managed_ || managed_->empty()) return knows(line);
    const uvm::Allocation* a = last_;
    if (line - a->base >= a->bytes) {
      a = managed_->find(line);
      if (!a) return knows(line);
      last_ = a;
    }
    return look_up(now, managed_->place_in(*a, line), write);
  }
  /// Whether it is managed memory's.
  bool park(Cycle now, const ParkedLine& line);
  /// Blocks of device memory that is not managed.
  void forget_blocks() { blocks_.clear(); }

  /// Whether there may be something to receive or to do.
  [[nodiscard]] bool attentive() const { return managed_ != nullptr || waiting_ > 0; }
  /// Replies and shootdowns that have arrived by `now`.
  void receive(Cycle now);
  /// Work that is next in turn: a line to try again, or a shootdown.
  [[nodiscard]] bool has_work() const { return !work_.empty(); }
  [[nodiscard]] bool next_is_line() const { return work_.front().kind == Work::Kind::kLine; }
  [[nodiscard]] const ParkedLine& line() const { return work_.front().line; }
  void line_done();
  /// Lines of pages on the host or another device, to be sent through the crossbar in this order.
  [[nodiscard]] bool has_remote() const { return !remote_.empty(); }
  [[nodiscard]] icnt::Request take_remote();
  /// Takes the first of them if it is a prefetch: the L2 keeps no such line.
  [[nodiscard]] std::optional<ParkedLine> take_prefetch();
  /// One of them has got through.
  [[nodiscard]] ParkedLine remote_done(std::uint32_t token);
  /// With uvm.blocking_misses: a miss has no reply yet, so the TLB is not looked up.
  [[nodiscard]] bool blocks() const { return blocking_ && waiting_ > 0; }
  [[nodiscard]] const icnt::TranslationReply& shootdown() const { return work_.front().shootdown; }
  /// First byte of its pages.
  [[nodiscard]] Address shootdown_base() const {
    return managed_->address({shootdown().tree, shootdown().first});
  }
  /// With uvm.exits_wait: no CTA may leave the SM now.
  [[nodiscard]] bool holds_exits() const { return link_busy_; }
  /// Whether the L1 invalidates the lines of evicted pages and the SM acknowledges.
  [[nodiscard]] bool acknowledges() const { return acknowledge_; }
  /// Acknowledges the current shootdown.
  void finish_shootdown(Cycle now);

  [[nodiscard]] Cycle next_arrival() const {
    return std::min(replies_.next_arrival(), blocks_asked_.empty() ? kNever : blocks_asked_.front().ready);
  }
  [[nodiscard]] bool quiescent() const { return waiting_ == 0 && work_.empty() && replies_.size() == 0; }
  [[nodiscard]] const uvm::TlbCounters& counters() const { return counters_; }
  void dump(std::string& out) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(fabric_), a.given(managed_), a.given(sm_), a.given(request_latency_),
              a.given(touch_interval_), a.given(shootdown_cycles_), a.given(merge_), a.given(forget_all_),
              a.given(acknowledge_), a.given(blocking_), tlb_, a.given(miss_latency_), blocks_, blocks_asked_,
              a.given(last_), replies_, waits_, free_waits_, asked_, limits_, waiting_, link_busy_, work_,
              remote_, reports_, counters_);
  }

 private:
  struct Work {
    enum class Kind : std::uint8_t { kLine, kShootdown } kind = Kind::kLine;
    ParkedLine line;
    bool managed = true;
    uvm::Place place;
    uvm::Granule granule = uvm::Granule::kPage;
    icnt::TranslationReply shootdown;
    template <class A>
    void persist(A& a) {
      a.members(*this, kind, line, managed, place, granule, shootdown);
    }
  };
  struct AskedBlock {
    Cycle ready = 0;
    std::uint64_t block = 0;
    std::vector<ParkedLine> lines;
    template <class A>
    void persist(A& a) {
      a.members(*this, ready, block, lines);
    }
  };
  struct Wait {
    uvm::Place place;
    std::vector<ParkedLine> lines;
    bool merges = false;  // asked_ leads here
    template <class A>
    void persist(A& a) {
      a.members(*this, place, lines, merges);
    }
  };
  struct Report {  // the accesses to a page that were reported last
    std::uint64_t page = ~std::uint64_t{0};
    Cycle at = 0;
    bool write = false;
  };

  /// What a TLB entry does not allow: of the page that is elsewhere, and of a store to a duplicate.
  struct Limits {
    bool remote = false, read_only = false;
    std::uint16_t place = uvm::kHostPlace;
  };

  [[nodiscard]] Limits limits_of(std::uint64_t page) const {
    if (limits_.empty()) return {};
    const auto found = limits_.find(page);
    return found == limits_.end() ? Limits{} : found->second;
  }
  void ask_block(Cycle now, const ParkedLine& line);
  void receive_blocks(Cycle now);
  void set_limits(std::uint64_t page, Limits limits);
  [[nodiscard]] std::uint32_t take_wait(uvm::Place place, const ParkedLine& line);
  void ask(Cycle now, const ParkedLine& line, uvm::Place place);
  void take_reply(Cycle now, const icnt::TranslationReply& reply);
  void add_tlb_entry(uvm::Place place, uvm::Granule granule);
  [[nodiscard]] bool look_up(Cycle now, uvm::Place place, bool write);
  void report(Cycle now, uvm::Place place, bool write);
  void forget(const icnt::TranslationReply& shootdown);
  void send(Cycle now, const icnt::TranslationRequest& request) {
    fabric_->translation_request->send(sm_, 0, now + request_latency_, request);
  }

  icnt::Fabric* fabric_;
  const uvm::AddressSpace* managed_;
  std::uint32_t sm_;
  Cycle request_latency_, touch_interval_, shootdown_cycles_;
  bool merge_, forget_all_, acknowledge_, blocking_;
  uvm::Tlb tlb_;
  Cycle miss_latency_;
  KnownBlocks blocks_;
  std::deque<AskedBlock> blocks_asked_;  // by `ready`
  const uvm::Allocation* last_;          // found last; one of no bytes before
  sim::Inbox<icnt::TranslationReply> replies_;
  std::vector<Wait> waits_;  // by token
  std::vector<std::uint32_t> free_waits_;
  std::unordered_map<std::uint64_t, std::uint32_t> asked_;  // page -> token; never walked over
  std::unordered_map<std::uint64_t, Limits> limits_;        // by page; never walked over
  std::size_t waiting_ = 0;                                 // lines
  bool link_busy_ = false;
  std::deque<Work> work_;
  std::deque<ParkedLine> remote_;
  std::vector<Report> reports_;  // by page number
  uvm::TlbCounters counters_;
};

}  // namespace lockstep::core
