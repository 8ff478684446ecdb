// The resolved description of one GPU and of how it is simulated: plain data, filled by the schema
// (schema.hpp) from configs/*.ini and --set. The dotted key of each field is `group.field`, e.g.
// sm.max_warps. Defaults are those of configs/v100.ini; the schema gives every key its type, unit, range,
// help and source.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/instruction.hpp"
#include "uvm/parameters.hpp"

namespace lockstep::config {

enum class SchedulerPolicy : std::uint8_t { kGto, kLrr, kCggty };
enum class L1Replacement : std::uint8_t { kLru, kFifo };
enum class L2Replacement : std::uint8_t { kLru, kNru, kHashedRandom };
enum class DramStandard : std::uint8_t { kHbm, kGddr };
enum class Refresh : std::uint8_t { kAllBanks, kSingleBank };
enum class CopyMode : std::uint8_t { kBlocking, kOverlapped };
enum class CacheControl : std::uint8_t { kNone, kAll };

/// Execution units of a sub-core. A pipe lists the units, any one of which can execute the instruction.
/// kFma and kFma2 are the two 16-lane FP32 datapaths (Volta and GA100 have the first only; integer
/// multiply-add runs on the first), kAlu is the integer and logic unit, kXu the unit for special functions
/// and conversions.
enum class Unit : std::uint8_t {
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
using UnitMask = std::uint16_t;
[[nodiscard]] constexpr UnitMask unit_bit(Unit u) {
  return static_cast<UnitMask>(1u << static_cast<unsigned>(u));
}

/// How a class of instructions executes: `pipe.<class>.units/latency/interval`. Matrix instructions occupy
/// their unit for as long as their work takes at the rate of tensor.*; they complete after latency + that
/// - 1.
struct PipeSpec {
  UnitMask units = unit_bit(Unit::kMio);  // never 0
  std::uint32_t latency = 4;   // core cycles from issue to the earliest issue of a dependent instruction
  std::uint32_t interval = 1;  // core cycles until the unit accepts another instruction
};
using PipeTable = std::array<PipeSpec, static_cast<unsigned>(trace::OpClass::kCount)>;

/// V100's pipes. Classes without `pipe.*` keys (memory, shuffle, barriers, ...) are marked kMio or kBranch;
/// their timing is in the groups mio, l1 and sync.
[[nodiscard]] constexpr PipeTable default_pipes() {
  using trace::OpClass;
  PipeTable t{};
  const auto set = [&t](OpClass c, Unit u, std::uint32_t latency, std::uint32_t interval) {
    t[static_cast<unsigned>(c)] = {unit_bit(u), latency, interval};
  };
  set(OpClass::kAlu, Unit::kAlu, 4, 2);
  set(OpClass::kFp32, Unit::kFma, 4, 2);
  set(OpClass::kImad, Unit::kFma, 5, 2);
  set(OpClass::kImadWide, Unit::kFma, 4, 4);
  set(OpClass::kFp16, Unit::kFp16, 6, 2);
  set(OpClass::kFp64, Unit::kFp64, 8, 4);
  set(OpClass::kSfu, Unit::kXu, 16, 8);
  set(OpClass::kConvert, Unit::kXu, 16, 8);
  set(OpClass::kBitcount, Unit::kXu, 16, 8);
  set(OpClass::kTensor, Unit::kTensor, 9, 1);
  set(OpClass::kWarpgroupMma, Unit::kTensor, 44, 1);
  set(OpClass::kUniform, Unit::kUniform, 4, 1);
  set(OpClass::kVote, Unit::kAlu, 6, 2);
  set(OpClass::kBranch, Unit::kBranch, 4, 2);
  set(OpClass::kConvergence, Unit::kBranch, 4, 2);
  set(OpClass::kExit, Unit::kBranch, 4, 2);
  set(OpClass::kDepBar, Unit::kBranch, 4, 1);
  set(OpClass::kSleep, Unit::kBranch, 4, 1);
  set(OpClass::kNop, Unit::kBranch, 1, 1);
  return t;
}

struct GpuGroup {  // gpu.*
  std::string name = "v100";
  std::uint32_t arch = 70;  // compute capability * 10
  std::uint32_t sms = 80;
  std::uint32_t sms_per_tpc = 2;
  std::uint32_t gpcs = 6;
  std::uint32_t last_gpc_sms = 0;  // 0: as many as the others
};
struct ClockGroup {  // clock.*_khz, one kHz exact
  std::uint64_t core_khz = 1380000, icnt_khz = 1200000, l2_khz = 1200000,
                dram_khz = 877000;  // DRAM command clock
};
struct SmGroup {  // sm.*
  std::uint32_t subcores = 4;
  std::uint32_t max_warps = 64, max_ctas = 32, max_threads = 2048;
  std::uint32_t registers = 65536;    // 32-bit, whole SM
  std::uint32_t register_unit = 256;  // allocation granularity in registers, per warp
  std::uint32_t shared_unit = 256;    // allocation granularity in bytes, per CTA
  std::uint32_t shared_reserved = 0;  // bytes of shared memory the system reserves per CTA (1024 since sm_80)
  SchedulerPolicy scheduler = SchedulerPolicy::kCggty;
};
struct FrontEndGroup {                // frontend.*
  std::uint32_t ibuffer_entries = 3;  // decoded instructions per warp
  std::uint32_t decode_latency = 2;   // core cycles from fetch to issue-ready
  std::uint32_t branch_latency = 12;  // core cycles from issue of a taken branch to the fetch of its target
  std::uint32_t l0_bytes = 12288, l0_ways = 4, line_bytes = 128;
  std::uint32_t l1i_bytes = 131072, l1i_ways = 8;
  std::uint32_t l1i_latency = 39;  // core cycles from an L0 miss to the fill from L1I
  std::uint32_t l1i_mshrs = 32;
  std::uint32_t l1i_read_ahead = 32;    // lines that an L1I miss requests beyond its own
  std::uint32_t launch_prefetch = 512;  // bytes of a kernel in the L1I when its first CTA arrives
  std::uint32_t prefetch_entries = 8;   // lines in a sub-core's stream buffer; 0 = no prefetcher
};
struct RegisterFileGroup {                  // rf.*
  std::uint32_t banks = 2, read_ports = 1;  // read ports per bank
  std::uint32_t read_window = 3;            // cycles in which an instruction must read its operands
  bool cache = true;                        // register-file cache
};
struct TensorGroup {  // tensor.*: dense multiply-accumulates per cycle and sub-core; 0 = type not supported
                      // natively
  std::uint32_t f16 = 128, f16_f32 = 128;  // with FP16 and with FP32 sums
  std::uint32_t bf16 = 0, tf32 = 0, f64 = 0, int8 = 0, int4 = 0, binary = 0, fp8 = 0;
  std::uint32_t sparse_factor = 1;
};
struct MioGroup {                       // mio.*: memory and other instructions that leave the sub-core
  std::uint32_t queue_entries = 4;      // local queue of a sub-core
  std::uint32_t dispatch_interval = 2;  // core cycles between two dispatches from one sub-core
  std::uint32_t operand_delay = 4;  // extra core cycles before they can read results of the sub-core's pipes
  std::uint32_t shuffle_latency = 23, shuffle_interval = 1;
  std::uint32_t special_latency = 20, special_interval = 2;  // S2R
  std::uint32_t const_latency = 28, const_interval = 1;      // LDC hit
  std::uint32_t const_pass_interval = 2;  // core cycles between two distinct addresses of an LDC
  std::uint32_t const_l1_bytes = 2048, const_l15_bytes = 65536;
  std::uint32_t const_l15_latency = 99;  // as const_latency
  bool const_cold_miss = false;          // the first constant load of an SM after a launch goes to L2
  std::uint32_t texture_latency = 86, texture_interval = 8;  // added to L1
};
struct L1Group {  // l1.*: unified L1 data cache and shared memory of an SM
  std::uint32_t bytes = 131072;
  std::vector<std::uint32_t> shared_carveouts_kib{0, 8, 16, 32, 64, 96};
  std::uint32_t ways = 4;  // the number of sets follows from the space that shared memory leaves
  L1Replacement replacement = L1Replacement::kFifo;
  std::uint32_t hit_latency = 28;     // core cycles from issue to dependent issue, one thread's pointer chase
  std::uint32_t shared_latency = 19;  // likewise, conflict-free LDS
  std::uint32_t tags_per_cycle = 2;   // distinct lines looked up per cycle
  std::uint32_t data_bytes_per_cycle = 128;
  std::uint32_t mshrs = 2048;                // lines in flight
  std::uint32_t pending_instructions = 128;  // pending request table: memory instructions in flight
  bool allocate_on_miss = true;              // false: when the data arrive
  bool allocate_on_store = true;
  bool cache_global = true;  // false: global loads bypass the L1, local ones are cached
};
struct SyncGroup {                     // sync.*
  std::uint32_t barrier_latency = 20;  // core cycles from the last arrival to the release
  std::uint32_t barrier_interval = 2;  // core cycles between the arrivals of two warps of an SM
  std::uint32_t membar_cta = 53, membar_gpu = 186,
                membar_system = 2900;  // minimum latency, in addition to waiting for acknowledgements
  bool poll_elision = true;            // polls that change nothing are counted, not simulated
  bool signals_complete = true;        // no key: false where kernels or CTAs that signal may be left out
};
struct ClusterGroup {  // cluster.*: between SMs of a GPC; core cycles
  std::uint32_t latency =
      0;  // of a load from another SM's shared memory, as l1.shared_latency; 0: no clusters
  std::uint32_t port_bytes = 16;        // that an SM sends, and that it receives, in a cycle
  std::uint32_t barrier_latency = 180;  // from the last arrival at a cluster's barrier to the release
};
struct TmaGroup {                   // tma.*: an SM's unit for bulk copies
  std::uint32_t line_interval = 1;  // core cycles from a line that it asks for to the next
  std::uint32_t queue = 16;         // copies with lines to ask for
};
struct IcntGroup {  // icnt.*: crossbar; latencies in icnt cycles, widths in bytes per icnt cycle
  std::uint32_t request_latency = 35, reply_latency = 35;
  std::uint32_t flit_bytes = 32;
  std::uint32_t sm_out_bytes = 32, sm_in_bytes = 64;        // injection and ejection port of an SM
  std::uint32_t slice_in_bytes = 32, slice_out_bytes = 32;  // ports of an L2 slice
  std::uint32_t request_credits = 16,
                reply_credits = 64;       // messages a source may have in flight to one destination
  std::uint32_t sm_queue_entries = 2048;  // requests of an SM waiting for the crossbar
  std::uint32_t queue_entries = 8;        // messages waiting at any other injection port
  std::uint32_t far_latency = 100;        // between L2 halves, one way
  std::uint32_t far_credits = 16;         // messages a slice may have in flight to the other half
};
inline constexpr std::uint32_t kNoDirtyLimit = 128;  // l2.dirty_ways: as many as the set has lines
struct L2Group {                                     // l2.*
  std::uint32_t partitions = 32;                     // one DRAM channel group each
  std::uint32_t slices_per_partition = 2;
  std::uint32_t slice_bytes = 98304, ways = 24;
  std::uint32_t dirty_ways =
      12;  // dirty lines allowed per set, or kNoDirtyLimit; source: v100_kernels.csv, srad
  L2Replacement replacement = L2Replacement::kLru;
  std::uint32_t latency = 84;                     // L2 cycles from ejection to the hit's reply
  std::uint32_t slice_bytes_per_cycle = 32;       // data bandwidth of a slice
  std::uint32_t mshrs = 192, mshr_merges = 1024;  // per slice; requests per line
  std::uint32_t far_merges = 4;                   // requests per line that comes from the other half
  std::uint32_t atomic_interval =
      1;                            // L2 cycles for which a sector of 32-bit atomics occupies the atomic unit
  std::uint32_t halves = 1;         // 2: the near half caches lines whose home is the far half
  std::uint32_t half_bytes = 4096;  // consecutive bytes whose home is one half; a power of two
  bool code_resident = true;        // instructions are in the L2 when they are first fetched
  std::uint32_t fetch_bytes = 64;   // aligned bytes that a miss brings from DRAM, at least
};
/// tlb.*: address translation of unmanaged device memory, as an SM sees it (uvm.* has that of managed
/// memory).
struct TlbGroup {
  std::uint32_t miss_latency = 654;  // core cycles; 0: misses cost nothing
  std::uint32_t pages = 4096;        // capacity, in pages of 2 MiB
};
struct DramGroup {            // dram.*: timing in cycles of clock.dram_khz, the command clock
  std::string type = "hbm2";  // a label; timing comes from the standard and the numbers
  DramStandard standard = DramStandard::kHbm;
  std::uint64_t capacity_bytes = 16ull << 30;  // device memory; limits CUDA programs' allocations, not traces
  std::uint32_t channels_per_partition = 2;    // independent (pseudo-)channels
  std::uint32_t bank_groups = 4, banks_per_group = 4;
  std::uint32_t row_bytes = 1024;
  std::uint32_t burst_bytes = 32;  // per column access
  std::uint32_t burst_cycles = 2;  // for which a column access occupies the data bus
  // Peak bandwidth = l2.partitions * channels_per_partition * burst_bytes / burst_cycles * clock.dram_khz.
  std::uint32_t tRCD = 12, tRP = 12, tRAS = 28, tCL = 12, tCWL = 4, tCCD_S = 2, tCCD_L = 4, tRRD_S = 3,
                tRRD_L = 5, tFAW = 16, tWTR_S = 3, tWTR_L = 6, tRTP = 3, tWR = 10;
  std::uint32_t tRTW = 11;                          // read command to write command on a channel
  std::uint32_t tREFI = 3420, tRFC = 228;           // each bank is busy for tRFC every tREFI
  Refresh refresh = Refresh::kSingleBank;           // all banks of a channel together, or one after another
  std::uint32_t read_queue = 64, write_queue = 64;  // entries per channel
  std::uint32_t write_high = 48, write_low = 38;    // turn-around watermarks
  std::uint32_t fill_percent = 99,
                copy_percent = 90;  // of peak bandwidth, for the driver's fills and copies within memory
  std::uint32_t latency_ns_x1000 =
      121000;  // dram.latency_ps: controller, PHY and return path, in addition to the DRAM's timing
};
struct LaunchGroup {                  // launch.*
  std::uint32_t latency_ns = 1240;    // launch floor of a kernel
  std::uint32_t graph_node_ns = 715;  // launch floor of a graph's kernel
  // Time of a host thread's calls, if the trace has them: of a launch, and of the return from a wait.
  std::uint32_t call_ns = 1806, wait_ns = 2807;
  std::uint32_t dispatch_interval_milli =
      1042;  // core cycles between two CTA dispatches of the GPU, in 1/1000
  // Dispatcher -> SM and back: times, not core cycles, because the work distributor has a clock of its own.
  std::uint32_t cta_latency_ps = 72700, done_latency_ps = 139700;
  std::uint32_t warp_interval_milli =
      2461;  // core cycles between two warps of a CTA becoming active in an SM, in 1/1000
  std::uint32_t max_kernels = 128;                   // kernels that may run at once
  CacheControl cache_control = CacheControl::kNone;  // kAll: each kernel alone and with empty caches
};
struct HostGroup {                               // host.*
  std::uint64_t bytes_per_second = 12350000000;  // host link, each direction
  std::uint32_t command_latency_ps = 23840, data_latency_ps = 23840;
  std::uint32_t page_bytes = 4096;
  CopyMode copy_mode = CopyMode::kBlocking;
  bool warms_l2 = true;
  std::uint32_t copy_start_ns = 0;  // from when a copy is due until its data are sent
};

struct EnergyGroup {  // energy.*: the coefficients of energy::Model; see src/energy/model.hpp
  std::string source = "accelwattch_v100";  // where the coefficients come from; "none": there are none
  std::uint32_t voltage_mv = 1000, reference_voltage_mv = 1000;
  // Powers in uW.
  std::uint32_t board_power = 32325223, dram_power = 2044000, idle_sm_power = 282792,
                active_sm_power = 215218, lane_power = 8133;
  // Energies of one event in fJ.
  std::uint32_t instruction = 156900, register_read = 164200;  // per warp instruction and warp register
  std::uint32_t int_lane = 2500, int_multiply_lane = 8300, fp_lane = 900, fp_multiply_lane = 6500,
                fp64_lane = 4100;
  std::uint32_t sfu_lane = 5700, tensor_lane = 5700, texture_lane = 152400;
  std::uint32_t constant_load = 464400, shared_wavefront = 596800;
  std::uint32_t l1_read_hit = 333500, l1_read_miss = 204200, l1_write_hit = 22100,
                l1_write_miss = 196100;  // per sector
  std::uint32_t l2_read_hit = 180500, l2_read_miss = 0, l2_write = 715700, crossbar_sector = 482200;
  std::uint32_t dram_read_bit = 6280, dram_write_bit = 3485, dram_precharge = 0, link_bit = 10000;
};

struct GpuConfig {
  GpuGroup gpu;
  ClockGroup clock;
  SmGroup sm;
  FrontEndGroup frontend;
  RegisterFileGroup rf;
  PipeTable pipe = default_pipes();  // pipe.<class>.*
  bool fp64_shared = false;          // pipe.fp64_shared: one FP64 unit serves all sub-cores of the SM
  bool branch_shared = true;         // pipe.branch_shared: likewise for branches and convergence
  TensorGroup tensor;
  MioGroup mio;
  L1Group l1;
  SyncGroup sync;
  ClusterGroup cluster;
  TmaGroup tma;
  IcntGroup icnt;
  L2Group l2;
  TlbGroup tlb;
  DramGroup dram;
  LaunchGroup launch;
  HostGroup host;
  EnergyGroup energy;
  uvm::Parameters uvm;

  /// Core cycles from SM to SM of a cluster: half of what a load from another SM's shared memory takes beside
  /// one from the SM's own. 0: there are no clusters.
  [[nodiscard]] Cycle cluster_hop() const {
    return cluster.latency == 0 ? 0 : (cluster.latency - l1.shared_latency) / 2;
  }
  /// Converts a time to core cycles, rounded up.
  [[nodiscard]] Cycle core_cycles_of_ps(std::uint64_t ps) const {
    constexpr std::uint64_t kPsKhz = 1'000'000'000;
    __extension__ using Wide = unsigned __int128;
    return static_cast<Cycle>((Wide{ps} * clock.core_khz + kPsKhz - 1) / kPsKhz);
  }
  /// From the dispatcher to an SM; a window is at most half of it.
  [[nodiscard]] Cycle cta_latency() const { return core_cycles_of_ps(launch.cta_latency_ps); }
  /// From an SM to the dispatcher.
  [[nodiscard]] Cycle done_latency() const { return core_cycles_of_ps(launch.done_latency_ps); }

  [[nodiscard]] const PipeSpec& pipe_of(trace::OpClass c) const { return pipe[static_cast<unsigned>(c)]; }
};

}  // namespace lockstep::config
