#include "lower/replay.hpp"

#include <stdexcept>

namespace lockstep::lower {

namespace {

/// Appends machine instruction `index` as executed by `executed`, whose addresses begin at `words`.
void append(const Code& code, std::uint32_t index, const trace::Record& executed, const std::uint64_t* words,
            trace::CtaTrace& out) {
  const MachineInstruction& instruction = code.instructions()[index];
  const bool carries = instruction.carries == Carries::kFirst && executed.mask != 0;
  const unsigned count = trace::address_words(executed.form(), executed.mask);
  if (carries && count == 0) throw std::logic_error("no addresses recorded for " + instruction.text);
  out.records.push_back(
      trace::Record::make(index, carries ? executed.form() : trace::AddressForm::kNone, executed.mask));
  if (carries) out.words.insert(out.words.end(), words, words + count);
}

/// Whether the records from `at` on are one whole execution of the run.
bool is_whole(const std::vector<trace::Record>& records, std::size_t at, const CodeRun& run) {
  if (records.size() - at < run.operations) return false;
  for (std::uint32_t i = 0; i < run.operations; ++i)
    if (records[at + i].inst() != run.first_operation + i) return false;
  return true;
}

/// A run that was executed whole has its machine instructions in their order. One that was not (lanes that
/// left a spin, an interrupted split) has those of each operation as it was executed.
void replay_warp(const Code& code, const exec::WarpRecord& warp, trace::CtaTrace& out,
                 std::vector<std::uint32_t>& starts) {
  std::uint32_t word = 0;
  for (std::size_t at = 0; at < warp.records.size();) {
    const CodeRun& run = code.run_of(warp.records[at].inst());
    const bool whole = is_whole(warp.records, at, run);
    const std::uint32_t count = whole ? run.operations : 1;
    starts.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
      starts.push_back(word);
      word += trace::address_words(warp.records[at + i].form(), warp.records[at + i].mask);
    }
    for (std::uint32_t index = run.first; index < run.end; ++index) {
      const std::uint32_t i = code.instructions()[index].operation - warp.records[at].inst();
      if (i < count) append(code, index, warp.records[at + i], warp.words.data() + starts[i], out);
    }
    at += count;
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
  std::vector<std::uint32_t> starts;
  for (const exec::WarpRecord& warp : record.warps) {
    trace::WarpSpan span;
    span.first_record = static_cast<std::uint32_t>(out.records.size());
    span.first_word = static_cast<std::uint32_t>(out.words.size());
    replay_warp(code, warp, out, starts);
    span.record_count = static_cast<std::uint32_t>(out.records.size()) - span.first_record;
    out.warps.push_back(span);
  }
}

}  // namespace lockstep::lower
