// Pairs of PTX instructions that the machine does in one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lower/addresses.hpp"
#include "lower/schedule.hpp"
#include "lower/use_counts.hpp"
#include "ptx/ir.hpp"

namespace lockstep::lower {

/// A row of the table of pairs; see fusion.cpp.
struct FusionRule;

/// The machine instruction of an instruction that does also what makes one of its operands.
struct Fused {
  const char* opcode = nullptr;
  const char* high_opcode = nullptr;  // of a second one for the upper halves, or null
  const char* sequence = nullptr;     // in place of an opcode: key of what stands for both (sequences.hpp)
  std::uint32_t producer = 0;         // place of the instruction that it takes in
  std::uint32_t operand = 0;          // of the consumer: what the producer makes
};

/// A product and a sum, two sums, two logic operations, a shift and a sum, comparisons whose outcomes are
/// combined, where nothing else reads what the first makes: what ptxas 13.0 made of each such pair of PTX
/// instructions for sm_75, sm_80 and sm_90. A shift or a wide product may have several readers, if all take
/// it in; one of 64 bits before sm_75 only (ptxas 13.0 makes the sum of its halves from there on; that a V100
/// took it in shows in the pipe cycles of Rodinia's prepare, docs/results/kernels.md).
class Fusions {
 public:
  Fusions() = default;
  /// `function` in the order in which its machine code is to be, of which `addresses` are part of accesses.
  /// Without `integers` only products and sums, of one reader. arch: compute capability * 10.
  Fusions(const ptx::Function& function, const std::vector<Run>& runs,
          const std::vector<FoldedAddress>& addresses, bool integers, unsigned arch);

  /// By place: it is no machine instruction of its own.
  [[nodiscard]] bool gone(std::uint32_t at) const { return !gone_.empty() && gone_[at]; }
  [[nodiscard]] const Fused* at(std::uint32_t at) const {
    return fused_.empty() || !fused_[at] ? nullptr : &*fused_[at];
  }

 private:
  struct Producer {  // of a register
    std::uint32_t at = 0;
    std::size_t run = 0;
    bool known = false;
  };
  using Instruction = ptx::Instruction;

  void visit(std::uint32_t at, std::size_t run, bool folded);
  [[nodiscard]] bool take_in(std::uint32_t at, std::uint32_t operand, std::size_t run);
  [[nodiscard]] const FusionRule* rule_of(std::uint32_t at, std::uint32_t operand, std::size_t run) const;
  [[nodiscard]] bool may_have_several_readers(const Instruction& i) const;
  [[nodiscard]] bool still_there(std::uint32_t producer, std::uint32_t consumer) const;
  [[nodiscard]] bool reads_what_stays(const Instruction& producer) const;
  void keep_partly_taken();

  const ptx::Function* function_ = nullptr;
  bool integers_ = false;
  unsigned arch_ = 0;
  UseCounts uses_;
  std::vector<Producer> producers_;        // by register
  std::vector<std::uint32_t> last_write_;  // by register: place + 1
  std::vector<std::uint32_t> taken_;       // by place: how many have taken it in
  std::vector<bool> gone_;
  std::vector<std::optional<Fused>> fused_;
};

}  // namespace lockstep::lower
