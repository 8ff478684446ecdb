#include "report/usage.hpp"

#include <algorithm>
#include <string>

#include "stats/descriptors.hpp"

namespace lockstep::report {
namespace {

using stats::Pipe;
using stats::Stall;

double ratio(double value, double base) { return base > 0 ? value / base : 0; }

struct PipeText {
  std::string_view name, title;
};
constexpr std::array<PipeText, stats::kPipes> kPipeTexts{
    {{"alu", "integer and logic unit"},
     {"fma", "FP32 and integer multiply unit"},
     {"fma2", "second FP32 unit"},
     {"fp16", "FP16 unit"},
     {"fp64", "FP64 unit"},
     {"xu", "unit for special functions and conversions"},
     {"tensor", "tensor unit"},
     {"uniform", "uniform datapath"},
     {"branch", "branch unit"},
     {"mio", "way into the memory queue"}}};

void set_stalls(Usage& usage, const Values& kernel, double subcore_cycles) {
  const double empty = kernel.number("stalls.empty") + kernel.number("stalls.idle");
  usage.empty = ratio(empty, subcore_cycles);
  const double active = subcore_cycles - empty;
  for (unsigned s = 0; s < stats::kStalls; ++s) {
    const auto reason = static_cast<Stall>(s);
    if (reason == Stall::kEmpty) continue;
    usage.stalls[s] =
        ratio(kernel.number(std::string("stalls.") + std::string(stats::stall_name(reason))), active);
  }
  usage.warps = ratio(kernel.number("sm.warp_cycles"), active);
}

void set_memory(Usage& usage, const Values& kernel, const config::GpuConfig& machine, const Peaks& peaks) {
  const double cycles = usage.cycles, sm_cycles = cycles * machine.gpu.sms;
  const double sectors = kernel.number("l1.accesses"), wavefronts = kernel.number("sm.shared_wavefronts");
  const double bank_cycles = ratio(sectors * kSectorBytes, machine.l1.data_bytes_per_cycle) + wavefronts;
  const double tag_cycles = ratio(kernel.number("l1.requests"), machine.l1.tags_per_cycle);
  usage.l1 = ratio(std::max(bank_cycles, tag_cycles), sm_cycles);
  usage.shared_share = ratio(wavefronts, bank_cycles);
  usage.wavefronts = ratio(wavefronts, kernel.number("sm.shared_instructions"));
  const double loads = kernel.number("sm.const_instructions"), passes = kernel.number("sm.const_passes");
  usage.constant_passes = ratio(passes, loads);
  usage.constant = ratio(
      loads * machine.mio.const_interval + (passes - loads) * machine.mio.const_pass_interval, sm_cycles);
  const double read = kernel.number("l2.sectors_read") * kSectorBytes;
  const double written = kernel.number("l2.sectors_written") * kSectorBytes;
  usage.l2 =
      std::max({ratio(read + written, peaks.l2_bytes * cycles), ratio(read, peaks.icnt_read_bytes * cycles),
                ratio(written, peaks.icnt_write_bytes * cycles)});
  usage.dram = ratio(kernel.number("dram.bytes"), peaks.dram_bytes * cycles);
  const double atomics = kernel.number("l1.atomic_sectors_sent");
  usage.atomic_share = ratio(
      atomics, atomics + kernel.number("l1.load_sectors_sent") + kernel.number("l1.store_sectors_sent"));
}

}  // namespace

Peaks peaks_of(const config::GpuConfig& machine) {
  const auto khz = [](std::uint64_t v) { return static_cast<double>(v); };
  const double core = khz(machine.clock.core_khz);
  const double sms = machine.gpu.sms,
               slices = double{1} * machine.l2.partitions * machine.l2.slices_per_partition;
  const double l2 = khz(machine.clock.l2_khz) / core, icnt = khz(machine.clock.icnt_khz) / core;
  Peaks peaks;
  peaks.core_hz = core * 1000;
  peaks.subcores = sms * machine.sm.subcores;
  peaks.l1_bytes = sms * machine.l1.data_bytes_per_cycle;
  peaks.l2_bytes = slices * machine.l2.slice_bytes_per_cycle * l2;
  peaks.icnt_read_bytes =
      std::min(sms * machine.icnt.sm_in_bytes, slices * machine.icnt.slice_out_bytes) * icnt;
  peaks.icnt_write_bytes =
      std::min(sms * machine.icnt.sm_out_bytes, slices * machine.icnt.slice_in_bytes) * icnt;
  peaks.dram_bytes = double{1} * machine.l2.partitions * machine.dram.channels_per_partition *
                     machine.dram.burst_bytes / machine.dram.burst_cycles * khz(machine.clock.dram_khz) /
                     core;
  return peaks;
}

Usage usage_of(const Values& kernel, const config::GpuConfig& machine) {
  const Peaks peaks = peaks_of(machine);
  Usage usage;
  usage.cycles = kernel.number("cycles");
  usage.launch_cycles = kernel.number("launch_cycles");
  const double subcore_cycles = usage.cycles * peaks.subcores;
  usage.issue = ratio(kernel.number("warp_instructions"), subcore_cycles);
  usage.lanes = ratio(kernel.number("thread_instructions"), kernel.number("warp_instructions"));
  for (unsigned p = 0; p < stats::kPipes; ++p) {
    const double busy = kernel.number(std::string("pipes.") + std::string(kPipeTexts[p].name));
    const auto pipe = static_cast<Pipe>(p);
    const bool shared = (pipe == Pipe::kFp64 && machine.fp64_shared) ||
                        (pipe == Pipe::kBranch && machine.branch_shared);  // one for all sub-cores of an SM
    usage.pipes[p] = ratio(busy, shared ? subcore_cycles / machine.sm.subcores : subcore_cycles);
  }
  set_stalls(usage, kernel, subcore_cycles);
  set_memory(usage, kernel, machine, peaks);
  return usage;
}

Stall Usage::top_stall() const {
  unsigned top = 1;
  for (unsigned s = 2; s < stats::kStalls; ++s)
    if (stalls[s] > stalls[top]) top = s;
  return static_cast<Stall>(top);
}

Pipe Usage::top_pipe() const {
  unsigned top = 0;
  for (unsigned p = 1; p < static_cast<unsigned>(Pipe::kMio); ++p)
    if (pipes[p] > pipes[top]) top = p;
  return static_cast<Pipe>(top);
}

std::string_view pipe_title(Pipe unit) { return kPipeTexts[static_cast<unsigned>(unit)].title; }
std::string_view pipe_name(Pipe unit) { return kPipeTexts[static_cast<unsigned>(unit)].name; }

std::string_view stall_meaning(Stall reason) {
  constexpr std::array<std::string_view, stats::kStalls> kMeanings{
      "an instruction was issued",
      "an execution unit that is busy",
      "room in the memory queue",
      "the ports of the register file",
      "an arithmetic result of fixed latency",
      "a result of shared memory, shuffles, constants or special functions",
      "a result of global, local or texture memory",
      "other warps at a barrier",
      "a memory fence",
      "asynchronous copies",
      "the end of a NANOSLEEP",
      "the target of a branch",
      "the next instruction: fetch or instruction-cache miss",
      "outstanding memory accesses at its end",
      "no warp on the sub-core"};
  return kMeanings[static_cast<unsigned>(reason)];
}

}  // namespace lockstep::report
