#include "exec/signal_log.hpp"

namespace lockstep::exec {

SignalLog::Word& SignalLog::at(Address word) {
  std::unique_ptr<Page>& page = pages_[word / kPageBytes];
  if (!page) page = std::make_unique<Page>();
  return (*page)[word % kPageBytes / 4];
}

const SignalLog::Word* SignalLog::find(Address word) const {
  const auto page = pages_.find(word / kPageBytes);
  return page == pages_.end() ? nullptr : &(*page->second)[word % kPageBytes / 4];
}

/// Its values.
void SignalLog::forget(Word& word) {
  if (word.kept > 2) {
    histories_[word.other].clear();
    free_.push_back(word.other);
  }
  word.kept = 0;
}

void SignalLog::before(Address word, std::uint32_t value) {
  Word& known = at(word);
  if (known.kept > 0 && known.last == value) return;
  forget(known);  // something else has written
  known.kept = 1;
  known.last = value;
}

void SignalLog::signalled(Address word, std::uint32_t value) {
  Word& known = at(word);
  ++known.signals;
  known.write = writes_;
  if (known.kept == 1) {
    known.other = known.last;
  } else {
    if (known.kept == 2) {
      if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(histories_.size()));
        histories_.emplace_back();
      }
      const std::uint32_t index = free_.back();
      free_.pop_back();
      histories_[index] = {known.other, known.last};
      known.other = index;
    }
    std::vector<std::uint32_t>& history = histories_[known.other];
    history.push_back(value);
    if (history.size() > 2 * kKept) history.erase(history.begin(), history.end() - kKept);
    known.kept = static_cast<std::uint32_t>(history.size()) - 1;
  }
  known.last = value;
  ++known.kept;
}

std::uint32_t SignalLog::signals(Address word) const {
  const Word* const known = find(word);
  return known == nullptr ? 0 : known->signals;
}

std::uint32_t SignalLog::last_write(Address word) const {
  const Word* const known = find(word);
  return known == nullptr ? 0 : known->write;
}

std::optional<std::uint32_t> SignalLog::value(Address word, std::size_t back) const {
  const Word* const known = find(word);
  if (known == nullptr || back >= known->kept) return std::nullopt;
  if (back == 0) return known->last;
  if (known->kept == 2) return known->other;
  const std::vector<std::uint32_t>& history = histories_[known->other];
  return history[history.size() - 1 - back];
}

}  // namespace lockstep::exec
