#include "lower/replay.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace lockstep::lower {

/// Words of the warp that follow each other in the machine's records too.
struct WordRow {
  std::uint32_t first = 0, count = 0;
};

namespace {

constexpr std::size_t kKept = 4;  // sequences: those of a loop's or a border's warps beside the usual one

/// An operation's record, and where its addresses begin; no lanes: none executed it, or it was left out.
struct Executed {
  trace::Record record{0, 0};
  std::uint32_t word = 0;  // of the warp's
  LaneMask slow = 0;       // lanes that took the slow path
};

/// One warp's executions, one run after the other.
class WarpReplay {
 public:
  /// Appends the machine's records, and where their words stand among the executed ones.
  WarpReplay(const Code& code, const std::vector<trace::Record>& executed,
             std::vector<trace::Record>& machine, std::vector<WordRow>& words)
      : code_(code), records_(executed), machine_(machine), words_(words) {}

  /// A run that was executed whole has its machine instructions in their order. One that was not (lanes that
  /// left a spin, an interrupted split) has those of each operation as it was executed.
  void run() {
    std::vector<Executed> executed;
    for (std::size_t at = 0; at < records_.size();) {
      if (code_.awaits(records_[at])) {
        append_await({records_[at++], word_, 0});
        continue;
      }
      const std::uint32_t number = run_at(at);
      if (number != follows_ && follows_ < code_.runs().size()) append_added(number);
      const CodeRun& run = code_.runs()[number];
      if (executed.size() < run.operations) executed.resize(run.operations);
      const std::size_t whole =
          run.has_optional ? match_optional(at, run, executed) : match(at, run, executed);
      if (whole > 0) {
        append(run, executed.data());
        at += whole;
      } else {
        append_one(run, take(at, word_));
      }
      mask_ = records_[at - 1].mask;
      word_ = next_;
      follows_ = whole > 0 ? number + 1 : kNowhere;
    }
  }

