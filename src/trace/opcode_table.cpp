#include "trace/opcode_table.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "trace/barrier_events.hpp"
#include "trace/opcodes_modifiers.hpp"
#include "trace/opcodes_operands.hpp"
#include "trace/opcodes_rows.hpp"

namespace lockstep::trace {
namespace {

/// The row of `opcode`, with its variant applied; a guess when it is not in the table.
OpcodeRow resolve_row(const Opcode& opcode, const InstructionText& text, bool& known) {
  const OpcodeRow* found = find_opcode(opcode.base());
  known = found != nullptr;
  if (!found) return guess_opcode(opcode.base(), text.mem_width > 0, !text.destinations.empty());
  OpcodeRow row = *found;
  for (const OpcodeVariant& v : opcode_variants()) {
    if (v.name != row.name || text.binary_version < v.first_version || text.binary_version > v.last_version)
      continue;
    if (!v.modifier.empty() && !opcode.has(v.modifier)) continue;
    row.op_class = v.op_class;
    row.shape = v.shape;
    row.flags = v.flags;
    break;
  }
  return row;
}

bool moves_data(OpClass c) {
  switch (c) {
    case OpClass::kConstLoad:
    case OpClass::kLoad:
    case OpClass::kStore:
    case OpClass::kAtomic:
    case OpClass::kReduction:
    case OpClass::kAsyncCopy:
    case OpClass::kTexture:
    case OpClass::kSurface:
      return true;
    default:
      return false;
  }
}

/// Only with addresses, as recorded programs have them, which are those of lines.
void set_prefetch(StaticInst& inst, const InstructionText& text, const Opcode& opcode) {
  const bool to_l2 = opcode.has("PF2");
  if (opcode.base() != "CCTL" || text.mem_width == 0 || !(to_l2 || opcode.has("PF1"))) return;
  inst.op_class = OpClass::kLoad;
  inst.space = MemSpace::kGlobal;
  inst.prefetch = inst.has_addresses = true;
  inst.bypass_l1 = to_l2;
  inst.access_bytes = kLineBytes;
}

void set_access(StaticInst& inst, const InstructionText& text, const Opcode& opcode, OperandShape shape) {
  inst.has_addresses = text.mem_width > 0;
  if (!moves_data(inst.op_class)) return;
  const unsigned bytes = shape == OperandShape::kMatrix ? 4 * matrix_registers(opcode) : access_bytes(opcode);
  inst.access_bytes = static_cast<std::uint8_t>(std::min(bytes, 128u));
  const bool global = inst.space == MemSpace::kGlobal || inst.space == MemSpace::kGeneric;
  const bool strong = opcode.has("STRONG") && (opcode.has("GPU") || opcode.has("SYS"));
  const bool uncached = opcode.has("CV") || opcode.has("CG") || opcode.has("MMIO") || opcode.has("BYPASS") ||
                        opcode.base() == "LDGMC";
  const bool atomic = inst.op_class == OpClass::kAtomic || inst.op_class == OpClass::kReduction;
  inst.bypass_l1 = global && (strong || uncached || atomic);
}

/// Policies that a program chose for an instruction, in recorded programs' opcodes alone: .L2Pxx, xx being an
/// L2Policy in hexadecimal digits. Machine code has them in registers.
void set_l2_policy(StaticInst& inst, const Opcode& opcode) {
  constexpr std::string_view kPrefix = "L2P";
  if (opcode.has("EF") || opcode.has("NA")) inst.l2_policy = kEvictFirstPolicy;
  for (const std::string_view modifier : opcode) {
    if (!modifier.starts_with(kPrefix)) continue;
    const char* const begin = modifier.data() + kPrefix.size();
    std::from_chars(begin, modifier.data() + modifier.size(), inst.l2_policy, 16);
  }
}

/// The tracer gives the last immediate operand: BAR.SYNC 0x1 says which of the 16 barriers, BAR.SYNC 0x1,
/// 0x80 only how many threads take part, a multiple of the warp size. Then barriers with the same count are
/// taken to be one, by a number made from it.
void set_barrier(StaticInst& inst, const InstructionText& text, const Opcode& opcode) {
  if (inst.op_class != OpClass::kBarrier || opcode.base() == "B2R" || opcode.base() == "R2B") return;
  inst.barrier = opcode.has("ARV")   ? BarrierOp::kArrive
                 : opcode.has("RED") ? BarrierOp::kReduce
                                     : BarrierOp::kSync;
  if (inst.has_addresses && opcode.has("EVENTS")) inst.barrier_id = kCountedBarrier;
  if (!text.has_immediate || text.immediate < 0 || text.immediate > 1024) return;
  const auto value = static_cast<std::uint32_t>(text.immediate);
  if (value < 16) {
    inst.barrier_id = static_cast<std::uint8_t>(value);
  } else if (value % kWarpSize == 0) {
    inst.barrier_id = static_cast<std::uint8_t>(1 + (value / kWarpSize - 1) % 15);
  }
}

void set_fence(StaticInst& inst, const Opcode& opcode) {
  if (opcode.base() != "MEMBAR" && opcode.base() != "FENCE") return;
  inst.fence = opcode.has("SYS")                                ? FenceScope::kSystem
               : opcode.has("CTA") || opcode.has("SM")          ? FenceScope::kCta
               : opcode.base() == "FENCE" && !opcode.has("GPU") ? FenceScope::kCta  // FENCE.VIEW.ASYNC
                                                                : FenceScope::kGpu;
}

/// Only recorded programs' opcodes say .RUNS (bulk_runs.hpp) and .EVENTS: an mbarrier's number and a count of
/// its events, as base and stride of an affine record.
void set_asynchronous(StaticInst& inst, const Opcode& opcode) {
  if (!inst.has_addresses) return;
  const bool arrives = inst.op_class == OpClass::kMbarrier || opcode.base() == "ARRIVES";
  if (arrives && opcode.has("EVENTS"))
    inst.barrier = opcode.has("PHASECHK") ? BarrierOp::kSync : BarrierOp::kArrive;
  if (inst.op_class != OpClass::kBulkCopy || !opcode.has("RUNS")) return;
  const std::string_view base = opcode.base();
  const bool stores = base == "UTMASTG" || *opcode.begin() == "G";  // .G.S: to global memory
  const bool between = !base.starts_with("UTMA") && opcode.begin() + 1 < opcode.end() &&
                       *opcode.begin() == "S" && *(opcode.begin() + 1) == "S";
  if (between) {
    inst.bulk = BulkCopy::kBetween;
    return;
  }
  inst.bulk = base == "UTMAREDG" || (base == "UBLKRED" && stores) ? BulkCopy::kReduction
              : stores                                            ? BulkCopy::kStore
              : base == "UTMAPF" || base == "UBLKPF"              ? BulkCopy::kPrefetch
                                                                  : BulkCopy::kLoad;
}

void set_signal(StaticInst& inst, const Opcode& opcode) {
  if (!inst.has_addresses) return;
  const bool writes = inst.op_class == OpClass::kStore || inst.op_class == OpClass::kAtomic ||
                      inst.op_class == OpClass::kReduction;
  if (writes && opcode.has("SIGNALS")) inst.signal = SignalOp::kSignals;
  if (opcode.base() == "AWAIT") inst.signal = SignalOp::kAwaits;
}

void set_tensor(StaticInst& inst, const Opcode& opcode) {
  std::optional<MmaShape> shape;
  if (inst.op_class == OpClass::kTensor) shape = mma_shape(opcode);
  if (inst.op_class == OpClass::kWarpgroupMma) shape = warpgroup_shape(opcode);
  if (!shape) return;
  inst.macs = shape->macs;
  inst.tensor_type = shape->type;
  inst.tensor_sparse = shape->sparse;
  inst.closes_group = opcode.has("GSB");
}

std::int32_t to_int32(std::int64_t v) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(v, std::numeric_limits<std::int32_t>::min(),
                                                            std::numeric_limits<std::int32_t>::max()));
}

