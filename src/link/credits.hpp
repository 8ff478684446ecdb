// A receive buffer at the end of a wire, as its sender knows it.
#pragma once

#include <cstdint>

#include "util/ring.hpp"
#include "util/types.hpp"

namespace lockstep::link {

/// Credit-based flow control of one class of messages: each takes its bytes of the buffer when it begins, and
/// they are back a round trip later. Times are cycles of the wire's sender.
class Credits {
 public:
  /// `bytes`: of the buffer; 0: always enough.
  explicit Credits(std::uint64_t bytes = 0) : bounded_(bytes > 0), left_(bytes) {}

  [[nodiscard]] bool bounded() const { return bounded_; }
  [[nodiscard]] std::uint64_t left() const { return left_; }
  /// Precondition, if bounded: no message is larger than the buffer.
  [[nodiscard]] bool allow(std::uint32_t bytes) const { return !bounded_ || bytes <= left_; }
  /// Precondition: allow(). `back`: not before that of the message before.
  void take(std::uint32_t bytes, Cycle back) {
    if (!bounded_) return;
    left_ -= bytes;
    out_.push({back, bytes});
  }
  /// Takes back what has returned by `now`.
  void collect(Cycle now) {
    for (; !out_.empty() && out_.front().back <= now; out_.pop()) left_ += out_.front().bytes;
  }
  /// kNever when nothing is out.
  [[nodiscard]] Cycle next_return() const { return out_.empty() ? kNever : out_.front().back; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(bounded_), left_, out_);
  }

 private:
  struct Out {
    Cycle back = 0;
    std::uint32_t bytes = 0;
    template <class A>
    void persist(A& a) {
      a.members(*this, back, bytes);
    }
  };
  bool bounded_;
  std::uint64_t left_;
  Ring<Out> out_;
};

}  // namespace lockstep::link
