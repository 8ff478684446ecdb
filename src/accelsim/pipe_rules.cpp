// Rules for the execution pipes: trace.config's latency and initiation interval of each class.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "accelsim/stages.hpp"
#include "accelsim/table.hpp"

namespace lockstep::accelsim {
namespace {

constexpr std::string_view kInt = "-trace_opcode_latency_initiation_int", kIntUnits = "-gpgpu_num_int_units",
                           kSp = "-trace_opcode_latency_initiation_sp", kSpUnits = "-gpgpu_num_sp_units",
                           kDp = "-trace_opcode_latency_initiation_dp", kDpUnits = "-gpgpu_num_dp_units",
                           kSfu = "-trace_opcode_latency_initiation_sfu", kSfuUnits = "-gpgpu_num_sfu_units",
                           kTensor = "-trace_opcode_latency_initiation_tensor",
                           kTensorUnits = "-gpgpu_num_tensor_core_units";

struct Timing {
  std::uint64_t latency = 0, interval = 0;
};

Timing timing(const Context& c, std::string_view option) {
  const auto values = c.numbers(option, ',', 2, 2, "LATENCY,INTERVAL");
  return {values[0] + kStagesAround, std::max<std::uint64_t>(1, values[1])};
}

/// An SM's `units` serve its schedulers alike: the interval of one scheduler's share.
std::uint64_t share(const Context& c, std::uint64_t interval, std::uint64_t units) {
  return std::max<std::uint64_t>(
      1, divided_up(interval * std::max<std::uint64_t>(1, c.number(kSchedulers)), units));
}

void set_pipe(Context& c, const std::string& pipe, const Timing& t, std::uint64_t units,
              std::string_view option, std::string_view units_option) {
  c.set("pipe." + pipe + ".latency", t.latency, {option});
  c.set("pipe." + pipe + ".interval", share(c, t.interval, units), {option, units_option, kSchedulers});
}

/// Accel-Sim runs integer work on its INT units and, without any, on the SP units.
void integers(Context& c) {
  if (!c.has(kInt)) return c.unused(kIntUnits, "counts together with -trace_opcode_latency_initiation_int");
  const bool own = c.number(kIntUnits) > 0;
  const std::string_view units_option = own ? kIntUnits : kSpUnits;
  const std::uint64_t units = std::max<std::uint64_t>(1, c.number(units_option));
  for (const char* pipe : {"alu", "imad", "imad_wide", "vote"}) {
    c.set(fmt::format("pipe.{}.units", pipe), own ? "alu" : "fma", {kIntUnits});
    set_pipe(c, pipe, timing(c, kInt), units, kInt, units_option);
  }
}

void single(Context& c) {
  if (!c.has(kSp)) return c.unused(kSpUnits, "counts together with -trace_opcode_latency_initiation_sp");
  const std::uint64_t units = std::max<std::uint64_t>(1, c.number(kSpUnits));
  for (const char* pipe : {"fp32", "fp16"}) {
    c.set(fmt::format("pipe.{}.units", pipe), "fma", {kSpUnits});
    set_pipe(c, pipe, timing(c, kSp), units, kSp, kSpUnits);
  }
}

void doubles(Context& c) {
  if (!c.has(kDp)) return c.unused(kDpUnits, "counts together with -trace_opcode_latency_initiation_dp");
  const std::uint64_t units = c.number(kDpUnits);
  if (units == 0) {
    c.unused(kDpUnits, "0: no FP64 units; the base's stay");
    return c.unused(kDp, "-gpgpu_num_dp_units 0: no FP64 units; the base's stay");
  }
  const Timing t = timing(c, kDp);
  const bool shared = units < c.number(kSchedulers);
  c.set("pipe.fp64_shared", shared ? "true" : "false", {kDpUnits, kSchedulers});
  if (!shared) return set_pipe(c, "fp64", t, units, kDp, kDpUnits);
  c.set("pipe.fp64.latency", t.latency, {kDp});
  c.set("pipe.fp64.interval", divided_up(t.interval, units), {kDp, kDpUnits});
}

void special(Context& c) {
  if (!c.has(kSfu)) return c.unused(kSfuUnits, "counts together with -trace_opcode_latency_initiation_sfu");
  const std::uint64_t units = std::max<std::uint64_t>(1, c.number(kSfuUnits));
  for (const char* pipe : {"sfu", "convert", "bitcount"})
    set_pipe(c, pipe, timing(c, kSfu), units, kSfu, kSfuUnits);
}

/// Multiply-accumulates of the FP16 matrix instruction that the interval counts.
std::uint64_t macs_of_instruction(std::uint32_t arch) {
  if (arch < 75) return 256;   // a step of HMMA.884: a quarter of four 8x8x4 products
  if (arch < 80) return 1024;  // HMMA.1688
  return 2048;                 // HMMA.16816
}

void tensor_rates(Context& c, std::uint64_t f16, std::string_view option, std::string_view units_option) {
  const config::TensorGroup base = c.config().tensor;
  const std::pair<std::string_view, std::uint64_t> others[] = {
      {"tensor.bf16", base.bf16}, {"tensor.tf32", base.tf32}, {"tensor.f64", base.f64},
      {"tensor.int8", base.int8}, {"tensor.int4", base.int4}, {"tensor.binary", base.binary},
      {"tensor.fp8", base.fp8}};
  c.set("tensor.f16", f16, {option, units_option, kSchedulers});
  if (base.f16 == 0 || base.f16 == f16) return;
  for (const auto& [key, rate] : others) {
    if (rate > 0) c.set(key, std::max<std::uint64_t>(1, scaled(rate, f16, base.f16)), {option});
  }
}

void set_tensor(Context& c, std::string_view option, std::string_view units_option, std::uint64_t units) {
  const Timing t = timing(c, option);
  const std::uint64_t per_instruction = t.interval * std::max<std::uint64_t>(1, c.number(kSchedulers));
  const std::uint64_t macs = macs_of_instruction(c.config().gpu.arch) * units;
  tensor_rates(c, std::max<std::uint64_t>(1, macs / per_instruction), option, units_option);
  const std::uint64_t work = share(c, t.interval, units);  // pipe.tensor.latency leaves it out, but one cycle
  c.set("pipe.tensor.latency", t.latency >= work ? t.latency - work + 1 : 1, {option});
}

/// "1,4,200,4,4,TEX": enabled, units, longest latency, two widths, name.
struct Specialised {
  bool enabled = false;
  std::uint64_t units = 1;
  std::string name;
};

Specialised specialised(const Context& c, std::string_view option) {
  constexpr std::string_view kForm = "ENABLED,UNITS,LATENCY,ID_OC,OC_EX,NAME";
  constexpr std::uint64_t kMaxUnits = 1024;
  auto parts = c.parts(option, ',', 6, 6, kForm);
  if (parts[0] != "0" && parts[0] != "1") c.fail(option, fmt::format("expected {}, ENABLED 0 or 1", kForm));
  std::uint64_t units = 0;
  for (const char digit : parts[1]) {
    if (digit < '0' || digit > '9' || units > kMaxUnits) c.fail(option, fmt::format("expected {}", kForm));
    units = units * 10 + static_cast<unsigned>(digit - '0');
  }
  return {parts[0] == "1", std::max<std::uint64_t>(1, units), std::move(parts[5])};
}

void set_specialised(Context& c, const Specialised& unit, std::string_view unit_option,
                     std::string_view option) {
  if (!c.has(option)) return c.unused(unit_option, fmt::format("counts together with {}", option));
  const Timing t = timing(c, option);
  if (unit.name == "TENSOR") return set_tensor(c, option, unit_option, unit.units);
  if (unit.name == "BRA") {
    c.set("pipe.branch_shared", "false", {unit_option});
    return set_pipe(c, "branch", t, unit.units, option, unit_option);
  }
  if (unit.name == "UDP") return set_pipe(c, "uniform", t, unit.units, option, unit_option);
  if (unit.name == "TEX") {
    const std::uint64_t l1 = c.config().l1.hit_latency;
    c.set("mio.texture_latency", t.latency > l1 ? t.latency - l1 : 0, {option});
    return c.set("mio.texture_interval", divided_up(t.interval, unit.units), {option, unit_option});
  }
  constexpr std::string_view kReason = "only the units BRA, TEX, TENSOR and UDP have a counterpart";
  c.unused(unit_option, std::string(kReason));
  c.unused(option, std::string(kReason));
}

constexpr unsigned kSpecialisedUnits = 8;
constexpr std::string_view kUnitOptions[kSpecialisedUnits] = {
    "-specialized_unit_1", "-specialized_unit_2", "-specialized_unit_3", "-specialized_unit_4",
    "-specialized_unit_5", "-specialized_unit_6", "-specialized_unit_7", "-specialized_unit_8"};
constexpr std::string_view kUnitTimings[kSpecialisedUnits] = {
    "-trace_opcode_latency_initiation_spec_op_1", "-trace_opcode_latency_initiation_spec_op_2",
    "-trace_opcode_latency_initiation_spec_op_3", "-trace_opcode_latency_initiation_spec_op_4",
    "-trace_opcode_latency_initiation_spec_op_5", "-trace_opcode_latency_initiation_spec_op_6",
    "-trace_opcode_latency_initiation_spec_op_7", "-trace_opcode_latency_initiation_spec_op_8"};

template <unsigned N>
void specialised_unit(Context& c) {
  const Specialised unit = specialised(c, kUnitOptions[N]);
  if (unit.enabled) return set_specialised(c, unit, kUnitOptions[N], kUnitTimings[N]);
  c.unused(kUnitOptions[N], "not enabled");
  c.unused(kUnitTimings[N], "the unit is not enabled");
}

bool tensor_is_specialised(const Context& c) {
  return std::any_of(std::begin(kUnitOptions), std::end(kUnitOptions), [&](std::string_view option) {
    const Specialised unit = specialised(c, option);
    return unit.enabled && unit.name == "TENSOR";
  });
}

void tensor(Context& c) {
  if (tensor_is_specialised(c)) {
    constexpr std::string_view kReason = "the specialised unit TENSOR executes matrix instructions";
    c.unused(kTensorUnits, std::string(kReason));
    return c.unused(kTensor, std::string(kReason));
  }
  if (!c.has(kTensor)) return c.unused(kTensorUnits, "counts together with " + std::string(kTensor));
  const std::uint64_t units = c.number(kTensorUnits);
  if (units > 0) return set_tensor(c, kTensor, kTensorUnits, units);
  c.unused(kTensorUnits, "0: no tensor cores; the base's stay");
  c.unused(kTensor, "-gpgpu_num_tensor_core_units 0: no tensor cores; the base's stay");
}

template <std::size_t... N>
void add_specialised(std::vector<Rule>& rules, std::index_sequence<N...>) {
  constexpr std::string_view kHow =
      "BRA: pipe.branch, one in each sub-core; UDP: pipe.uniform; TENSOR: as "
      "-trace_opcode_latency_initiation_tensor; TEX: "
      "texture_latency "
      "= latency + 2 - l1.hit_latency, texture_interval = interval / units";
  constexpr std::string_view kKeys =
      "pipe.branch.latency, pipe.branch.interval, pipe.branch_shared, pipe.uniform.latency, "
      "pipe.uniform.interval, "
      "pipe.tensor.latency, "
      "tensor.f16, tensor.bf16, tensor.tf32, tensor.f64, tensor.int8, tensor.int4, tensor.binary, "
      "tensor.fp8, "
      "mio.texture_latency, mio.texture_interval";
  (rules.push_back({{{kUnitOptions[N], "0,4,4,4,4,BRA"}, {kUnitTimings[N], "4,4"}, {kSchedulers, "1"}},
                    N == 0 ? kKeys : "as of the first",
                    N == 0 ? kHow : "likewise",
                    specialised_unit<N>}),
   ...);
}

}  // namespace

std::vector<Rule> pipe_rules() {
  std::vector<Rule> rules = {
      {{{kInt, "4,1"}, {kIntUnits, "0"}, {kSpUnits, "1"}, {kSchedulers, "1"}},
       "pipe.alu.units, pipe.alu.latency, pipe.alu.interval, pipe.imad.units, pipe.imad.latency, "
       "pipe.imad.interval, pipe.imad_wide.units, pipe.imad_wide.latency, pipe.imad_wide.interval, "
       "pipe.vote.units, pipe.vote.latency, pipe.vote.interval",
       "latency + 2; interval * schedulers / units; on alu, or without INT units on fma",
       integers},
      {{{kSp, "4,1"}, {kSpUnits, "1"}, {kSchedulers, "1"}},
       "pipe.fp32.units, pipe.fp32.latency, pipe.fp32.interval, pipe.fp16.units, pipe.fp16.latency, "
       "pipe.fp16.interval",
       "latency + 2; interval * schedulers / units; on fma",
       single},
      {{{kDp, "4,1"}, {kDpUnits, "0"}, {kSchedulers, "1"}},
       "pipe.fp64.latency, pipe.fp64.interval, pipe.fp64_shared",
       "latency + 2; interval * schedulers / units; fewer units than schedulers are shared",
       doubles},
      {{{kSfu, "4,1"}, {kSfuUnits, "1"}, {kSchedulers, "1"}},
       "pipe.sfu.latency, pipe.sfu.interval, pipe.convert.latency, pipe.convert.interval, "
       "pipe.bitcount.latency, pipe.bitcount.interval",
       "latency + 2; interval * schedulers / units; the three share the unit xu",
       special},
      {{{kTensor, "4,1"}, {kTensorUnits, "0"}, {kSchedulers, "1"}},
       "pipe.tensor.latency, tensor.f16, tensor.bf16, tensor.tf32, tensor.f64, tensor.int8, tensor.int4, "
       "tensor.binary, tensor.fp8",
       "f16 = multiply-accumulates (256 before sm_75, 1024 for it, then 2048) * units / (interval * "
       "schedulers); "
       "other types keep the base's ratio to it; latency + 2 less the work's cycles, plus one",
       tensor},
  };
  add_specialised(rules, std::make_index_sequence<kSpecialisedUnits>{});
  return rules;
}

}  // namespace lockstep::accelsim