struct Prefix {
  std::string_view text;
  RegSpace space;
  std::uint8_t zero;  // index of the register that is always zero or true
  unsigned count;
};
constexpr Prefix kPrefixes[] = {{"UR", RegSpace::kUniform, 255, 256},
                                {"UP", RegSpace::kUniformPredicate, 7, 8},
                                {"R", RegSpace::kVector, 255, 256},
                                {"P", RegSpace::kPredicate, 7, 8}};

}  // namespace

std::optional<TracedRegister> parse_register(std::string_view text) {
  if (text == "PT") return TracedRegister{RegSpace::kPredicate, 7};
  if (text == "UPT") return TracedRegister{RegSpace::kUniformPredicate, 7};
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    const std::string_view digits = text.substr(prefix.text.size());
    if (digits == "Z" && prefix.count == 256) return TracedRegister{prefix.space, prefix.zero};
    if (digits.empty() || digits.size() > 3) return std::nullopt;
    unsigned value = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') return std::nullopt;
      value = 10 * value + static_cast<unsigned>(c - '0');
    }
    if (value >= prefix.count) return std::nullopt;
    return TracedRegister{prefix.space, static_cast<std::uint8_t>(value)};
  }
  return std::nullopt;
}

StaticInst decode_instruction(const InstructionText& text) {
  const Opcode opcode(text.opcode);
  StaticInst inst;
  const OpcodeRow row = resolve_row(opcode, text, inst.known);
  inst.pc = text.pc;
  inst.bytes = text.binary_version < 70 ? 8 : 16;
  opcode.base().copy(inst.mnemonic.data(), inst.mnemonic.size() - 1);
  inst.op_class = row.op_class;
  inst.space = row.space;
  inst.may_branch = row.op_class == OpClass::kBranch;
  inst.immediate = text.has_immediate ? to_int32(text.immediate) : 0;
  set_access(inst, text, opcode, row.shape);
  set_prefetch(inst, text, opcode);
  if (moves_data(inst.op_class) || inst.op_class == OpClass::kBulkCopy) set_l2_policy(inst, opcode);
  set_barrier(inst, text, opcode);
  set_fence(inst, opcode);
  set_asynchronous(inst, opcode);
  set_signal(inst, opcode);
  set_tensor(inst, opcode);
  complete_operands(inst, text, opcode, row);
  return inst;
}

}  // namespace lockstep::trace
