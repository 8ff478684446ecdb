// The counters that domains keep, one set for each kernel slot: plain 64-bit integers, added up in a fixed
// order. Names, units and help of all of them stand in the descriptor table (descriptors.hpp).
#pragma once

#include <array>
#include <cstdint>

namespace lockstep::stats {

/// Why a sub-core issued nothing in a cycle; one reason for each sub-core and cycle, the first that applies.
enum class Stall : std::uint8_t {
  kIssued,           // no stall: an instruction was issued
  kMathPipe,         // a ready warp's execution unit is busy
  kMioThrottle,      // a ready warp's memory or MIO queue is full
  kRegisterPort,     // operand read of the previous instruction holds the allocate stage
  kWait,             // fixed-latency dependence
  kShortScoreboard,  // shared memory, shuffle, constant, special register, MUFU-like variable latency
  kLongScoreboard,   // global, local or texture memory
  kBarrier,          // CTA barrier
  kMemBar,           // memory fence
  kDepBar,           // DEPBAR / async-copy group wait
  kSleep,            // NANOSLEEP
  kBranch,           // branch target not yet known
  kNoInstruction,    // instruction buffer empty: fetch or I-cache miss
  kDrain,            // every resident warp has exited, memory is outstanding
  kEmpty,            // no warp of any CTA on this sub-core
  kCount
};
inline constexpr unsigned kStalls = static_cast<unsigned>(Stall::kCount);

/// The execution units of a sub-core, in the order of config::Unit; kMio is the way to its memory queue.
enum class Pipe : std::uint8_t {
  kAlu,
  kFma,
  kFma2,
  kFp16,
  kFp64,
  kXu,
  kTensor,
  kUniform,
  kBranch,
  kMio,
  kCount
};
inline constexpr unsigned kPipes = static_cast<unsigned>(Pipe::kCount);

/// What does an instruction's arithmetic, for lanes by unit.
enum class UnitClass : std::uint8_t {
  kInt,          // integer, logic, compare, select, move, shuffle
  kIntMultiply,  // IMAD, IMUL, IDP, LEA, ISCADD, XMAD
  kFp,           // FP32 and FP16 without a multiply, conversions to and from them
  kFpMultiply,   // FMUL, FFMA, HMUL2, HFMA2
  kFp64,
  kSfu,
  kTensor,
  kTexture,
  kOther,  // memory, control flow, barriers
  kCount
};
inline constexpr unsigned kUnitClasses = static_cast<unsigned>(UnitClass::kCount);

struct CacheCounters {  // in 32-byte sectors
  std::uint64_t accesses = 0, hits = 0, misses = 0,
                mshr_merges = 0;                        // accesses = hits + misses + mshr_merges
  std::uint64_t sectors_read = 0, sectors_written = 0;  // accesses = read + written
  std::uint64_t requests = 0;                           // line-sized lookups
  // hits = read + write, misses = read + write; what is left of sectors_read and sectors_written was merged.
  std::uint64_t read_hits = 0, write_hits = 0, read_misses = 0, write_misses = 0;
  // Lookups with a miss of a line of which no sector is there or under way.
  std::uint64_t read_line_misses = 0, write_line_misses = 0;
};

/// Books the sectors of one lookup of a line, all but `requests`. `line_there`: a sector of the line is there
/// or under way.
inline void book_lookup(CacheCounters& c, bool read, std::uint64_t hits, std::uint64_t misses,
                        std::uint64_t merges, bool line_there) {
  const std::uint64_t all = hits + misses + merges, line_misses = misses > 0 && !line_there;
  c.accesses += all;
  c.hits += hits;
  c.misses += misses;
  c.mshr_merges += merges;
  (read ? c.sectors_read : c.sectors_written) += all;
  (read ? c.read_hits : c.write_hits) += hits;
  (read ? c.read_misses : c.write_misses) += misses;
  (read ? c.read_line_misses : c.write_line_misses) += line_misses;
}

/// The part of a cache's sectors that local memory has.
struct LocalCounters {
  std::uint64_t read_hits = 0, read_merges = 0, read_misses = 0, read_line_misses = 0;
  std::uint64_t write_hits = 0, write_misses = 0, write_line_misses = 0;  // stores do not merge
};
inline void book_local(LocalCounters& c, bool read, std::uint64_t hits, std::uint64_t misses,
                       std::uint64_t merges, bool line_there) {
  const std::uint64_t line_misses = misses > 0 && !line_there;
  (read ? c.read_hits : c.write_hits) += hits;
  (read ? c.read_misses : c.write_misses) += misses;
  (read ? c.read_line_misses : c.write_line_misses) += line_misses;
  c.read_merges += merges;
}

struct SmCounters {
  std::uint64_t warp_instructions = 0, thread_instructions = 0, ctas = 0, warps = 0;
  CacheCounters l1;
  LocalCounters l1_local;
  std::uint64_t l1_load_sectors_sent = 0, l1_store_sectors_sent = 0;  // requests into the crossbar
  std::uint64_t l1_atomic_sectors_sent = 0, l1_atomic_line_misses = 0;
  std::uint64_t shared_instructions = 0, shared_wavefronts = 0;  // conflict-free: one wavefront each
  std::uint64_t global_instructions = 0, local_instructions = 0, const_instructions = 0;
  std::uint64_t const_passes = 0, const_l1_misses = 0, const_l15_misses = 0;  // misses: passes
  std::uint64_t tlb_waits = 0;
  std::uint64_t l0i_accesses = 0, l0i_misses = 0, l1i_accesses = 0, l1i_misses = 0, ifetch_prefetches = 0;
  std::uint64_t rf_reads = 0, rfc_hits = 0, rf_conflict_cycles = 0;
  std::uint64_t barriers = 0;
  std::uint64_t unknown_instructions = 0;
  std::uint64_t warp_cycles = 0;  // resident warps summed over cycles
  std::array<std::uint64_t, kStalls> stalls{};
  std::array<std::uint64_t, kPipes> pipes{};        // cycles for which issued instructions take their unit
  std::array<std::uint64_t, kUnitClasses> lanes{};  // sum up to thread_instructions
};

struct PartitionCounters {
  CacheCounters l2;
  LocalCounters l2_local;
  std::uint64_t l2_atomics = 0, l2_writebacks = 0;  // sectors
  std::uint64_t l2_atomic_hits = 0, l2_atomic_merges = 0, l2_atomic_line_misses = 0;
  std::uint64_t l2_fetches = 0, l2_fetch_hits = 0;  // sectors of instruction and constant fetches
  std::uint64_t l2_fetch_merges = 0, l2_fetch_line_misses = 0;
  std::uint64_t dram_reads = 0, dram_writes = 0;  // bursts
  std::uint64_t dram_row_hits = 0, dram_row_misses = 0, dram_activates = 0, dram_precharges = 0;
  std::uint64_t dram_bytes = 0;
  std::uint64_t far_requests = 0;
};

struct IcntCounters {
  std::uint64_t requests = 0, replies = 0, flits = 0, stall_cycles = 0;
};

/// Everything of one kernel. Only std::uint64_t inside: add() walks it as an array.
struct KernelCounters {
  SmCounters sm;
  PartitionCounters mem;
  IcntCounters icnt;
};
static_assert(sizeof(KernelCounters) % sizeof(std::uint64_t) == 0);

/// total += part, field by field, for any of the structs above.
template <class Counters>
void add(Counters& total, const Counters& part) {
  static_assert(sizeof(Counters) % sizeof(std::uint64_t) == 0);
  auto* t = reinterpret_cast<std::uint64_t*>(&total);
  const auto* p = reinterpret_cast<const std::uint64_t*>(&part);
  for (std::size_t i = 0; i < sizeof(Counters) / sizeof(std::uint64_t); ++i) t[i] += p[i];
}

}  // namespace lockstep::stats
