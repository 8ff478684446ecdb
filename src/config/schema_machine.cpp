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
  using G = GpuGroup;
  return {
      name("gpu.name", "name shown in reports", text<&GpuConfig::gpu, &G::name>()),
      integer("gpu.arch", M::kNone, 50, 120, "compute capability times 10", gpu<&G::arch>()),
      integer("gpu.sms", M::kNone, 1, 512, "streaming multiprocessors", gpu<&G::sms>()),
      integer("gpu.sms_per_tpc", M::kNone, 1, 16, "SMs of a texture processing cluster",
              gpu<&G::sms_per_tpc>()),
      integer("gpu.gpcs", M::kNone, 1, 64, "graphics processing clusters", gpu<&G::gpcs>()),
      integer("gpu.last_gpc_sms", M::kNone, 0, 512,
              "SMs of the last GPC, where one has fewer than the others; 0: SMs are spread evenly",
              gpu<&G::last_gpc_sms>()),
  };
}

Rows clock_rows() {
  using M = Measure;
  using G = ClockGroup;
  constexpr Suffix kMhz{"", 1000, 1};
  return {
      integer("clock.core_khz", M::kKilohertz, kMinKhz, kMaxKhz,
              "clock of the SMs, the time base of all core cycles", clock<&G::core_khz>(),
              {{"clock.core_mhz", kMhz}, {"core.clock_mhz", kMhz}}),
      integer("clock.icnt_khz", M::kKilohertz, kMinKhz, kMaxKhz, "clock of the crossbar",
              clock<&G::icnt_khz>(), {{"clock.icnt_mhz", kMhz}, {"icnt.clock_mhz", kMhz}}),
      integer("clock.l2_khz", M::kKilohertz, kMinKhz, kMaxKhz, "clock of the L2 slices", clock<&G::l2_khz>(),
              {{"clock.l2_mhz", kMhz}, {"l2.clock_mhz", kMhz}}),
      integer("clock.dram_khz", M::kKilohertz, kMinKhz, kMaxKhz,
              "DRAM command clock, in which the dram.t* timings count", clock<&G::dram_khz>(),
              {{"clock.dram_mhz", kMhz}, {"dram.clock_mhz", kMhz}}),
  };
}

Rows sm_rows() {
  using M = Measure;
  using G = SmGroup;
  return {
      integer("sm.subcores", M::kNone, 1, 4,
              "sub-cores, each with one issue scheduler; warp w belongs to w mod subcores",
              sm<&G::subcores>()),
      integer("sm.max_warps", M::kNone, 1, 64, "resident warps; at most 16 a sub-core", sm<&G::max_warps>()),
      integer("sm.max_ctas", M::kNone, 1, 64, "resident CTAs", sm<&G::max_ctas>()),
      integer("sm.max_threads", M::kNone, 32, 2048, "resident threads", sm<&G::max_threads>()),
      integer("sm.registers", M::kNone, 4096, 1048576, "32-bit registers of the whole SM",
              sm<&G::registers>()),
      integer("sm.register_unit", M::kNone, 1, 4096, "registers are given to a warp in multiples of this",
              sm<&G::register_unit>()),
      integer("sm.shared_unit", M::kBytes, 1, 65536, "shared memory is given to a CTA in multiples of this",
              sm<&G::shared_unit>()),
      integer("sm.shared_reserved", M::kBytes, 0, 65536, "shared memory that the system takes of each CTA",
              sm<&G::shared_reserved>()),
      choice("sm.scheduler", kSchedulers,
             "issue policy: greedy then oldest, loose round robin, compiler-guided greedy then youngest",
             sm<&G::scheduler>()),
  };
}

Rows frontend_rows() {
  using M = Measure;
  using G = FrontEndGroup;
  return {
      integer("frontend.ibuffer_entries", M::kNone, 1, 8, "decoded instructions that a warp holds",
              front<&G::ibuffer_entries>()),
      integer("frontend.decode_latency", M::kCoreCycles, 1, 64, "from fetch to ready for issue",
              front<&G::decode_latency>()),
      integer("frontend.branch_latency", M::kCoreCycles, 1, 256,
              "from issue of a taken branch to the fetch of its target", front<&G::branch_latency>()),
      integer("frontend.l0_bytes", M::kBytes, 256, 1048576, "L0 instruction cache of a sub-core",
              front<&G::l0_bytes>()),
      integer("frontend.l0_ways", M::kNone, 1, 64, "ways of the L0 instruction cache", front<&G::l0_ways>()),
      power_of_two("frontend.line_bytes", M::kBytes, 32, 512, "line of the L0 and L1 instruction caches",
                   front<&G::line_bytes>()),
      integer("frontend.l1i_bytes", M::kBytes, 1024, 4194304, "L1 instruction cache of an SM",
              front<&G::l1i_bytes>()),
      integer("frontend.l1i_ways", M::kNone, 1, 64, "ways of the L1 instruction cache",
              front<&G::l1i_ways>()),
      integer("frontend.l1i_latency", M::kCoreCycles, 1, 1024, "from an L0 miss to its fill from L1I",
              front<&G::l1i_latency>()),
      integer("frontend.l1i_mshrs", M::kNone, 1, 256, "instruction lines that may be in flight from L2",
              front<&G::l1i_mshrs>()),
      integer("frontend.l1i_read_ahead", M::kNone, 0, 1024, "lines that an L1I miss asks for beyond its own",
              front<&G::l1i_read_ahead>()),
      integer("frontend.launch_prefetch", M::kBytes, 0, 65536,
              "of a kernel's code that the L1I has when its first CTA arrives", front<&G::launch_prefetch>()),
      integer("frontend.prefetch_entries", M::kNone, 0, 64,
              "lines of a sub-core's stream buffer; 0 = no prefetcher", front<&G::prefetch_entries>()),
  };
}

Rows rf_rows() {
  using M = Measure;
  using G = RegisterFileGroup;
  return {
      power_of_two("rf.banks", M::kNone, 1, 2,
                   "register banks of a sub-core; a register lies in bank number mod banks", rf<&G::banks>()),
      integer("rf.read_ports", M::kNone, 1, 8, "reads a bank serves a cycle", rf<&G::read_ports>()),
      integer("rf.read_window", M::kCoreCycles, 1, 16,
              "cycles in which an instruction must read its operands", rf<&G::read_window>()),
      flag("rf.cache", "register-file cache, one entry an operand position and bank", rf<&G::cache>()),
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
