// Lane kernels: the meaning of the PTX instructions that work on registers only, as functions over the 32
// lanes of a warp. The executor resolves operands to rows and calls them; memory, control flow and barriers
// are its own. Source: PTX ISA 9.0, chapter 9, section of each instruction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "util/error.hpp"

namespace lockstep::ptx {
struct Instruction;
}

namespace lockstep::exec {

inline constexpr int kLanes = 32;

/// 32 lanes of one virtual register. A 64-bit operand holds any scalar type in its low bits: predicates as 0
/// or 1, f16/bf16 as their 16 bits, packed types as their 32 or 64 bits; `.b128` takes two consecutive
/// LaneValues, low half first. Kernels ignore the bits of a source above its type's width and write zeros
/// above the width of the destination's register (`cvt` sign-extends a narrow signed result to that width,
/// PTX ISA 9.4.1). So an integer immediate is its two's complement in 64 bits whatever the type; a
/// floating-point immediate is the bits of the instruction's (source) type.
struct alignas(64) LaneValues {
  std::uint64_t lane[kLanes];
};

/// Per-lane state of a warp that no register holds.
struct WarpFlags {
  std::uint32_t carry = 0;  ///< CC.CF of lane i in bit i
};

inline constexpr int kMaxLaneDestinations = 8;
inline constexpr int kMaxLaneSources = 32;

/// The operands of one instruction of one warp. A destination may be the same register as a source.
struct LaneArgs {
  LaneValues*
      dst[kMaxLaneDestinations];  ///< in order, vectors and pairs (`p|q`) flattened; nullptr is the sink `_`,
                                  ///< and also a second result that the instruction does not name
  const LaneValues*
      src[kMaxLaneSources];  ///< in operand order, vectors flattened; immediates as broadcast operands
  std::uint32_t mask;        ///< active lanes, not 0; other lanes of dst keep their values
  std::uint32_t present;     ///< of `.sync` kernels: lanes whose sources take part; `mask` is among them
  WarpFlags* flags;
};

/// `immediate` is a small constant of the instruction, fixed when the kernel is selected. A kernel neither
/// throws nor changes global state (the rounding mode included), and gives the same bits on every host.
using LaneFn = void (*)(const LaneArgs&, std::uint64_t immediate);

struct LaneOp {
  LaneFn fn = nullptr;
  std::uint64_t immediate = 0;
  int destinations = 0;  ///< entries of LaneArgs::dst that are read (set those that are not named to nullptr)
  int sources = 0;       ///< entries of LaneArgs::src that are read
};

/// The kernel of an instruction that works on registers only, warp-level ones included (vote, shfl, match,
/// redux, activemask, elect, wmma.mma, mma.sync on fragments in the layouts of alu_fragment.hpp), or nullopt
/// where the opcode is the executor's (memory, control, barriers, isspacep, conversions of addresses).
///
/// Depends only on the operands' number, kind, element selectors and `!`:
///  - `!p` on a predicate source is applied by the kernel; the guard `@p` is the executor's (LaneArgs::mask).
///  - `mov` copies operands: the executor points `src` to the operands of a special register or of an
///  address.
///  - `.sync` kernels take the lanes of `present` as those that arrived; the executor converges the lanes of
///    the member mask first. What shfl reads of a lane outside `present` is 0.
///  - a kernel of a warp-wide matrix instruction ignores `mask`: PTX requires all 32 lanes.
/// `destination_bits`: width of the first destination's register where it may be wider than its type (cvt); 0
/// takes the type's width, 16 at least. Throws FormError when the form is malformed or not supported.
std::optional<LaneOp> select_lane_op(const ptx::Instruction&, unsigned destination_bits = 0);

/// An instruction without a kernel. `what()` reads "line LINE: FORM: WHY"; line() and message() (without the
/// line) are there for callers that know the file.
class FormError : public UserError {
 public:
  FormError(const ptx::Instruction& instruction, const std::string& why);
  [[nodiscard]] std::uint64_t line() const { return line_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::uint64_t line_;
  std::string message_;
};

}  // namespace lockstep::exec
