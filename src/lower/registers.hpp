// Physical registers for the virtual ones of a PTX function.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/fusion.hpp"
#include "lower/held_ranges.hpp"
#include "lower/passes.hpp"
#include "ptx/ir.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

inline constexpr std::uint8_t kNoRegister = 255;  // RZ
inline constexpr unsigned kMaxRegisters = 255;
inline constexpr std::uint8_t kStackPointer = 1;

/// The register of the upper half of the 64-bit value whose lower half is in `low`.
[[nodiscard]] inline std::uint8_t high_half(std::uint8_t low) {
  return static_cast<std::uint8_t>(low + 1u < kMaxRegisters ? low + 1u : kMaxRegisters - 1);
}

/// What of a function is no machine instruction of its own.
struct Folded {
  std::vector<FoldedAddress> addresses;
  Fusions fusions;
};

/// Registers [place, place + words) hold a value from before instruction `first` to that before `last`.
struct HeldRegisters {
  std::uint32_t first = 0, last = 0;
  unsigned place = 0, words = 0;
};

/// Linear scan over live intervals (Poletto and Sarkar, 1999), an interval reaching from the first to the
/// last instruction at which the value is live. The elements of a vector operand get consecutive registers
/// where they have no other place yet, as loads and stores of several registers need them. A move whose
/// source dies in it, or that copies for good, and an address that is part of the access, share their
/// source's register. The halves that a move packs into or takes out of a 64-bit value, each written once,
/// are that value's registers; so is the low half that a conversion between 32-bit and 64-bit integers
/// extends or keeps. R1 holds the stack pointer, whether there is a stack or not.
class RegisterAssignment {
 public:
  /// What a register may be used for between the first and the last position at which it holds a value:
  /// nothing else, or, as costs more time to find out, other values in the holes where it holds nothing that
  /// is read again.
  enum class Holes : std::uint8_t { kKept, kUsed };

  /// Within `target` registers, one that was free for a while is preferred to one that has just become so:
  /// its last readers may still wait to be issued. What a fused instruction takes in has no result; its
  /// sources are read where it is done.
  explicit RegisterAssignment(const ptx::Function& function, unsigned target = 32, Passes passes = {},
                              const Folded& folded = {}, Holes holes = Holes::kKept);

  /// First of the 32-bit registers of `id`; kNoRegister for predicates and what is never used.
  [[nodiscard]] std::uint8_t operator[](ptx::RegisterId id) const;
  /// The virtual register whose place it shares; itself when it has one of its own.
  [[nodiscard]] ptx::RegisterId root(ptx::RegisterId id) const;
  /// How many 32-bit registers are in use at once at most, and so the highest number + 1.
  [[nodiscard]] unsigned used() const { return used_; }
  /// The move at `instruction` is not an instruction: both sides share a register.
  [[nodiscard]] bool folded(std::uint32_t instruction) const { return folded_[instruction]; }
  /// It has no register: see constants.hpp.
  [[nodiscard]] bool constant(ptx::RegisterId id) const { return constant_[id]; }
  /// For all values; with holes that may be used, an element for each range between them.
  [[nodiscard]] std::vector<HeldRegisters> held() const;

 private:
  struct Interval {
    std::uint32_t first = ~0u, last = 0;
    unsigned words = 0;
  };
  struct Group {
    std::vector<ptx::RegisterId> members;
  };

  void fold_addresses(const std::vector<FoldedAddress>& addresses, const ptx::Function& function);
  void fold_halves(const ptx::Function& function);
  void fold_extensions(const ptx::Function& function);
  [[nodiscard]] std::vector<std::uint32_t> writes_of_roots(const ptx::Function& function) const;
  [[nodiscard]] bool share_halves(ptx::RegisterId whole, const std::vector<ptx::Operand>& halves,
                                  const std::vector<std::uint32_t>& writes);
  void fold_moves(const ptx::Function& function, const ptx::ControlFlow& flow, const ptx::Liveness& liveness,
                  bool copies);
  void measure(const ptx::Function& function, const ptx::ControlFlow& flow, const ptx::Liveness& liveness,
               const Fusions& fusions);
  void find_ranges(const ptx::Function& function, const ptx::ControlFlow& flow, const ptx::Liveness& liveness,
                   const Fusions& fusions);
  void mask_components(const ptx::Function& function);
  void group_vectors(const ptx::Function& function);
  void group(std::vector<ptx::RegisterId> members);
  void scan();
  void place(ptx::RegisterId id, std::uint32_t at);
  [[nodiscard]] unsigned find_in_holes(const std::vector<ptx::RegisterId>& members, unsigned words,
                                       unsigned align) const;
  void take(ptx::RegisterId id, unsigned at);

  std::vector<ptx::RegisterId> alias_;
  std::vector<std::uint8_t> part_;  // which 32-bit register of alias_[id] it is
  std::vector<Interval> intervals_;
  std::vector<std::uint8_t> place_;
  std::vector<std::uint32_t> group_of_;
  std::vector<Group> groups_;
  std::vector<bool> folded_, constant_;
  std::vector<std::uint32_t> busy_until_ =
      std::vector<std::uint32_t>(kMaxRegisters, 0);  // exclusive, by register
  std::vector<std::vector<HeldRange>> ranges_;       // by root; empty: holes are kept
  std::vector<TakenPositions> taken_;                // by register, where holes are used
  unsigned used_ = 0, target_;
  bool rest_;
};

}  // namespace lockstep::lower
