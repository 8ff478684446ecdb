// Rows of the groups pipe, tensor and mio.
#include <utility>

#include "config/schema.hpp"

namespace lockstep::config {
namespace {

using trace::OpClass;

constexpr std::string_view kUnitNames[] = {"alu", "fma",    "fma2",    "fp16",   "fp64",
                                           "xu",  "tensor", "uniform", "branch", "mio"};
static_assert(std::size(kUnitNames) == static_cast<unsigned>(Unit::kCount));

struct PipeName {
  OpClass op_class;
  std::string_view name, what;
};
/// The classes described by units, latency and interval; all others are handled by name.
constexpr PipeName kPipes[] = {
    {OpClass::kAlu, "alu", "integer add, logic, shift, compare, select, move"},
    {OpClass::kFp32, "fp32", "FADD, FMUL, FFMA"},
    {OpClass::kImad, "imad", "32-bit integer multiply-add"},
    {OpClass::kImadWide, "imad_wide", "IMAD.WIDE and IMAD.HI"},
    {OpClass::kFp16, "fp16", "HADD2, HMUL2, HFMA2 and bf16 forms"},
    {OpClass::kFp64, "fp64", "DADD, DMUL, DFMA, DSETP"},
    {OpClass::kSfu, "sfu", "MUFU"},
    {OpClass::kConvert, "convert", "I2F, F2I, F2F, FRND"},
    {OpClass::kBitcount, "bitcount", "POPC, FLO, BREV"},
    {OpClass::kTensor, "tensor", "HMMA, IMMA, DMMA, BMMA, QMMA"},
    {OpClass::kWarpgroupMma, "warpgroup_mma", "HGMMA, IGMMA, QGMMA, BGMMA"},
    {OpClass::kUniform, "uniform", "the uniform datapath"},
    {OpClass::kVote, "vote", "VOTE, MATCH, REDUX"},
    {OpClass::kBranch, "branch", "BRA, CALL, RET, BSYNC, BREAK"},
    {OpClass::kConvergence, "convergence", "BSSY, WARPSYNC, YIELD"},
    {OpClass::kExit, "exit", "EXIT, KILL"},
    {OpClass::kDepBar, "depbar", "DEPBAR, LDGDEPBAR, ARRIVES"},
    {OpClass::kSleep, "sleep", "NANOSLEEP, beside the time that it names"},
    {OpClass::kNop, "nop", "NOP"},
};

template <OpClass C, auto Field>
Binding pipe() {
  return {[](const GpuConfig& c) { return std::uint64_t{c.pipe[static_cast<unsigned>(C)].*Field}; },
          [](GpuConfig& c, std::uint64_t v) {
            auto& field = c.pipe[static_cast<unsigned>(C)].*Field;
            field = static_cast<std::remove_reference_t<decltype(field)>>(v);
          }};
}

template <std::size_t I>
void add_pipe(Rows& rows) {
  constexpr PipeName kPipe = kPipes[I];
  constexpr OpClass kClass = kPipe.op_class;
  const std::string prefix = "pipe." + std::string(kPipe.name) + ".", what(kPipe.what);
  rows.push_back(units(prefix + "units", kUnitNames, "units of which any one may take " + what,
                       pipe<kClass, &PipeSpec::units>()));
  if constexpr (kClass == OpClass::kTensor || kClass == OpClass::kWarpgroupMma) {
    rows.push_back(
        integer(prefix + "latency", Measure::kCoreCycles, 1, 1024,
                "from issue to a dependent issue is this plus the work's cycles at the rate tensor.* less "
                "one: " +
                    what,
                pipe<kClass, &PipeSpec::latency>()));
  } else {
    rows.push_back(integer(prefix + "latency", Measure::kCoreCycles, 1, 1024,
                           "from issue to the earliest issue of a dependent instruction: " + what,
                           pipe<kClass, &PipeSpec::latency>()));
    rows.push_back(integer(prefix + "interval", Measure::kCoreCycles, 1, 1024,
                           "for which the unit takes no other instruction: " + what,
                           pipe<kClass, &PipeSpec::interval>()));
  }
}

template <std::size_t... I>
void add_pipes(Rows& rows, std::index_sequence<I...>) {
  (add_pipe<I>(rows), ...);
}

template <auto Field>
Binding tensor() {
  return number<&GpuConfig::tensor, Field>();
}
template <auto Field>
Binding mio() {
  return number<&GpuConfig::mio, Field>();
}

Rows tensor_rows() {
  using M = Measure;
  using G = TensorGroup;
  const auto rate = [](const char* key, const char* what, Binding binding) {
    constexpr std::uint64_t kFastest = 65536;
    const std::string help =
        " multiply-accumulates a core cycle of one sub-core; 0 = not native, runs as FP16";
    return integer(key, M::kNone, 0, kFastest, std::string("dense ") + what + help, binding);
  };
  return {
      rate("tensor.f16", "FP16", tensor<&G::f16>()),
      rate("tensor.f16_f32", "FP16 with FP32 sums", tensor<&G::f16_f32>()),
      rate("tensor.bf16", "BF16", tensor<&G::bf16>()),
      rate("tensor.tf32", "TF32", tensor<&G::tf32>()),
      rate("tensor.f64", "FP64", tensor<&G::f64>()),
      rate("tensor.int8", "INT8", tensor<&G::int8>()),
      rate("tensor.int4", "INT4", tensor<&G::int4>()),
      rate("tensor.binary", "1-bit", tensor<&G::binary>()),
      rate("tensor.fp8", "FP8", tensor<&G::fp8>()),
      integer("tensor.sparse_factor", M::kNone, 1, 4, "speed of 2:4 sparse over dense multiply-accumulates",
              tensor<&G::sparse_factor>()),
  };
}

Rows mio_rows() {
  using M = Measure;
  using G = MioGroup;
  return {
      integer("mio.queue_entries", M::kNone, 1, 64,
              "memory and other shared-pipe instructions queued in a sub-core", mio<&G::queue_entries>()),
      integer("mio.dispatch_interval", M::kCoreCycles, 1, 64,
              "between two dispatches of one sub-core's queue", mio<&G::dispatch_interval>()),
      integer("mio.operand_delay", M::kCoreCycles, 0, 64,
              "by which an instruction that leaves the sub-core must be issued later after a fixed-latency "
              "instruction whose result it reads than others",
              mio<&G::operand_delay>()),
      integer("mio.shuffle_latency", M::kCoreCycles, 1, 1024, "SHFL, issue to dependent issue",
              mio<&G::shuffle_latency>()),
      integer("mio.shuffle_interval", M::kCoreCycles, 1, 64, "between two SHFL of an SM",
              mio<&G::shuffle_interval>()),
      integer("mio.special_latency", M::kCoreCycles, 1, 1024, "S2R, issue to dependent issue",
              mio<&G::special_latency>()),
      integer("mio.special_interval", M::kCoreCycles, 1, 64, "between two S2R of an SM",
              mio<&G::special_interval>()),
      integer("mio.const_latency", M::kCoreCycles, 1, 1024, "LDC that hits, issue to dependent issue",
              mio<&G::const_latency>()),
      integer("mio.const_interval", M::kCoreCycles, 1, 64, "between two LDC of an SM",
              mio<&G::const_interval>()),
      integer("mio.const_pass_interval", M::kCoreCycles, 1, 64,
              "between two distinct addresses of an LDC, which are served one after the other",
              mio<&G::const_pass_interval>()),
      integer("mio.const_l1_bytes", M::kBytes, 256, 1 << 20, "L1 constant cache of an SM",
              mio<&G::const_l1_bytes>()),
      integer("mio.const_l15_bytes", M::kBytes, 1024, 1 << 24, "L1.5 constant cache of an SM",
              mio<&G::const_l15_bytes>()),
      integer("mio.const_l15_latency", M::kCoreCycles, 1, 2048,
              "LDC that misses the L1 and hits the L1.5, issue to dependent issue",
              mio<&G::const_l15_latency>()),
      flag("mio.const_cold_miss", "a launch does not bring constants to the SMs: first uses go to the L2",
           mio<&G::const_cold_miss>()),
      integer("mio.texture_latency", M::kCoreCycles, 0, 4096, "texture filtering, added to the L1 latency",
              mio<&G::texture_latency>()),
      integer("mio.texture_interval", M::kCoreCycles, 1, 256, "between two texture instructions of an SM",
              mio<&G::texture_interval>()),
  };
}

}  // namespace

Rows pipe_rows() {
  Rows rows;
  add_pipes(rows, std::make_index_sequence<std::size(kPipes)>{});
  const Binding fp64_shared = {[](const GpuConfig& c) { return std::uint64_t{c.fp64_shared}; },
                               [](GpuConfig& c, std::uint64_t v) { c.fp64_shared = v != 0; }};
  rows.push_back(flag("pipe.fp64_shared", "one FP64 unit serves all sub-cores of the SM instead of one each",
                      fp64_shared));
  const Binding branch_shared = {[](const GpuConfig& c) { return std::uint64_t{c.branch_shared}; },
                                 [](GpuConfig& c, std::uint64_t v) { c.branch_shared = v != 0; }};
  rows.push_back(
      flag("pipe.branch_shared",
           "one unit for branches and convergence serves all sub-cores of the SM, in the order of issue",
           branch_shared));
  for (Parameter& row : tensor_rows()) rows.push_back(std::move(row));
  for (Parameter& row : mio_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace lockstep::config
