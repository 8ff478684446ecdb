// The memory pipeline's way to what goes to the port past the L1: the unit for bulk copies, and looks of
// warps that wait for signals.
#include "core/memory_pipeline.hpp"
#include "util/bits.hpp"

namespace lockstep::core {

void MemoryPipeline::bulk(Cycle now, const MioOperation& op) {
  if (!bulk_.add(op)) return fixed_latency(now, op, special_rest_);
  ++counters_[op.kernel].global_instructions;
  free_from(LsuUnit::kBulk) = bulk_.full() ? kNever : now + 1;
  beside_ = true;
}

bool MemoryPipeline::can_send_bulk_line() const {
  return bulk_.has_lines() && !port_.full() && !(translator_ && translator_->blocks());
}

void MemoryPipeline::send_bulk_line(Cycle now) {
  if (!can_send_bulk_line()) return;
  BulkCopies::Line line = bulk_.next(counters_);
  if (profile_) profile_->add_line(line.done.handle, line.request.kernel, 0, bit_count(line.request.sectors));
  const bool write = line.request.kind != icnt::AccessKind::kLoad;
  if (translator_ && !translator_->translate(now, line.request.line, write)) {
    park_bulk_line(now, line.request);
  } else {
    port_.send(now, line.request);
  }
  heed(now, line.done);
  if (!bulk_.full() && free_from(LsuUnit::kBulk) == kNever) free_from(LsuUnit::kBulk) = now + 1;
}

void MemoryPipeline::park_bulk_line(Cycle now, const icnt::Request& request) {
  ParkedLine line;
  line.access = {request.line, request.sectors, request.operations};
  line.bytes = request.bytes;
  line.handle = request.tag;
  line.kind = static_cast<std::uint8_t>(LineKind::kBulk);
  line.kernel = request.kernel;
  line.bulk = request.kind;
  line.write = request.kind != icnt::AccessKind::kLoad;
  line.answered = !line.write;
  if (!translator_->park(now, line)) ++counters_[request.kernel].tlb_waits;
}

/// True when it has gone through.
bool MemoryPipeline::send_parked_bulk_line(Cycle now, const ParkedLine& line) {
  if (port_.full()) return false;
  icnt::Request request;
  request.line = line.access.line;
  request.sectors = line.access.sectors;
  request.operations = line.access.operations;
  request.bytes = line.bytes;
  request.tag = line.handle;
  request.kind = line.bulk;
  request.kernel = line.kernel;
  port_.send(now, request);
  translator_->line_done();
  return true;
}

void MemoryPipeline::heed(Cycle now, const BulkCopies::Done& done) {
  if (done.sent && !done.load) emit(MioEvent::Kind::kResult, done.handle);
  if (!done.complete) return;
  if (done.load) {
    wheel_.add(now, now + kMissPath + hit_rest_, done.handle);
  } else {
    emit(MioEvent::Kind::kAcknowledged, done.handle);
  }
}

void MemoryPipeline::await_signals(Cycle now, const MioOperation& op) {
  ++counters_[op.kernel].global_instructions;
  data_free_ = now + 1;
  set_memory_free(now);
  signal_waits_.add(now + hit_rest_, op);
  beside_ = true;
}

/// What goes to the port past the L1.
void MemoryPipeline::send_beside(Cycle now) {
  if (bulk_.has_lines()) send_bulk_line(now);
  if (signal_waits_.due() <= now && !port_.full()) {
    icnt::Request look = signal_waits_.next();
    port_.send(now, look);
  }
  beside_ = bulk_.has_lines() || !signal_waits_.idle();
}

}  // namespace lockstep::core
