// What kernels write to words of global memory that others may wait for: how often, and which values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "util/types.hpp"

namespace lockstep::exec {

/// A *signal* is a write, by one warp instruction, to an aligned 4-byte word of a device's memory that a
/// kernel makes known to others: by a strong store, a releasing atomic, or after a fence (signals.cpp).
/// A loop that waits for such a word ends with a certain signal; the timing model, which computes no values,
/// counts signals and lets the loop end when it has counted as many. See docs/design.md, "Kernels that wait
/// for each other".
///
/// One for all devices of a process, in the order of execution. Not thread-safe. Programs may write all their
/// data so: a word that is signalled once takes 20 bytes.
class SignalLog {
 public:
  /// Values of a word that are kept at least: those that were written last.
  static constexpr std::size_t kKept = 1024;

  /// One warp instruction writes now: the words that are signalled until the next call.
  void begin_write() { ++writes_; }
  /// `word`: its address, a multiple of 4. To be called before the write, with what is there, and after it.
  void before(Address word, std::uint32_t value);
  void signalled(Address word, std::uint32_t value);

  /// So far, modulo 2^32.
  [[nodiscard]] std::uint32_t signals(Address word) const;
  /// Which instruction signalled the word last, counted from 1, modulo 2^32; 0: none.
  [[nodiscard]] std::uint32_t last_write(Address word) const;
  /// Before the last `back` signals of the word; nothing where that is not known.
  [[nodiscard]] std::optional<std::uint32_t> value(Address word, std::size_t back) const;

 private:
  struct Word {
    std::uint32_t signals = 0;
    std::uint32_t kept = 0;   // values that are known
    std::uint32_t last = 0;   // of these
    std::uint32_t other = 0;  // kept 2: the one before; more: index of all of them in histories_
    std::uint32_t write = 0;  // that signalled it last
  };
  static constexpr Address kPageBytes = 4096;
  using Page = std::array<Word, kPageBytes / 4>;

  [[nodiscard]] Word& at(Address word);
  [[nodiscard]] const Word* find(Address word) const;
  void forget(Word& word);

  std::uint32_t writes_ = 0;
  std::unordered_map<Address, std::unique_ptr<Page>> pages_;  // by number
  std::vector<std::vector<std::uint32_t>> histories_;
  std::vector<std::uint32_t> free_;  // of these
};

}  // namespace lockstep::exec
