// What goes to the SM's port past the L1: bulk copies, and polls of warps that wait for signals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/bulk_copies.hpp"
#include "core/instruction_profile.hpp"
#include "core/lsu_access.hpp"
#include "core/lsu_port.hpp"
#include "core/lsu_results.hpp"
#include "core/signal_waits.hpp"
#include "core/translator.hpp"

namespace lockstep::core {

/// One line of a copy every tma.line_interval and one poll per cycle, after what the load/store unit has for
/// the port.
class BypassPath {
 public:
  /// `translator`: null where nothing is translated. `sync`: of SignalWaits.
  BypassPath(Cycle hit_rest, const config::TmaGroup& tma, const config::SyncGroup& sync, LsuPort& port,
             LsuResults& results, Translator* translator, std::vector<stats::SmCounters>& counters)
      : hit_rest_(hit_rest),
        port_(&port),
        results_(&results),
        translator_(translator),
        counters_(&counters),
        line_interval_(tma.line_interval),
        copies_(tma.queue),
        waits_(sync) {}

  /// Also reports what copies request to `to`, which must outlive it; null: does not.
  void profile(InstructionProfile* to) { profile_ = to; }

  /// The unit for bulk copies takes one more.
  [[nodiscard]] bool takes_copies() const { return !copies_.full(); }
  /// Precondition: takes_copies(). False: the operation names no memory.
  [[nodiscard]] bool copy(const MioOperation& op);
  /// An operation that waits for signals.
  void await(Cycle now, const MioOperation& op);

  /// Something is to be sent, now or later.
  [[nodiscard]] bool busy() const { return busy_; }
  void send(Cycle now);
  /// A copy's line that waited for its translation. False: the port has no room.
  [[nodiscard]] bool send_parked(Cycle now, const ParkedLine& line);
  /// Cycle > now in which send() has something to do; kNever.
  [[nodiscard]] Cycle next_event(Cycle now) const;

  [[nodiscard]] static bool is_copy(std::uint32_t tag) { return tag & BulkCopies::kTag; }
  /// Sectors of a copy are back or acknowledged; `tag`: of its request.
  void copied(Cycle now, std::uint32_t tag, unsigned sectors) { finish(now, copies_.receive(tag, sectors)); }
  /// The reply to a poll.
  void polled(Cycle now, const icnt::Reply& reply) {
    const auto ended = waits_.receive(now, reply);
    if (!ended) return;
    results_->emit(MioEvent::Kind::kResult, ended->handle);
    port_->note_found(now, ended->awaited.word, ended->awaited.signals);
  }

  [[nodiscard]] bool idle() const { return copies_.idle() && waits_.idle(); }
  void dump(std::string& out) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(hit_rest_), a.given(port_), a.given(results_), a.given(translator_),
              a.given(counters_), a.given(profile_), a.given(line_interval_), line_free_, copies_, waits_,
              busy_);
  }

 private:
  [[nodiscard]] bool can_send_line() const {
    return copies_.has_lines() && !port_->full() && !(translator_ && translator_->blocks());
  }
  void send_line(Cycle now);
  void put(Cycle now, icnt::Request& request);
  void park(Cycle now, const BulkCopies::Line& sent);
  void finish(Cycle now, const BulkCopies::Done& done);

  Cycle hit_rest_;
  LsuPort* port_;
  LsuResults* results_;
  Translator* translator_;
  std::vector<stats::SmCounters>* counters_;
  InstructionProfile* profile_ = nullptr;
  Cycle line_interval_, line_free_ = 0;
  BulkCopies copies_;
  SignalWaits waits_;
  bool busy_ = false;
};

}  // namespace lockstep::core
