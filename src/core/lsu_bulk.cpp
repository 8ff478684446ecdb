// The memory pipeline's way to the unit for bulk copies, and what that unit reports.
#include "core/memory_pipeline.hpp"

namespace lockstep::core {

void MemoryPipeline::bulk(Cycle now, const MioOperation& op) {
  if (!bulk_.add(op)) return fixed_latency(now, op, special_rest_);
  ++counters_[op.kernel].global_instructions;
  free_from(LsuUnit::kBulk) = bulk_.full() ? kNever : now + 1;
}

void MemoryPipeline::send_bulk_line(Cycle now) {
  if (port_.full()) return;
  heed(now, bulk_.send(now, port_, counters_));
  if (!bulk_.full() && free_from(LsuUnit::kBulk) == kNever) free_from(LsuUnit::kBulk) = now + 1;
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

}  // namespace lockstep::core
