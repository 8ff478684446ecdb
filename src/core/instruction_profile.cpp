#include "core/instruction_profile.hpp"

#include "util/bits.hpp"

namespace lockstep::core {

void InstructionProfile::add_issued(const Warp& warp, const trace::Record* first) {
  for (const trace::Record* r = first; r != warp.next; ++r) {
    stats::InstructionCounters& counters = row(warp.kernel, r->inst());
    ++counters.stalls[static_cast<unsigned>(stats::Stall::kIssued)];
    // As SmCounters::thread_instructions: one lane issues a bulk copy.
    const bool bulk = (*warp.table)[r->inst()].bulk != trace::BulkCopy::kNone;
    counters.threads += bulk ? 1u : bit_count(r->mask);
  }
}

void InstructionProfile::take(std::uint8_t kernel, std::vector<stats::InstructionCounters>& total) {
  std::vector<stats::InstructionCounters>& rows = rows_[kernel];
  if (total.size() < rows.size()) total.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) stats::add(total[i], rows[i]);
  rows.clear();
}

}  // namespace lockstep::core
