#include "core/parked_lines.hpp"

#include <algorithm>

#include "util/bits.hpp"

namespace lockstep::core {

void ParkedLines::serve(Cycle now) {
  translator_->receive(now);
  while (translator_->has_remote() && !port_->full()) {
    if (const auto unwanted = translator_->take_prefetch()) {
      arrived(now, *unwanted);
      continue;
    }
    const icnt::Request request = translator_->take_remote();
    port_->send_remote(now, request);
  }
  while (translator_->has_work())
    if (!(translator_->next_is_line() ? try_again(now) : shoot_down(now))) return;
}

/// True when it went through.
bool ParkedLines::try_again(Cycle now) {
  const ParkedLine& line = translator_->line();
  const bool bulk = line.operation.kind == LineKind::kBulk;
  if (!(bulk ? bypass_->send_parked(now, line) : tags_->look_up_again(now, line))) return false;
  translator_->line_done();
  return true;
}

/// True when it is done: no fill of its pages is under way.
bool ParkedLines::shoot_down(Cycle now) {
  const Address bytes = Address{translator_->shootdown().pages} * uvm::kPageBytes;
  if (translator_->acknowledges() && !l1_->drop(translator_->shootdown_base(), bytes)) return false;
  translator_->finish_shootdown(now);
  return true;
}

void ParkedLines::receive_remote(Cycle now, std::uint32_t token) {
  arrived(now, translator_->remote_done(token));
}

void ParkedLines::arrived(Cycle now, const ParkedLine& line) {
  const unsigned sectors = bit_count(line.access.sectors);
  if (line.operation.kind == LineKind::kBulk) return bypass_->copied(now, line.operation.handle, sectors);
  results_->sectors_back(now, line.operation.entry, sectors);
}

Cycle ParkedLines::next_event(Cycle now) const {
  if (translator_->has_remote() && !port_->full()) return now + 1;
  if (tags_->stands_aside() && translator_->has_work() && translator_->next_is_line()) return now + 1;
  return std::max(now + 1, translator_->next_arrival());
}

}  // namespace lockstep::core
