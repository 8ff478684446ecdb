// How many signals the words of a slice's lines have had (trace/awaited_signals.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "icnt/messages.hpp"
#include "util/bits.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// At the point of coherence: in the slice that is the line's home. Only writes that signal and polls of
/// those that wait get here, so a map is fast enough.
class SignalCounts {
 public:
  /// A write that signals each 4-byte word that it touches, once, or as it says twice.
  void count(const icnt::Request& write) {
    Line& counts = lines_[write.line];
    const std::uint32_t signals = write.signals_twice ? 2 : 1;
    for (unsigned s = 0; s < kSectorsPerLine; ++s)
      for (unsigned word = 0; word < kSectorBytes / 4; ++word)
        if (write.bytes[s] >> 4 * word & 0xf) counts[s * kSectorBytes / 4 + word] += signals;
  }
  /// Whether the word that `poll` is about still lacks signals. Counts are modulo 2^32.
  [[nodiscard]] bool lacks(const icnt::Request& poll) const {
    const auto found = lines_.find(poll.line);
    const std::uint32_t had =
        found == lines_.end() ? 0 : found->second[(poll.awaited_word() - poll.line) / 4 % kWords];
    return static_cast<std::int32_t>(poll.awaited_signals() - had) > 0;
  }

  template <class A>
  void persist(A& a) {
    a.members(*this, lines_);
  }

 private:
  static constexpr std::size_t kWords = kLineBytes / 4;
  using Line = std::array<std::uint32_t, kWords>;
  std::unordered_map<Address, Line> lines_;
};

}  // namespace lockstep::mem
