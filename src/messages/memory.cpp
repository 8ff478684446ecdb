#include "messages/memory.hpp"

#include "trace/bulk_runs.hpp"

namespace lockstep::messages {
namespace {

/// The words of a bulk copy: an mbarrier, then runs of rows.
void move_runs(std::uint64_t* words, unsigned count, std::uint16_t process) {
  for (unsigned i = 2; i + 1 < count; i += 2) {
    trace::BulkRun run = trace::unpack({words[i], words[i + 1]});
    run.first = moved(run.first, process);
    words[i] = trace::pack(run).place;
  }
}

}  // namespace

void move_addresses(trace::CtaTrace& cta, const trace::StaticTable& table, std::uint16_t process) {
  for (const trace::WarpSpan& warp : cta.warps) {
    std::uint64_t* words = cta.words.data() + warp.first_word;
    for (std::uint32_t i = 0; i < warp.record_count; ++i) {
      const trace::Record& record = cta.records[warp.first_record + i];
      const unsigned count = address_words(record.form(), record.mask);
      const bool is_list = record.form() == trace::AddressForm::kList;
      if (table[record.inst()].bulk != trace::BulkCopy::kNone) {
        move_runs(words, count, process);
      } else if (count > 0) {
        for (unsigned w = 0; w < (is_list ? count : 1); ++w) words[w] = moved(words[w], process);
      }
      words += count;
    }
  }
}

}  // namespace lockstep::messages
