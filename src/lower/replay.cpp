#include "lower/replay.hpp"

#include <stdexcept>

namespace lockstep::lower {

namespace {

/// An operation's record, and where its addresses begin; no lanes: none executed it, or it was left out.
struct Executed {
  trace::Record record{0, 0};
  const std::uint64_t* words = nullptr;
};

/// One warp's executions, one run after the other.
class WarpReplay {
 public:
  WarpReplay(const Code& code, const exec::WarpRecord& warp, trace::CtaTrace& out)
      : code_(code), records_(warp.records), words_(warp.words.data()), out_(out) {}

  /// A run that was executed whole has its machine instructions in their order. One that was not (lanes that
  /// left a spin, an interrupted split) has those of each operation as it was executed.
  void run(std::vector<Executed>& executed) {
    for (std::size_t at = 0; at < records_.size();) {
      const CodeRun& run = code_.run_of(records_[at].inst());
      if (executed.size() < run.operations) executed.resize(run.operations);
      const std::size_t whole =
          run.has_optional ? match_optional(at, run, executed) : match(at, run, executed);
      if (whole > 0) {
        append(run, executed.data());
        at += whole;
      } else {
        append_one(run, {records_[at], words_});
        ++at;
      }
      words_ = next_;
    }
  }

 private:
  static unsigned words_of(const trace::Record& record) {
    return record.form() == trace::AddressForm::kNone ? 0 : trace::address_words(record.form(), record.mask);
  }
  /// The records from `at` on that are one whole execution of the run: how many, 0 if they are none.
  [[nodiscard]] std::size_t match(std::size_t at, const CodeRun& run, std::vector<Executed>& executed) {
    next_ = words_ + words_of(records_[at]);
    if (records_.size() - at < run.operations) return 0;
    const std::uint64_t* words = words_;
    for (std::uint32_t i = 0; i < run.operations; ++i) {
      const trace::Record& record = records_[at + i];
      if (record.inst() != run.first_operation + i) return 0;
      executed[i] = {record, words};
      words += words_of(record);
    }
    next_ = words;
    return run.operations;
  }
  /// The same where operations may be left out.
  [[nodiscard]] std::size_t match_optional(std::size_t at, const CodeRun& run,
                                           std::vector<Executed>& executed) {
    next_ = words_ + words_of(records_[at]);
    const std::uint64_t* words = words_;
    std::size_t taken = 0;
    for (std::uint32_t i = 0; i < run.operations; ++i) {
      const std::uint32_t operation = run.first_operation + i;
      if (at + taken < records_.size() && records_[at + taken].inst() == operation) {
        executed[i] = {records_[at + taken], words};
        words += words_of(records_[at + taken++]);
      } else if (code_.optional(operation)) {
        executed[i] = {};
      } else {
        return 0;
      }
    }
    next_ = words;
    return taken;
  }
  /// The machine instructions of a run that was executed whole.
  void append(const CodeRun& run, const Executed* executed) {
    const std::size_t first = out_.records.size();
    out_.records.resize(first + run.end - run.first);
    trace::Record* to = out_.records.data() + first;
    const MachineStep* const steps = code_.steps().data();
    for (std::uint32_t index = run.first; index < run.end; ++index) {
      const Executed& from = executed[steps[index].operation - run.first_operation];
      *to++ = record_of(index, steps[index].carries, from);
      if (steps[index].carries) append_words(index, from);
    }
  }
  /// Those of one operation of a run.
  void append_one(const CodeRun& run, const Executed& executed) {
    for (std::uint32_t index = run.first; index < run.end; ++index) {
      const MachineStep step = code_.steps()[index];
      if (step.operation != executed.record.inst()) continue;
      out_.records.push_back(record_of(index, step.carries, executed));
      if (step.carries) append_words(index, executed);
    }
  }
  static trace::Record record_of(std::uint32_t index, bool carries, const Executed& executed) {
    const trace::AddressForm form = carries ? executed.record.form() : trace::AddressForm::kNone;
    return trace::Record::make(index, form, executed.record.mask);
  }
  void append_words(std::uint32_t index, const Executed& executed) {
    const trace::AddressForm form = executed.record.form();
    if (form == trace::AddressForm::kAffine) {  // the usual case
      out_.words.push_back(executed.words[0]);
      out_.words.push_back(executed.words[1]);
    } else if (form != trace::AddressForm::kNone) {
      out_.words.insert(out_.words.end(), executed.words, executed.words + words_of(executed.record));
    } else if (executed.record.mask != 0) {
      throw std::logic_error("no addresses recorded for " + code_.instructions()[index].text);
    }
  }

  const Code& code_;
  const std::vector<trace::Record>& records_;
  const std::uint64_t* words_;  // of the next record
  const std::uint64_t* next_ = nullptr;
  trace::CtaTrace& out_;
};

}  // namespace

void replay(const Code& code, const exec::CtaRecord& record, const Dim3& grid, trace::CtaTrace& out) {
  out.index = record.index;
  out.id = {static_cast<std::uint32_t>(record.index % grid.x),
            static_cast<std::uint32_t>(record.index / grid.x % grid.y),
            static_cast<std::uint32_t>(record.index / grid.x / grid.y)};
  out.warps.clear();
  out.records.clear();
  out.words.clear();
  std::vector<Executed> executed;
  for (const exec::WarpRecord& warp : record.warps) {
    trace::WarpSpan span;
    span.first_record = static_cast<std::uint32_t>(out.records.size());
    span.first_word = static_cast<std::uint32_t>(out.words.size());
    WarpReplay(code, warp, out).run(executed);
    span.record_count = static_cast<std::uint32_t>(out.records.size()) - span.first_record;
    out.warps.push_back(span);
  }
}

}  // namespace lockstep::lower
