#include "core/instruction_profile.hpp"

#include <utility>

#include "util/bits.hpp"

namespace lockstep::core {

void InstructionProfile::add_issued(const Warp& warp, unsigned w, const trace::Record* first) {
  for (const trace::Record* r = first; r != warp.next; ++r) {
    stats::InstructionCounters& counters = row(warp.kernel, r->inst());
    ++counters.stalls[static_cast<unsigned>(stats::Stall::kIssued)];
    // As SmCounters::thread_instructions: one lane issues a bulk copy.
    const bool bulk = (*warp.table)[r->inst()].bulk != trace::BulkCopy::kNone;
    counters.threads += bulk ? 1u : bit_count(r->mask);
    ++subcores_[warp.kernel][w / kWarpsOfSubcore][static_cast<unsigned>(stats::Stall::kIssued)];
  }
}

void InstructionProfile::take(std::uint8_t kernel, stats::KernelProfile& total) {
  std::vector<stats::InstructionCounters>& rows = rows_[kernel];
  std::vector<stats::InstructionCounters>& sums = total.instructions;
  if (sums.size() < rows.size()) sums.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) stats::add(sums[i], rows[i]);
  rows.clear();
  total.subcores.resize(subcore_count_);
  for (unsigned s = 0; s < subcore_count_; ++s)
    for (unsigned reason = 0; reason < stats::kStalls; ++reason)
      total.subcores[s][reason] += std::exchange(subcores_[kernel][s][reason], 0);
}

}  // namespace lockstep::core
