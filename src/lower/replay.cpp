#include "lower/replay.hpp"

#include <stdexcept>

namespace lockstep::lower {

namespace {

void replay_warp(const Code& code, const exec::WarpRecord& warp, trace::CtaTrace& out) {
  const std::uint64_t* words = warp.words.data();
  for (const trace::Record& executed : warp.records) {
    const unsigned count = trace::address_words(executed.form(), executed.mask);
    for (std::uint32_t i = code.first(executed.inst()); i < code.first(executed.inst() + 1); ++i) {
      const bool carries = code.instructions()[i].carries == Carries::kFirst && executed.mask != 0;
      if (carries && count == 0)
        throw std::logic_error("no addresses recorded for " + code.instructions()[i].text);
      out.records.push_back(
          trace::Record::make(i, carries ? executed.form() : trace::AddressForm::kNone, executed.mask));
      if (carries) out.words.insert(out.words.end(), words, words + count);
    }
    words += count;
  }
}

}  // namespace

void replay(const Code& code, const exec::CtaRecord& record, const Dim3& grid, trace::CtaTrace& out) {
  out.index = record.index;
  out.id = {static_cast<std::uint32_t>(record.index % grid.x),
            static_cast<std::uint32_t>(record.index / grid.x % grid.y),
            static_cast<std::uint32_t>(record.index / grid.x / grid.y)};
  out.warps.clear();
  out.records.clear();
  out.words.clear();
  for (const exec::WarpRecord& warp : record.warps) {
    trace::WarpSpan span;
    span.first_record = static_cast<std::uint32_t>(out.records.size());
    span.first_word = static_cast<std::uint32_t>(out.words.size());
    replay_warp(code, warp, out);
    span.record_count = static_cast<std::uint32_t>(out.records.size()) - span.first_record;
    out.warps.push_back(span);
  }
}

}  // namespace lockstep::lower
