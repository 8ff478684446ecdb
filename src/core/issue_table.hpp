// The static instructions of a kernel in the form that the issue stage reads: resolved against the
// configuration, registers expanded. One table per kernel, shared by all SMs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "config/gpu_config.hpp"
#include "stats/counters.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::core {

/// A warp's scoreboard has an entry for each register that its kernel names, numbered as they first occur:
/// those that are used together lie together, and a warp's entries in few lines of the host's cache.
inline constexpr unsigned kNoRegister =
    0;  // never written: what fewer than four registers are filled up with
/// Vector, uniform, predicate and uniform predicate registers that there are, and kNoRegister.
inline constexpr unsigned kRegistersPerWarp = 1 + 256 + 64 + 8 + 8;

/// Where an instruction goes when it is issued.
enum class IssueKind : std::uint8_t {
  kFixed,  // a pipe of the sub-core with a known latency
  kMio,    // leaves the sub-core through the memory pipeline; result comes as an event
  kBarrier,
  kFence,
  kDepBar,  // LDGDEPBAR, UTMACMDFLUSH close a group, DEPBAR waits for groups
  kSleep,
  kProduct,         // of a warpgroup
  kProductWait,     // WARPGROUP.DEPBAR
  kClusterBarrier,  // as kFixed; arrives at the cluster's barrier or waits there, as `barrier` says
  kClock,           // as kFixed; its issue cycle is what the instruction reads
  kBranch,          // waits for its turn at the branch unit that the sub-cores share
};

struct OperandReads {
  std::uint16_t count = 0;
  std::array<std::uint8_t, 2> bank_cycles{};  // for which the ports of an even / odd bank are taken
};

struct alignas(64) IssueInst {  // a line of the host's cache
  std::uint32_t pc = 0;
  std::uint16_t latency = 0;   // core cycles to the earliest dependent issue (kFixed)
  std::uint16_t interval = 1;  // core cycles for which the unit is taken
  config::UnitMask units = 0;  // any one of them takes it
  IssueKind kind = IssueKind::kFixed;
  trace::OpClass op_class = trace::OpClass::kAlu;
  trace::MemSpace space = trace::MemSpace::kNone;
  trace::BarrierOp barrier = trace::BarrierOp::kNone;
  trace::FenceScope fence = trace::FenceScope::kNone;
  std::uint8_t barrier_id = 0;
  std::uint8_t bytes = 16;
  std::uint8_t access_bytes = 0;
  bool may_branch = false, bypass_l1 = false, known = true;
  trace::L2Policy l2_policy = trace::kNoL2Policy;
  bool long_result = false;       // dependents wait on memory, not on the MIO
  bool closes_group = false;      // LDGDEPBAR, UTMACMDFLUSH; the last product of a group
  bool matrix : 1 = false;        // LDSM, STSM: one address per matrix row
  bool prefetch : 1 = false;      // a load without a result, of lines
  bool needs_addresses = false;   // a memory access, as opposed to what merely leaves the sub-core
  std::uint8_t destinations = 0;  // registers[0, destinations) are written, the next `sources` are read
  std::uint8_t sources = 0;
  OperandReads reads;              // from the register file
  OperandReads reads_reused;       // likewise when the instruction before it fills the cache
  std::uint16_t read_window = 1;   // core cycles that the reads may take without delay
  std::uint8_t reused = 0;         // reads that the register-file cache saves
  std::uint8_t operand_delay = 0;  // core cycles by which it sees fixed-latency results later
  std::int32_t immediate = 0;
  trace::BulkCopy bulk = trace::BulkCopy::kNone;
  trace::SignalOp signal = trace::SignalOp::kNone;
  bool synchronises = false;  // with an mbarrier, or waits for signals
  stats::UnitClass unit_class = stats::UnitClass::kOther;
  const std::uint16_t* registers = nullptr;
  std::array<std::uint16_t, 4> first_registers{};  // of `registers`, filled up with kNoRegister
};
static_assert(sizeof(IssueInst) == 64);

class IssueTable {
 public:
  explicit IssueTable(const config::GpuConfig& config);

  /// Serial points only: adds what the static table has gained. Elements never move.
  void extend(const trace::StaticTable& instructions);

  [[nodiscard]] const IssueInst& operator[](std::uint32_t i) const { return chunks_[i / kChunk][i % kChunk]; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// The index of an element of this table.
  [[nodiscard]] std::uint32_t index_of(const IssueInst& inst) const;
  /// Scoreboard entries that its instructions use.
  [[nodiscard]] unsigned scoreboard_entries() const { return scoreboard_entries_; }
  /// Some instruction names a barrier other than 0, but not how many threads take part.
  [[nodiscard]] bool named_barriers() const { return named_barriers_; }

 private:
  static constexpr unsigned kChunk = 512;
  static constexpr unsigned kMaxChunks = trace::StaticTable::kMaxChunks * trace::StaticTable::kChunk / kChunk;

  [[nodiscard]] IssueInst resolve(const trace::StaticInst& inst, const trace::StaticInst* before);
  void set_pipe(IssueInst& out, const trace::StaticInst& inst) const;
  void set_registers(IssueInst& out, const trace::StaticInst& inst);
  [[nodiscard]] std::uint16_t entry_of(trace::RegSpace space, unsigned index);
  void set_bank_reads(IssueInst& out, const trace::StaticInst& inst, const trace::StaticInst* before) const;
  [[nodiscard]] std::uint32_t tensor_interval(const trace::StaticInst& inst) const;
  const std::uint16_t* keep(const std::vector<std::uint16_t>& registers);

  config::GpuConfig config_;
  std::vector<std::unique_ptr<IssueInst[]>> chunks_;
  std::vector<std::unique_ptr<std::uint16_t[]>> register_blocks_;
  std::size_t block_used_ = 0, block_size_ = 0;
  std::uint32_t size_ = 0;
  std::array<std::uint16_t, kRegistersPerWarp> entry_of_{};  // by register; 0: does not occur yet
  unsigned scoreboard_entries_ = kNoRegister + 1;
  bool named_barriers_ = false;
};

}  // namespace lockstep::core
