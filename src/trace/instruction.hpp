// The static side of a trace: one StaticInst for each distinct (PC, text) of a kernel.
#pragma once

#include <array>
#include <cstdint>

#include "trace/l2_policy.hpp"
#include "util/types.hpp"

namespace lockstep::trace {

/// What an instruction needs from the SM. Each class maps, by configuration, to an execution pipe with a
/// latency and an initiation interval (config::PipeSpec); memory and control classes are handled by name.
enum class OpClass : std::uint8_t {
  kAlu,           // integer add, logic, shift, compare, select, move, predicate logic, FP32 compare
  kFp32,          // FADD, FMUL, FFMA
  kImad,          // 32-bit integer multiply-add on the FMA pipe
  kImadWide,      // IMAD.WIDE, IMAD.HI
  kFp16,          // HADD2, HMUL2, HFMA2 and bf16 forms
  kFp64,          // DADD, DMUL, DFMA, DSETP
  kSfu,           // MUFU
  kConvert,       // I2F, F2I, F2F, FRND, ...: quarter-rate conversions
  kBitcount,      // POPC, FLO, BREV
  kTensor,        // HMMA, IMMA, DMMA, BMMA, QMMA: `macs` and `tensor_type` say how much work
  kWarpgroupMma,  // HGMMA, IGMMA, QGMMA, BGMMA (asynchronous, sm_90)
  kUniform,       // the uniform datapath
  kSpecialReg,    // S2R, S2UR
  kVote,          // VOTE, MATCH, REDUX
  kShuffle,       // SHFL
  kBranch,        // BRA, BRX, JMP, CALL, RET, BSYNC, BREAK, ...: may change the PC
  kConvergence,   // BSSY, WARPSYNC, YIELD: no PC change
  kExit,          // EXIT, KILL
  kBarrier,       // BAR.*, B2R, BARRIER: CTA barrier; `barrier` says which
  kMemBar,        // MEMBAR, FENCE, ERRBAR, CCTL
  kDepBar,        // DEPBAR, LDGDEPBAR, ARRIVES.LDGSTSBAR, WARPGROUP.DEPBAR
  kSleep,         // NANOSLEEP
  kNop,
  kConstLoad,  // LDC, LDCU, ULDC: constant cache
  kLoad,       // any load through the LSU (global, local, shared, generic, LDSM)
  kStore,      // any store through the LSU
  kAtomic,     // returns a value
  kReduction,  // does not return a value
  kAsyncCopy,  // LDGSTS: global to shared without registers
  kBulkCopy,   // UBLKCP, UTMALDG, UTMASTG, ...: TMA; no addresses in NVBit's traces
  kMbarrier,   // SYNCS: shared-memory barrier objects; which ones, NVBit's traces do not say
  kTexture,    // TEX, TLD, TLD4, TXQ, ...
  kSurface,    // SULD, SUST, SUATOM
  kCount
};

enum class MemSpace : std::uint8_t { kNone, kGlobal, kShared, kLocal, kConstant, kGeneric, kTexture };

/// The type of the factors; kF16F32 is FP16 with FP32 sums, kF16 is FP16 with FP16 sums.
enum class TensorType : std::uint8_t {
  kNone,
  kF16,
  kBf16,
  kTf32,
  kF64,
  kInt8,
  kInt4,
  kBinary,
  kFp8,
  kF16F32
};

/// Scope of a memory fence.
enum class FenceScope : std::uint8_t { kNone, kCta, kGpu, kSystem };

/// The part of an instruction in waits for words of global memory (awaited_signals.hpp). Only in recordings.
enum class SignalOp : std::uint8_t {
  kNone,
  kSignals,  // a write for which others may wait
  kAwaits    // AWAIT
};
enum class BarrierOp : std::uint8_t { kNone, kSync, kArrive, kReduce };

enum class RegSpace : std::uint8_t { kVector, kUniform, kPredicate, kUniformPredicate };

/// What a bulk copy does to global memory; kNone if that is not in the trace. kBetween: it goes from the
/// CTA's shared memory to that of another CTA of its cluster.
enum class BulkCopy : std::uint8_t { kNone, kLoad, kStore, kReduction, kBetween, kPrefetch };
/// Global memory.
[[nodiscard]] constexpr bool writes(BulkCopy k) { return k == BulkCopy::kStore || k == BulkCopy::kReduction; }

/// `count` consecutive registers from `first`. The zero registers (RZ, URZ, PT, UPT) are never listed.
struct RegisterRange {
  RegSpace space = RegSpace::kVector;
  std::uint8_t first = 0;
  std::uint8_t count = 1;
  std::uint8_t position = 0;  // operand position 0..; the register-file cache is indexed by it
  friend bool operator==(const RegisterRange&, const RegisterRange&) = default;
};

/// At most N ranges in place; readers reject instructions with more.
template <unsigned N>
struct RegisterList {
  std::array<RegisterRange, N> range{};
  std::uint8_t size = 0;
  [[nodiscard]] const RegisterRange* begin() const { return range.data(); }
  [[nodiscard]] const RegisterRange* end() const { return range.data() + size; }
  void push(RegisterRange r) { range.at(size++) = r; }
};

/// What the instruction is and needs; independent of the simulated GPU's configuration.
struct StaticInst {
  std::uint32_t pc = 0;      // bytes from the kernel's first instruction; callees lie at disjoint ranges
  std::uint32_t bytes = 16;  // encoding size: 8 before sm_70, 16 since (decides the next sequential PC)
  std::array<char, 16> mnemonic{};  // base opcode ("LDG"), zero-terminated, cut to fit
  OpClass op_class = OpClass::kAlu;
  MemSpace space = MemSpace::kNone;
  std::uint8_t access_bytes = 0;  // bytes that a lane moves; 0 if it is not a memory instruction
  bool has_addresses = false;     // the trace lists addresses for it
  bool bypass_l1 = false;         // .STRONG.GPU/.SYS loads, volatile, .CV: served at L2
  bool prefetch =
      false;  // CCTL.PF1, .PF2: a load of the lanes' lines into the L1; with bypass_l1, into the L2
  L2Policy l2_policy = kNoL2Policy;
  bool known = true;        // false: not in the opcode table, class is a guess
  bool may_branch = false;  // the next PC may differ from pc + bytes
  BarrierOp barrier =
      BarrierOp::kNone;         // SYNCS, ARRIVES: kArrive, kSync where its words give mbarrier and events
  std::uint8_t barrier_id = 0;  // named barrier, or kCountedBarrier; 0 where the trace does not say
  FenceScope fence = FenceScope::kNone;
  SignalOp signal = SignalOp::kNone;
  BulkCopy bulk = BulkCopy::kNone;  // else its words are those of bulk_runs.hpp
  TensorType tensor_type = TensorType::kNone;
  bool tensor_sparse = false;
  bool closes_group = false;   // the last one of a group of a warpgroup's products
  std::uint32_t macs = 0;      // multiply-accumulates of the whole warp (or warpgroup) instruction
  std::int32_t immediate = 0;  // DEPBAR's group count, BAR's id, NANOSLEEP's ns; 0 where not traced
  RegisterList<4> destinations;
  RegisterList<8> sources;
};

}  // namespace lockstep::trace
