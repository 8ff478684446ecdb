// Copies between host and device memory over the host link.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/device_copies.hpp"
#include "icnt/fabric.hpp"
#include "icnt/ports.hpp"
#include "mem/address_map.hpp"
#include "sim/clock.hpp"
#include "sim/domain.hpp"
#include "sim/inbox.hpp"
#include "stats/counter_source.hpp"
#include "uvm/host_link.hpp"

namespace lockstep::core {

/// Domain in core cycles.
///
/// The link moves host.bytes_per_second in each direction, one transfer at a time; byte b of a transfer has
/// crossed it ceil(b * core clock / bytes_per_second) cycles after the start. With host.warms_l2 every line
/// goes through the crossbar to its L2 slice as it comes off the link (or is requested at that pace), and the
/// transfer ends when the last reply has arrived. The link works in pages of host.page_bytes: two may be
/// open, so the third waits until all replies of the first are back. The end is reported host.data_latency_ps
/// later.
///
/// Fills and copies within device memory do not use the link: DeviceCopies.
///
/// With managed memory the GMMU's domain owns it, drives it and has it move the lines of migrations too. Who
/// may use the link is up to uvm::HostLink.
class CopyEngine final : public sim::Domain, public stats::CounterSource {
 public:
  /// `kernel`: the slot to which its requests are booked, beyond those of the dispatcher.
  CopyEngine(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map,
             std::uint8_t kernel);

  [[nodiscard]] Cycle advance(Cycle from, Cycle to) override;
  void settle(Cycle) override {}
  void dump(std::string& out) const override;
  void take_counters(std::uint8_t kernel, stats::KernelCounters& total) override;
  [[nodiscard]] bool quiescent() const override;

  // For the GMMU's domain.
  void gather(Cycle from);
  void tick(Cycle now);
  /// Earliest cycle from `now` on at which it has something to do; kNever.
  [[nodiscard]] Cycle next_event(Cycle now) const;
  /// Lines of a migration, spread evenly over `cycles` from `now` on. One at a time in each direction
  /// (0: to the host, 1: to the device).
  struct Migration {
    Address address = 0;
    std::uint64_t bytes = 0;  // whole lines
    Cycle cycles = 0;
    bool discard = false;  // the lines only leave the L2; direction 0
    bool keep = false;     // they stay there; direction 0
  };
  void migrate(Cycle now, unsigned direction, const Migration& migration);
  /// Lines of pages on the host: what SMs request, as it came; and what goes to an SM, by way of its slice.
  [[nodiscard]] std::vector<icnt::Reply>& remote_asked() { return remote_asked_; }
  void reply_remote(const icnt::Request& reply) { remote_replies_.push_back(reply); }
  /// Whether a migration of that direction has ended since the last call: replies for all its lines have
  /// come.
  [[nodiscard]] bool take_migrated(unsigned direction) {
    return std::exchange(migrations_[direction].ended, false);
  }
  /// Before the run: migrations use the link too.
  void share(uvm::HostLink& link) { link_ = &link; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(fabric_), a.given(map_), a.given(byte_to_cycle_), a.given(command_cycles_),
              a.given(data_cycles_), a.given(page_bytes_), a.given(out_bytes_), a.given(in_bytes_),
              a.given(warms_l2_), a.given(reply_to_), a.given(kernel_), commands_, requests_, replies_,
              device_copies_, lanes_, a.given(link_), migrations_, remote_asked_, remote_replies_, counters_);
  }

 private:
  struct Command {
    icnt::CopyCommand copy;
    Cycle arrival;
  };
  /// One direction of the link.
  struct Lane {
    std::deque<Command> waiting;
    bool busy = false;
    icnt::CopyCommand copy;
    Cycle reported_start = 0;
    Cycle origin = 0;        // byte b has crossed at origin + cycles_of(b); moves when a page had to wait
    Cycle free_since = 0;    // end of the transfer before
    std::uint64_t sent = 0;  // bytes handed to the crossbar, or all with warms_l2 off
    std::uint64_t page = 0;  // of the last line sent, counted from 0
    std::uint64_t next_page = 0;  // of the next line
    Cycle due = 0;  // the next line is off the link (to the device), or may be asked for (to the host)
    std::uint32_t owed[2] = {0, 0};  // sectors (reads) or acknowledgements (writes) by page parity
    uvm::Direction direction = uvm::Direction::kToHost;
    template <class A>
    void persist(A& a) {
      a.members(*this, waiting, busy, copy, reported_start, origin, free_since, sent, page, next_page, due,
                owed, direction);
    }
  };
  struct LinesOf {  // a migration
    Migration what;
    bool busy = false, ended = false;
    Cycle start = 0;
    std::uint64_t sent = 0;  // bytes
    std::uint32_t owed = 0;  // as in Lane
  };

  void accept(const icnt::Reply& reply);
  void run(Cycle now, unsigned direction);
  void begin(Cycle now, Lane& lane);
  void send_lines(Cycle now, unsigned direction);
  bool send_line(Cycle now, unsigned direction);
  void finish(Cycle now, Lane& lane);
  [[nodiscard]] Cycle cycles_of(std::uint64_t bytes) const { return byte_to_cycle_.ceil(bytes); }
  void set_next_line(Lane& lane) const;
  [[nodiscard]] Cycle end_of_link(const Lane& lane) const { return lane.origin + cycles_of(lane.copy.bytes); }
  [[nodiscard]] bool page_may_open(const Lane& lane) const;
  [[nodiscard]] static std::uint64_t line_bytes(const Lane& lane);
  [[nodiscard]] Cycle next_event(Cycle now, const Lane& lane) const;
  void send_migration(Cycle now, unsigned direction);
  void send_remote_replies(Cycle now);
  [[nodiscard]] static Cycle due(const LinesOf& m, unsigned direction);
  [[nodiscard]] bool must_wait(const Lane& lane) const {
    return link_ != nullptr && link_->copy_must_wait(lane.direction);
  }
  void tell_link();

  icnt::Fabric* fabric_;
  const mem::AddressMap* map_;
  sim::ClockRatio byte_to_cycle_;  // of the link
  Cycle command_cycles_, data_cycles_;
  std::uint32_t page_bytes_, out_bytes_, in_bytes_;
  bool warms_l2_;
  std::uint16_t reply_to_;
  std::uint8_t kernel_;
  sim::Inbox<icnt::CopyCommand> commands_;
  icnt::InjectionPort<icnt::Request> requests_;
  icnt::EjectionPort<icnt::Reply> replies_;
  DeviceCopies device_copies_;
  Lane lanes_[2];                  // 0: to host, 1: to device
  uvm::HostLink* link_ = nullptr;  // null: not shared
  LinesOf migrations_[2];
  std::vector<icnt::Reply> remote_asked_;
  std::deque<icnt::Request> remote_replies_;
  stats::IcntCounters counters_;
};

}  // namespace lockstep::core
