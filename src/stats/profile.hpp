// What each static instruction of a kernel did: `--profile`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stats/counters.hpp"

namespace lockstep::stats {

struct RunReport;

/// Sums over all warps of a launch. Only std::uint64_t inside: add() walks it as an array.
///
/// A sub-core's cycle that is booked for a reason (counters.hpp, Stall) belongs to the instruction that the
/// warp it is blamed on would issue next; `drain` to the warp's last one. Of several warps with the reason
/// that counts it is the one in the lowest slot. So of every reason but `empty`, which has no warp, the sum
/// over a kernel's instructions is the kernel's counter.
struct InstructionCounters {
  std::uint64_t threads = 0;                    // active lanes, summed over its issues
  std::array<std::uint64_t, kStalls> stalls{};  // kIssued: how often a warp issued it; kEmpty: 0
  std::uint64_t l1_sectors = 0;                 // looked up in the L1 data cache
  std::uint64_t l2_sectors = 0;                 // requested from the L2 or sent to it
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t constant_passes = 0;  // of loads whose addresses are known
  friend bool operator==(const InstructionCounters&, const InstructionCounters&) = default;
};

/// By reason, as InstructionCounters::stalls.
using StallCycles = std::array<std::uint64_t, kStalls>;

/// What a launch of a kernel did, by instruction and by sub-core.
struct KernelProfile {
  std::vector<InstructionCounters> instructions;
  /// By the sub-core's number in its SM, summed over all SMs: of each reason the sum over sub-cores is that
  /// over instructions. Cycles without a warp of the launch are in none.
  std::vector<StallCycles> subcores;
  friend bool operator==(const KernelProfile&, const KernelProfile&) = default;
  template <class A>
  void persist(A& a) {
    a.members(*this, instructions, subcores);
  }
};

struct ProfiledInstruction {
  std::uint32_t pc = 0;
  std::string text;               // as trace::TracedInstruction::text
  std::string ptx;                // the statement that it comes from; empty: not known
  std::string source_file;        // empty: not known
  std::uint32_t source_line = 0;  // 0: not known
  friend bool operator==(const ProfiledInstruction&, const ProfiledInstruction&) = default;
  template <class A>
  void persist(A& a) {
    a.members(*this, pc, text, ptx, source_file, source_line);
  }
};

/// The instructions of a kernel, by PC; of launches that have the same, once.
struct ProfiledCode {
  std::string kernel;
  std::vector<ProfiledInstruction> instructions;
  template <class A>
  void persist(A& a) {
    a.members(*this, kernel, instructions);
  }
};

/// A machine instruction for people: "1 R4 LDG.E 1 R8 4" is "LDG.E R4, R8".
[[nodiscard]] std::string readable_instruction(std::string_view text);

/// Columns of a launch's rows in profile.json: name, unit and meaning.
struct ProfileColumn {
  std::string name;
  std::string_view unit, help;
};
[[nodiscard]] std::vector<ProfileColumn> profile_columns();
/// Columns of a launch's sub-cores.
[[nodiscard]] std::vector<ProfileColumn> subcore_columns();

/// profile.json: schema 1. Byte-identical for equal reports. Precondition: has_profile().
[[nodiscard]] std::string profile_json(const RunReport& report);

}  // namespace lockstep::stats
