// When a wire carried how much, for a timeline.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "util/types.hpp"

namespace lockstep::link {

/// Messages that follow each other closely are one span, of bounded length, so that a log grows with the time
/// in which there is traffic and not with the number of messages. Times are cycles of the wire's sender.
class TrafficLog {
 public:
  struct Span {
    Cycle from = 0, to = 0;  // of the first byte and after the last
    std::uint64_t messages = 0, bytes = 0;
    template <class A>
    void persist(A& a) {
      a.members(*this, from, to, messages, bytes);
    }
  };
  /// Before the run.
  void record() { on_ = true; }
  [[nodiscard]] bool on() const { return on_; }

  static constexpr Cycle kGap = 1024;      // and more without a byte ends a span
  static constexpr Cycle kLongest = 8192;  // a message that begins later begins another span

  /// `from`: not before that of the message before.
  void note(Cycle from, Cycle to, std::uint32_t bytes) {
    if (spans_.empty() || from >= spans_.back().to + kGap || from >= spans_.back().from + kLongest)
      spans_.push_back({spans_.empty() ? from : std::max(from, spans_.back().to), 0, 0, 0});
    Span& span = spans_.back();
    span.to = std::max(span.from + 1, to);
    ++span.messages;
    span.bytes += bytes;
  }
  [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(on_), spans_);
  }

 private:
  bool on_ = false;
  std::vector<Span> spans_;
};

}  // namespace lockstep::link
