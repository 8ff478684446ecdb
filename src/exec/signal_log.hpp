// What kernels write to words of global memory that others may wait for: how often, and which values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "util/types.hpp"

namespace lockstep::exec {

/// A *signal* is a write, by one warp instruction, to an aligned 4-byte word of a device's memory that a
/// kernel makes known to others: by a strong store, a releasing atomic, or after a fence (decode_signal.cpp).
/// A loop that waits for such a word ends with a certain signal; the timing model, which computes no values,
/// counts signals and lets the loop end when it has counted as many. See docs/design.md, "Kernels that wait
/// for each other".
///
/// One for all devices of a process, in the order of execution. Not thread-safe.
class SignalLog {
 public:
  static constexpr std::size_t kKept = 1024;  // values of a word: those that were written last

  struct Word {
    std::uint32_t signals = 0;         // so far, modulo 2^32
    std::deque<std::uint32_t> values;  // the last is after the last signal, the one before it before that
    /// Before the last `back` signals; nothing where it is no longer known.
    [[nodiscard]] std::optional<std::uint32_t> value(std::size_t back) const {
      if (back >= values.size()) return std::nullopt;
      return values[values.size() - 1 - back];
    }
  };

  /// `word`: its address, a multiple of 4. To be called before the write, with what is there, and after it.
  void before(Address word, std::uint32_t value) {
    Word& known = words_[word];
    if (known.values.empty() || known.values.back() != value) known.values.assign(1, value);
  }
  void signalled(Address word, std::uint32_t value) {
    Word& known = words_[word];
    ++known.signals;
    known.values.push_back(value);
    if (known.values.size() > kKept) known.values.pop_front();
  }
  /// nullptr: nobody has signalled it.
  [[nodiscard]] const Word* find(Address word) const {
    const auto found = words_.find(word);
    return found == words_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<Address, Word> words_;
};

}  // namespace lockstep::exec
