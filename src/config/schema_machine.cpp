// Rows of the groups gpu, clock, sm, frontend and rf.
#include "config/schema.hpp"

namespace lockstep::config {
namespace {

constexpr std::string_view kSchedulers[] = {"gto", "lrr", "cggty"};
constexpr std::uint64_t kMinKhz = 50'000, kMaxKhz = 10'000'000;

template <auto Field>
Binding gpu() {
  return number<&GpuConfig::gpu, Field>();
}
template <auto Field>
Binding clock() {
  return number<&GpuConfig::clock, Field>();
}
template <auto Field>
Binding sm() {
  return number<&GpuConfig::sm, Field>();
}
template <auto Field>
Binding front() {
  return number<&GpuConfig::frontend, Field>();
}
template <auto Field>
Binding rf() {
  return number<&GpuConfig::rf, Field>();
}

Rows gpu_rows() {
  using M = Measure;
  constexpr Type kInt = Type::kInteger;
  using G = GpuGroup;
  return {
      {"gpu.name",
       Type::kText,
       M::kNone,
       1,
       64,
       false,
       {},
       "name shown in reports",
       text<&GpuConfig::gpu, &G::name>()},
      {"gpu.arch", kInt, M::kNone, 50, 120, false, {}, "compute capability times 10", gpu<&G::arch>()},
      {"gpu.sms", kInt, M::kNone, 1, 512, false, {}, "streaming multiprocessors", gpu<&G::sms>()},
      {"gpu.sms_per_tpc",
       kInt,
       M::kNone,
       1,
       16,
       false,
       {},
       "SMs of a texture processing cluster",
       gpu<&G::sms_per_tpc>()},
      {"gpu.gpcs", kInt, M::kNone, 1, 64, false, {}, "graphics processing clusters", gpu<&G::gpcs>()},
  };
}

Rows clock_rows() {
  using M = Measure;
  constexpr Type kInt = Type::kInteger;
  using G = ClockGroup;
  constexpr Suffix kMhz{"", 1000, 1};
  return {
      {"clock.core_khz",
       kInt,
       M::kKilohertz,
       kMinKhz,
       kMaxKhz,
       false,
       {},
       "clock of the SMs, the time base of all core cycles",
       clock<&G::core_khz>(),
       {{"clock.core_mhz", kMhz}, {"core.clock_mhz", kMhz}}},
      {"clock.icnt_khz",
       kInt,
       M::kKilohertz,
       kMinKhz,
       kMaxKhz,
       false,
       {},
       "clock of the crossbar",
       clock<&G::icnt_khz>(),
       {{"clock.icnt_mhz", kMhz}, {"icnt.clock_mhz", kMhz}}},
      {"clock.l2_khz",
       kInt,
       M::kKilohertz,
       kMinKhz,
       kMaxKhz,
       false,
       {},
       "clock of the L2 slices",
       clock<&G::l2_khz>(),
       {{"clock.l2_mhz", kMhz}, {"l2.clock_mhz", kMhz}}},
      {"clock.dram_khz",
       kInt,
       M::kKilohertz,
       kMinKhz,
       kMaxKhz,
       false,
       {},
       "DRAM command clock, in which the dram.t* timings count",
       clock<&G::dram_khz>(),
       {{"clock.dram_mhz", kMhz}, {"dram.clock_mhz", kMhz}}},
  };
}

Rows sm_rows() {
  using M = Measure;
  constexpr Type kInt = Type::kInteger;
  using G = SmGroup;
  return {
      {"sm.subcores",
       kInt,
       M::kNone,
       1,
       4,
       false,
       {},
       "sub-cores, each with one issue scheduler; warp w belongs to w mod subcores",
       sm<&G::subcores>()},
      {"sm.max_warps",
       kInt,
       M::kNone,
       1,
       64,
       false,
       {},
       "resident warps; at most 16 a sub-core",
       sm<&G::max_warps>()},
      {"sm.max_ctas", kInt, M::kNone, 1, 64, false, {}, "resident CTAs", sm<&G::max_ctas>()},
      {"sm.max_threads", kInt, M::kNone, 32, 2048, false, {}, "resident threads", sm<&G::max_threads>()},
      {"sm.registers",
       kInt,
       M::kNone,
       4096,
       1048576,
       false,
       {},
       "32-bit registers of the whole SM",
       sm<&G::registers>()},
      {"sm.register_unit",
       kInt,
       M::kNone,
       1,
       4096,
       false,
       {},
       "registers are given to a warp in multiples of this",
       sm<&G::register_unit>()},
      {"sm.shared_unit",
       kInt,
       M::kBytes,
       1,
       65536,
       false,
       {},
       "shared memory is given to a CTA in multiples of this",
       sm<&G::shared_unit>()},
      {"sm.shared_reserved",
       kInt,
       M::kBytes,
       0,
       65536,
       false,
       {},
       "shared memory that the system takes of each CTA",
       sm<&G::shared_reserved>()},
      {"sm.scheduler", Type::kEnum, M::kNone, 0, 0, false, kSchedulers,
       "issue policy: greedy then oldest, loose round robin, compiler-guided greedy then youngest",
       sm<&G::scheduler>()},
  };
}

Rows frontend_rows() {
  using M = Measure;
  constexpr Type kInt = Type::kInteger;
  using G = FrontEndGroup;
  return {
      {"frontend.ibuffer_entries",
       kInt,
       M::kNone,
       1,
       16,
       false,
       {},
       "decoded instructions a warp holds",
       front<&G::ibuffer_entries>()},
      {"frontend.decode_latency",
       kInt,
       M::kCoreCycles,
       1,
       64,
       false,
       {},
       "from fetch to ready for issue",
       front<&G::decode_latency>()},
      {"frontend.branch_latency",
       kInt,
       M::kCoreCycles,
       1,
       256,
       false,
       {},
       "from issue of a taken branch to the fetch of its target",
       front<&G::branch_latency>()},
      {"frontend.l0_bytes",
       kInt,
       M::kBytes,
       256,
       1048576,
       false,
       {},
       "L0 instruction cache of a sub-core",
       front<&G::l0_bytes>()},
      {"frontend.l0_ways",
       kInt,
       M::kNone,
       1,
       64,
       false,
       {},
       "ways of the L0 instruction cache",
       front<&G::l0_ways>()},
      {"frontend.line_bytes",
       kInt,
       M::kBytes,
       32,
       512,
       true,
       {},
       "line of the L0 and L1 instruction caches",
       front<&G::line_bytes>()},
      {"frontend.l1i_bytes",
       kInt,
       M::kBytes,
       1024,
       4194304,
       false,
       {},
       "L1 instruction cache of an SM",
       front<&G::l1i_bytes>()},
      {"frontend.l1i_ways",
       kInt,
       M::kNone,
       1,
       64,
       false,
       {},
       "ways of the L1 instruction cache",
       front<&G::l1i_ways>()},
      {"frontend.l1i_latency",
       kInt,
       M::kCoreCycles,
       1,
       1024,
       false,
       {},
       "from an L0 miss to its fill from L1I",
       front<&G::l1i_latency>()},
      {"frontend.l1i_mshrs",
       kInt,
       M::kNone,
       1,
       256,
       false,
       {},
       "instruction lines that may be in flight from L2",
       front<&G::l1i_mshrs>()},
      {"frontend.prefetch_entries",
       kInt,
       M::kNone,
       0,
       64,
       false,
       {},
       "lines of a sub-core's stream buffer; 0 = no prefetcher",
       front<&G::prefetch_entries>()},
  };
}

Rows rf_rows() {
  using M = Measure;
  constexpr Type kInt = Type::kInteger;
  using G = RegisterFileGroup;
  return {
      {"rf.banks",
       kInt,
       M::kNone,
       1,
       16,
       true,
       {},
       "register banks of a sub-core; a register lies in bank number mod banks",
       rf<&G::banks>()},
      {"rf.read_ports", kInt, M::kNone, 1, 8, false, {}, "reads a bank serves a cycle", rf<&G::read_ports>()},
      {"rf.read_window",
       kInt,
       M::kCoreCycles,
       1,
       16,
       false,
       {},
       "cycles in which an instruction must read its operands",
       rf<&G::read_window>()},
      {"rf.cache",
       Type::kBool,
       M::kNone,
       0,
       1,
       false,
       {},
       "register-file cache, one entry an operand slot and bank",
       rf<&G::cache>()},
  };
}

void append(Rows& to, Rows from) {
  for (Parameter& row : from) to.push_back(std::move(row));
}

}  // namespace

Rows machine_rows() {
  Rows rows = gpu_rows();
  append(rows, clock_rows());
  append(rows, sm_rows());
  append(rows, frontend_rows());
  append(rows, rf_rows());
  return rows;
}

}  // namespace lockstep::config