 private:
  /// An unrolled loop's operations are in several places, of which the one behind the run before is meant.
  [[nodiscard]] std::uint32_t run_at(std::size_t at) const {
    const std::uint32_t operation = records_[at].inst();
    const bool follows =
        follows_ < code_.runs().size() && operation_of(code_.runs()[follows_], 0) == operation;
    const std::uint32_t number = follows ? follows_ : code_.run_of(operation);
    const std::uint32_t loop = code_.runs()[number].loop;
    return loop == kNoOperation ? number : copies_at(at, code_.loops()[loop]);
  }
  /// The first run of the most iterations of a loop that follow each other there.
  [[nodiscard]] std::uint32_t copies_at(std::size_t at, const CodeLoop& loop) const {
    for (const RunsOfCopies& copies : loop) {
      std::size_t next = at;
      std::uint32_t number = copies.first;
      while (number < copies.end && are_next(code_.runs()[number], next)) ++number;
      if (number == copies.end) return copies.first;
    }
    return loop.back().first;
  }
  /// Whether the records from `at` on are an execution of the run; `at` is behind it then.
  [[nodiscard]] bool are_next(const CodeRun& run, std::size_t& at) const {
    for (std::uint32_t i = 0; i < run.operations; ++i) {
      const std::uint32_t operation = operation_of(run, i);
      if (operation == kNoOperation) continue;
      if (at < records_.size() && records_[at].inst() == operation) {
        ++at;
        if (at < records_.size() && code_.slow_path_of(records_[at]) == operation) ++at;
      } else if (!code_.optional(operation)) {
        return false;
      }
    }
    return true;
  }
  /// What a warp executes between the run before and this one to choose between the copies of loops.
  void append_added(std::uint32_t to) {
    for (std::uint32_t number = follows_; number < to; ++number) {
      const CodeRun& run = code_.runs()[number];
      if (run.loop != kNoOperation) {
        number = end_of_copies(number) - 1;
        continue;
      }
      if (!run.is_added) return;
      const bool enters_loop = code_.runs()[number + 1].loop != kNoOperation &&
                               code_.loops()[code_.runs()[number + 1].loop].front().first == number + 1;
      if (enters_loop && to != number + 1) continue;  // what only the most copies need
      for (std::uint32_t index = run.first; index < run.end; ++index)
        machine_.push_back(trace::Record::make(index, trace::AddressForm::kNone, mask_));
    }
  }
  [[nodiscard]] std::uint32_t end_of_copies(std::uint32_t first) const {
    for (const RunsOfCopies& copies : code_.loops()[code_.runs()[first].loop])
      if (copies.first == first) return copies.end;
    return first + 1;
  }
  [[nodiscard]] std::uint32_t operation_of(const CodeRun& run, std::uint32_t place) const {
    return code_.executions()[run.first_execution + place];
  }
  static unsigned words_of(const trace::Record& record) {
    return record.form() == trace::AddressForm::kNone ? 0 : trace::address_words(record.form(), record.mask);
  }
  /// The operation whose records begin at `at`, which is put behind them.
  Executed take(std::size_t& at, std::uint32_t word) const {
    Executed found{records_[at++], word, 0};
    if (at < records_.size() && code_.slow_path_of(records_[at]) == found.record.inst())
      found.slow = records_[at++].mask;
    return found;
  }
  /// The records from `at` on that are one whole execution of the run: how many, or 0.
  [[nodiscard]] std::size_t match(std::size_t at, const CodeRun& run, std::vector<Executed>& executed) {
    next_ = word_ + words_of(records_[at]);
    const std::uint32_t* const operations = code_.executions().data() + run.first_execution;
    std::uint32_t word = word_;
    std::size_t next = at;
    for (std::uint32_t i = 0; i < run.operations; ++i) {
      if (operations[i] == kNoOperation) {
        executed[i] = added(i, executed);
        continue;
      }
      if (next == records_.size() || records_[next].inst() != operations[i]) return 0;
      executed[i] = take(next, word);
      word += words_of(executed[i].record);
    }
    next_ = word;
    return next - at;
  }
  /// The same where operations may be left out.
  [[nodiscard]] std::size_t match_optional(std::size_t at, const CodeRun& run,
                                           std::vector<Executed>& executed) {
    next_ = word_ + words_of(records_[at]);
    const std::uint32_t* const operations = code_.executions().data() + run.first_execution;
    std::uint32_t word = word_;
    std::size_t next = at;
    for (std::uint32_t i = 0; i < run.operations; ++i) {
      const std::uint32_t operation = operations[i];
      if (operation == kNoOperation) {
        executed[i] = added(i, executed);
      } else if (next < records_.size() && records_[next].inst() == operation) {
        executed[i] = take(next, word);
        word += words_of(executed[i].record);
      } else if (code_.optional(operation)) {
        executed[i] = {};
      } else {
        return 0;
      }
    }
    next_ = word;
    return next - at;
  }
  /// An operation that is not recorded: by the lanes of the one before.
  [[nodiscard]] Executed added(std::uint32_t i, const std::vector<Executed>& executed) const {
    const LaneMask before = i > 0 ? executed[i - 1].record.mask : 0;
    return {trace::Record::make(0, trace::AddressForm::kNone, before != 0 ? before : mask_), 0, 0};
  }
  /// The machine instructions of a run that was executed whole.
  void append(const CodeRun& run, const Executed* executed) {
    if (run.has_slow_path) return append_with_slow_paths(run, executed);
    const std::size_t first = machine_.size();
    machine_.resize(first + run.end - run.first);
    trace::Record* to = machine_.data() + first;
    const MachineStep* const steps = code_.steps().data();
    for (std::uint32_t index = run.first; index < run.end; ++index) {
      const Executed& from = executed[steps[index].place];
      *to++ = record_of(index, steps[index].carries, from);
      if (steps[index].carries) append_words(index, from);
    }
  }
  void append_with_slow_paths(const CodeRun& run, const Executed* executed) {
    for (std::uint32_t index = run.first; index < run.end; ++index)
      append_step(index, executed[code_.steps()[index].place]);
  }
  void append_await(const Executed& executed) {
    machine_.push_back(record_of(code_.await(), true, executed));
    append_words(code_.await(), executed);
    word_ += words_of(executed.record);
  }
  /// Those of one operation of a run; of an unrolled loop's those of the first iteration.
  void append_one(const CodeRun& run, const Executed& executed) {
    std::uint32_t place = 0;
    while (operation_of(run, place) != executed.record.inst()) ++place;
    for (std::uint32_t index = run.first; index < run.end; ++index)
      if (code_.steps()[index].place == place) append_step(index, executed);
  }
  /// No warp issues what none of its lanes is for; what no lane executes because of a guard, it does, unless
  /// that step of lowering is left out.
  void append_step(std::uint32_t index, Executed executed) {
    const MachineStep step = code_.steps()[index];
    if (step.lanes == Lanes::kSlow) {
      if (executed.slow == 0) return;
      executed.record.mask = executed.slow;
    } else if (step.lanes == Lanes::kUsual && executed.slow != 0) {
      executed.record.mask &= ~executed.slow;
      if (executed.record.mask == 0) return;
    } else if (step.lanes == Lanes::kIfAny && executed.record.mask == 0) {
      return;
    }
    machine_.push_back(record_of(index, step.carries, executed));
    if (step.carries) append_words(index, executed);
    if (step.calls == kNoSubroutine) return;
    const Subroutine& called = code_.subroutines()[step.calls];
    for (std::uint32_t i = called.first; i < called.end; ++i)
      machine_.push_back(record_of(i, false, executed));
  }
  static trace::Record record_of(std::uint32_t index, bool carries, const Executed& executed) {
    const trace::AddressForm form = carries ? executed.record.form() : trace::AddressForm::kNone;
    return trace::Record::make(index, form, executed.record.mask);
  }
  void append_words(std::uint32_t index, const Executed& executed) {
    const trace::AddressForm form = executed.record.form();
    if (form == trace::AddressForm::kNone && executed.record.mask != 0)
      throw std::logic_error("no addresses recorded for " + code_.instructions()[index].text);
    if (!words_.empty() && words_.back().first + words_.back().count == executed.word) {
      words_.back().count += words_of(executed.record);
    } else {
      words_.push_back({executed.word, words_of(executed.record)});
    }
  }

