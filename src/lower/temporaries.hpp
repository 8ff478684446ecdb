// Registers for the temporaries of sequences: those that hold no value where the sequence stands; or, without
// that step, above all values.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "lower/registers.hpp"

namespace lockstep::lower {

class Temporaries {
 public:
  using Busy = std::bitset<kMaxRegisters>;

  explicit Temporaries(const RegisterAssignment& registers, bool among_values = true);

  /// The registers that hold a value before or after the instruction. From call to call `at` does not fall.
  [[nodiscard]] const Busy& busy(std::uint32_t at);
  /// Temporary `number` where `busy` are taken; `paired`: 2n and 2n + 1 are the halves of a 64-bit value.
  [[nodiscard]] std::uint8_t place(const Busy& busy, unsigned number, bool paired);
  /// The highest register that a temporary took + 1; 0: there were no temporaries.
  [[nodiscard]] unsigned used() const { return used_; }

 private:
  unsigned above_ = 0;               // not among values: the first that holds none
  std::vector<HeldRegisters> held_;  // by first
  std::size_t next_ = 0;
  std::uint32_t at_ = ~0u;
  std::vector<std::uint32_t> until_ = std::vector<std::uint32_t>(kMaxRegisters, 0);  // exclusive, by register
  Busy busy_;
  unsigned used_ = 0;
};

}  // namespace lockstep::lower
