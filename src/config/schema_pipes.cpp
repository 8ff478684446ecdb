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
/// The classes whose execution is described by units, latency and interval; all others are handled by name.
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
  const bool works = kClass == OpClass::kTensor || kClass == OpClass::kWarpgroupMma;
  rows.push_back({prefix + "units", Type::kUnits, Measure::kNone, 0, 0, false, kUnitNames,
                  "units of which any one may take " + what, pipe<kClass, &PipeSpec::units>()});
  rows.push_back(
      {prefix + "latency",
       Type::kInteger,
       Measure::kCoreCycles,
       1,
       1024,
       false,
       {},
       works
           ? "from issue to a dependent issue, beside the cycles that the work takes at the rate tensor.*: " +
                 what
           : "from issue to the earliest issue of a dependent instruction: " + what,
       pipe<kClass, &PipeSpec::latency>()});
  rows.push_back(
      {prefix + "interval",
       Type::kInteger,
       Measure::kCoreCycles,
       1,
       1024,
       false,
       {},
       works
           ? "least time for which the unit takes no other instruction (tensor.* rates set the rest): " + what
           : "for which the unit takes no other instruction: " + what,
       pipe<kClass, &PipeSpec::interval>()});
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
  constexpr Type kInt = Type::kInteger;
  using G = TensorGroup;
  const auto row = [](const char* key, const char* what, Binding binding) {
    return Parameter{
        key,
        kInt,
        M::kNone,
        0,
        65536,
        false,
        {},
        std::string("dense ") + what + " multiply-accumulates a core cycle of one sub-core; 0 = not native",
        binding};
  };
  return {
      row("tensor.f16", "FP16", tensor<&G::f16>()),
      row("tensor.bf16", "BF16", tensor<&G::bf16>()),
      row("tensor.tf32", "TF32", tensor<&G::tf32>()),
      row("tensor.f64", "FP64", tensor<&G::f64>()),
      row("tensor.int8", "INT8", tensor<&G::int8>()),
      row("tensor.int4", "INT4", tensor<&G::int4>()),
      row("tensor.binary", "1-bit", tensor<&G::binary>()),
      row("tensor.fp8", "FP8", tensor<&G::fp8>()),
      {"tensor.sparse_factor",
       kInt,
       M::kNone,
       1,
       4,
       false,
       {},
       "speed of 2:4 sparse over dense multiply-accumulates",
       tensor<&G::sparse_factor>()},
  };
}

Rows mio_rows() {
  using M = Measure;
  constexpr Type kInt = Type::kInteger;
  using G = MioGroup;
  return {
      {"mio.queue_entries",
       kInt,
       M::kNone,
       1,
       64,
       false,
       {},
       "memory and other shared-pipe instructions queued in a sub-core",
       mio<&G::queue_entries>()},
      {"mio.dispatch_interval",
       kInt,
       M::kCoreCycles,
       1,
       64,
       false,
       {},
       "between two dispatches of one sub-core's queue",
       mio<&G::dispatch_interval>()},
      {"mio.shuffle_latency",
       kInt,
       M::kCoreCycles,
       1,
       1024,
       false,
       {},
       "SHFL, issue to dependent issue",
       mio<&G::shuffle_latency>()},
      {"mio.shuffle_interval",
       kInt,
       M::kCoreCycles,
       1,
       64,
       false,
       {},
       "between two SHFL of an SM",
       mio<&G::shuffle_interval>()},
      {"mio.special_latency",
       kInt,
       M::kCoreCycles,
       1,
       1024,
       false,
       {},
       "S2R, issue to dependent issue",
       mio<&G::special_latency>()},
      {"mio.special_interval",
       kInt,
       M::kCoreCycles,
       1,
       64,
       false,
       {},
       "between two S2R of an SM",
       mio<&G::special_interval>()},
      {"mio.const_latency",
       kInt,
       M::kCoreCycles,
       1,
       1024,
       false,
       {},
       "LDC that hits, issue to dependent issue",
       mio<&G::const_latency>()},
      {"mio.const_interval",
       kInt,
       M::kCoreCycles,
       1,
       64,
       false,
       {},
       "between two LDC of an SM",
       mio<&G::const_interval>()},
      {"mio.const_cold_miss",
       Type::kBool,
       M::kNone,
       0,
       1,
       false,
       {},
       "the first constant load of an SM after a launch goes to L2",
       mio<&G::const_cold_miss>()},
      {"mio.texture_latency",
       kInt,
       M::kCoreCycles,
       0,
       4096,
       false,
       {},
       "texture filtering, added to the L1 latency",
       mio<&G::texture_latency>()},
      {"mio.texture_interval",
       kInt,
       M::kCoreCycles,
       1,
       256,
       false,
       {},
       "between two texture instructions of an SM",
       mio<&G::texture_interval>()},
  };
}

}  // namespace

Rows pipe_rows() {
  Rows rows;
  add_pipes(rows, std::make_index_sequence<std::size(kPipes)>{});
  rows.push_back({"pipe.fp64_shared",
                  Type::kBool,
                  Measure::kNone,
                  0,
                  1,
                  false,
                  {},
                  "one FP64 unit serves all sub-cores of the SM instead of one each",
                  {[](const GpuConfig& c) { return std::uint64_t{c.fp64_shared}; },
                   [](GpuConfig& c, std::uint64_t v) { c.fp64_shared = v != 0; }}});
  for (Parameter& row : tensor_rows()) rows.push_back(std::move(row));
  for (Parameter& row : mio_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace lockstep::config
