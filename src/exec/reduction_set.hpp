// Elements of global memory to which a part of a launch's CTAs only adds, or does something else whose order
// does not matter, without looking at them. Each part makes its own sum; in the end memory gets them all.
// Internal to src/exec.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exec/operation.hpp"

namespace lockstep::exec {

/// One element, and what one part has made of the operands given for it.
struct Reduction {
  Address at = 0;
  std::uint64_t value = 0;
  AtomicFn fn = nullptr;  // of an AtomicForm that commutes
  std::uint8_t bytes = 0;
};

class ReductionSet {
 public:
  /// False: the element is reduced by another operation already. `fresh`: it was not reduced before.
  [[nodiscard]] bool add(const Reduction& one, bool& fresh);
  /// nullptr: none.
  [[nodiscard]] const Reduction* find(Address at) const;
  /// In the order of their first operands.
  [[nodiscard]] std::span<const Reduction> all() const { return all_; }
  void clear();

 private:
  static constexpr std::size_t kFewest = 1024, kMaxKept = 1 << 16;  // places
  [[nodiscard]] std::size_t place_of(Address at) const;
  void grow();

  std::vector<Reduction> all_;
  std::vector<std::uint32_t> places_;  // a power of two of them: number in all_ plus 1; 0: free
};

}  // namespace lockstep::exec