  const Code& code_;
  const std::vector<trace::Record>& records_;
  std::vector<trace::Record>& machine_;
  std::vector<WordRow>& words_;
  std::uint32_t word_ = 0, next_ = 0;  // of the next record
  static constexpr std::uint32_t kNowhere = ~0u;
  LaneMask mask_ = 0;                 // of the last operation
  std::uint32_t follows_ = kNowhere;  // the run behind the one that was executed last
};

bool same(const std::vector<trace::Record>& a, const std::vector<trace::Record>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(trace::Record)) == 0);
}

}  // namespace

/// What a warp executed, and what the machine makes of it whatever the addresses.
struct Replayer::Sequence {
  std::vector<trace::Record> executed, machine;
  std::vector<WordRow> words;  // of the machine's records
  std::uint32_t word_count = 0;
  bool placed = false;             // the CTA at hand has the records already
  std::uint32_t first_record = 0;  // there
};

Replayer::Replayer(const Code& code, const Dim3& grid) : code_(&code), grid_(&grid) {}
Replayer::~Replayer() = default;
Replayer::Replayer(Replayer&&) noexcept = default;

Replayer::Sequence& Replayer::sequence(const std::vector<trace::Record>& executed) {
  auto at =
      std::find_if(kept_.begin(), kept_.end(), [&](const auto& s) { return same(s->executed, executed); });
  const bool known = at != kept_.end();
  if (!known) {
    if (kept_.size() < kKept) kept_.push_back(std::make_unique<Sequence>());
    at = kept_.end() - 1;  // the one that was not met for longest
  }
  std::rotate(kept_.begin(), at, at + 1);
  Sequence& found = *kept_.front();
  if (known) return found;
  found.executed = executed;
  found.machine.clear();
  found.words.clear();
  found.placed = false;
  WarpReplay(*code_, found.executed, found.machine, found.words).run();
  found.word_count = 0;
  for (const WordRow& row : found.words) found.word_count += row.count;
  return found;
}

void Replayer::warp(const exec::WarpRecord& warp, trace::CtaTrace& out) {
  Sequence& found = sequence(warp.records);
  if (!std::exchange(found.placed, true)) {
    found.first_record = static_cast<std::uint32_t>(out.records.size());
    out.records.insert(out.records.end(), found.machine.begin(), found.machine.end());
  }
  const std::size_t first = out.words.size();
  out.warps.push_back({found.first_record, static_cast<std::uint32_t>(found.machine.size()),
                       static_cast<std::uint32_t>(first)});
  out.words.resize(first + found.word_count);
  std::uint64_t* to = out.words.data() + first;
  const std::uint64_t* const from = warp.words.data();
  for (const WordRow& row : found.words) {
    if (row.count == 2) {  // the usual case, kAffine
      to[0] = from[row.first];
      to[1] = from[row.first + 1];
    } else {
      std::copy_n(from + row.first, row.count, to);
    }
    to += row.count;
  }
}

void Replayer::replay(const exec::CtaRecord& record, trace::CtaTrace& out) {
  out.index = record.index;
  out.id = {static_cast<std::uint32_t>(record.index % grid_->x),
            static_cast<std::uint32_t>(record.index / grid_->x % grid_->y),
            static_cast<std::uint32_t>(record.index / grid_->x / grid_->y)};
  out.warps.clear();
  out.records.clear();
  out.words.clear();
  for (const auto& s : kept_) s->placed = false;
  for (const exec::WarpRecord& w : record.warps) warp(w, out);
}

}  // namespace lockstep::lower
