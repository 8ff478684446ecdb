#include "messages/memory.hpp"

#include <array>
#include <bit>
#include <vector>

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

/// Lanes with a stride between them, some of which access the device and some the host: moved, they may have
/// none. Of two lanes, any addresses have a stride.
bool straddles(const trace::Record& record, const std::uint64_t* words) {
  if (record.form() != trace::AddressForm::kAffine) return false;
  const int distance = 31 - std::countl_zero(record.mask) - std::countr_zero(record.mask);
  return is_on_device(words[0]) != is_on_device(words[0] + words[1] * static_cast<std::uint64_t>(distance));
}

bool has_straddling(const trace::CtaTrace& cta, const trace::WarpSpan& warp) {
  const std::uint64_t* words = cta.words.data() + warp.first_word;
  for (std::uint32_t i = 0; i < warp.record_count; ++i) {
    const trace::Record& record = cta.records[warp.first_record + i];
    if (straddles(record, words)) return true;
    words += address_words(record.form(), record.mask);
  }
  return false;
}

/// Gives the warp records and words of its own, in which straddling accesses are moved. Other words stay as
/// they are.
void replace_straddling(trace::CtaTrace& cta, trace::WarpSpan& warp, std::uint16_t process) {
  const trace::WarpSpan old = warp;
  warp.first_record = static_cast<std::uint32_t>(cta.records.size());
  warp.first_word = static_cast<std::uint32_t>(cta.words.size());
  std::size_t at = old.first_word;
  for (std::uint32_t i = 0; i < old.record_count; ++i) {
    trace::Record record = cta.records[old.first_record + i];
    const unsigned count = address_words(record.form(), record.mask);
    const std::vector<std::uint64_t> words(cta.words.begin() + static_cast<std::ptrdiff_t>(at),
                                           cta.words.begin() + static_cast<std::ptrdiff_t>(at + count));
    if (straddles(record, words.data())) {
      std::array<Address, kWarpSize> lanes{};
      trace::expand_addresses(record.form(), record.mask, words.data(), lanes.data());
      for (Address& lane : lanes) lane = moved(lane, process);
      record = trace::Record::make(record.inst(), trace::pack_addresses(record.mask, lanes.data(), cta.words),
                                   record.mask);
    } else {
      const std::size_t now = cta.words.size();
      cta.words.insert(cta.words.end(), words.begin(), words.end());
      if (record.form() == trace::AddressForm::kShared) cta.words[now + 1] += now - at;
    }
    cta.records.push_back(record);
    at += count;
  }
}

}  // namespace

void move_addresses(trace::CtaTrace& cta, const trace::StaticTable& table, std::uint16_t process) {
  for (trace::WarpSpan& warp : cta.warps) {
    if (has_straddling(cta, warp)) replace_straddling(cta, warp, process);
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
