#include "core/bypass_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "util/bits.hpp"

namespace lockstep::core {

bool BypassPath::copy(const MioOperation& op) {
  if (!copies_.add(op)) return false;
  ++(*counters_)[op.kernel].global_instructions;
  busy_ = true;
  return true;
}

void BypassPath::await(Cycle now, const MioOperation& op) {
  ++(*counters_)[op.kernel].global_instructions;
  waits_.add(now + hit_rest_, op);
  busy_ = true;
}

void BypassPath::send(Cycle now) {
  if (can_send_line() && line_free_ <= now) send_line(now);
  if (waits_.due() <= now && !port_->full()) {
    icnt::Request poll = waits_.next(now);
    port_->send(now, poll);
  }
  busy_ = copies_.has_lines() || !waits_.idle();
}

void BypassPath::send_line(Cycle now) {
  line_free_ = now + line_interval_;
  BulkCopies::Line line = copies_.next(*counters_);
  if (profile_) profile_->add_line(line.done.handle, line.request.kernel, 0, bit_count(line.request.sectors));
  finish(now, line.done);
  const bool write = icnt::carries_data(line.request.kind);
  if (translator_ && !translator_->translate(now, line.request.line, write)) {
    park(now, line);
  } else {
    put(now, line.request);
  }
}

/// A prefetch of what the L2 does not keep has nothing to do.
void BypassPath::put(Cycle now, icnt::Request& request) {
  if (request.kind == icnt::AccessKind::kPrefetch && port_->is_peers(request.line)) [[unlikely]]
    return copied(now, request.tag, bit_count(request.sectors));
  port_->send(now, request);
}

void BypassPath::park(Cycle now, const BulkCopies::Line& sent) {
  const icnt::Request& request = sent.request;
  ParkedLine line;
  line.operation.l2 = sent.done.l2;
  line.operation.kind = LineKind::kBulk;
  line.operation.kernel = request.kernel;
  line.operation.handle = request.tag;
  line.access = {request.line, request.sectors, request.operations};
  line.bytes = request.bytes;
  line.bulk = request.kind;
  line.write = icnt::carries_data(request.kind);
  line.returns_data = !line.write;
  if (!translator_->park(now, line)) ++(*counters_)[request.kernel].tlb_waits;
}

bool BypassPath::send_parked(Cycle now, const ParkedLine& line) {
  if (port_->full()) return false;
  icnt::Request request;
  request.line = line.access.line;
  request.sectors = line.access.sectors;
  request.operations = line.access.operations;
  request.bytes = line.bytes;
  request.tag = line.operation.handle;
  request.kind = line.bulk;
  request.kernel = line.operation.kernel;
  line.operation.l2.complete(request);
  put(now, request);
  return true;
}

void BypassPath::finish(Cycle now, const BulkCopies::Done& done) {
  if (done.sent && !done.load) results_->emit(MioEvent::Kind::kResult, done.handle);
  if (!done.complete) return;
  if (done.multicast) results_->emit(MioEvent::Kind::kDelivered, done.handle);
  if (done.load) {
    results_->add(now, now + LsuLatencies::kMissPath + hit_rest_, done.handle);
  } else {
    results_->emit(MioEvent::Kind::kAcknowledged, done.handle);
  }
}

Cycle BypassPath::next_event(Cycle now) const {
  if (!busy_) return kNever;
  if (port_->full()) return kNever;
  return std::max(now + 1, std::min(can_send_line() ? line_free_ : kNever, waits_.due()));
}

void BypassPath::dump(std::string& out) const {
  if (!copies_.idle())
    fmt::format_to(std::back_inserter(out), ", bulk copies in the queue {}", copies_.queued());
  if (!waits_.idle())
    fmt::format_to(std::back_inserter(out), ", warps that wait for signals {}", waits_.waiting());
}

}  // namespace lockstep::core
