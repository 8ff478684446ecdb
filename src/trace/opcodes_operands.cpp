#include "trace/opcodes_operands.hpp"

#include <algorithm>
#include <array>

namespace lockstep::trace {
namespace {

constexpr unsigned kInferredPredicates = 4;
constexpr std::size_t kMaxListed = 8;

/// A listed register and how many registers it stands for.
struct Operand {
  TracedRegister reg;
  unsigned width = 1;
  std::uint8_t position = 0;
};

struct OperandList {
  std::array<Operand, kMaxListed> list{};
  std::size_t size = 0;
  void add(TracedRegister reg, std::uint8_t position) {
    if (size < list.size()) list[size++] = {reg, 1, position};
  }
  [[nodiscard]] Operand& operator[](std::size_t i) { return list[i]; }
  [[nodiscard]] Operand* begin() { return list.data(); }
  [[nodiscard]] Operand* end() { return list.data() + size; }
  void widen_all(unsigned width) {
    for (Operand& o : *this) o.width = width;
  }
};

struct Listed {
  OperandList to, from;
};

bool is_zero_register(TracedRegister r) {
  switch (r.space) {
    case RegSpace::kVector:
      return r.index == 255;
    case RegSpace::kUniform:
      return r.index == 63 || r.index == 255;
    case RegSpace::kPredicate:
    case RegSpace::kUniformPredicate:
      return r.index == 7;
  }
  return false;
}

template <unsigned N>
void append(RegisterList<N>& list, const Operand& operand) {
  if (is_zero_register(operand.reg) || list.size == N) return;
  // A range may not run into the zero register.
  const unsigned limit = operand.reg.space == RegSpace::kVector ? 255u : 63u;
  const unsigned room = operand.reg.index < limit ? limit - operand.reg.index : 1;
  list.push({operand.reg.space, operand.reg.index, static_cast<std::uint8_t>(std::min(operand.width, room)),
             operand.position});
}

unsigned registers_for(unsigned bytes) { return std::max(1u, bytes / 4); }

/// A 64-bit address takes two registers: global and generic accesses with .E.
unsigned address_width(const StaticInst& inst, const Opcode& opcode) {
  const bool wide = inst.space == MemSpace::kGlobal || inst.space == MemSpace::kGeneric;
  return wide && opcode.has("E") ? 2 : 1;
}

/// Loads: [address]. Stores and reductions: [address] data. Atomics: [address] data..., after the result has
/// been moved. LDGSTS: shared address, global address.
void widen_access(Listed& l, const StaticInst& inst, const Opcode& opcode, unsigned data) {
  const unsigned address = address_width(inst, opcode);
  switch (inst.op_class) {
    case OpClass::kConstLoad:
    case OpClass::kLoad:
      l.to.widen_all(data);
      if (l.from.size > 0) l.from[0].width = address;
      break;
    case OpClass::kStore:
    case OpClass::kReduction:
      if (l.from.size > 1) l.from[0].width = address;
      if (l.from.size > 0) l.from[l.from.size - 1].width = data;
      break;
    case OpClass::kAtomic:
      l.to.widen_all(data);
      l.from.widen_all(data);
      if (l.from.size > 0) l.from[0].width = address;
      break;
    case OpClass::kAsyncCopy:
      if (l.from.size > 1) l.from[1].width = address;
      break;
    default:
      break;
  }
}

void widen_mma(Listed& l, const MmaShape& shape) {
  l.to.widen_all(shape.c);
  const unsigned widths[] = {shape.a, shape.b, shape.c};
  for (std::size_t i = 0; i < l.from.size; ++i) l.from[i].width = i < 3 ? widths[i] : 1u;
}

/// Sources are the accumulator, and before it A where it is in registers.
void widen_warpgroup(Listed& l, const MmaShape& shape) {
  l.to.widen_all(shape.c);
  if (l.from.size > 0) l.from[l.from.size - 1].width = shape.c;
  if (l.from.size > 1) l.from[0].width = shape.a;
}

/// F2F: destination format, then source format. I2F, F2I: the format on the integer or floating side that is
/// 64 bits wide says which operand is a pair. FRND: both.
void widen_conversion(Listed& l, const Opcode& opcode) {
  const bool f64 = opcode.has("F64"), i64 = opcode.has("S64") || opcode.has("U64");
  bool wide_to = false, wide_from = false;
  if (opcode.base() == "I2F") {
    wide_to = f64;
    wide_from = i64;
  } else if (opcode.base() == "F2I") {
    wide_to = i64;
    wide_from = f64;
  } else if (opcode.base() == "FRND") {
    wide_to = wide_from = f64;
  } else if (f64) {
    const auto first =
        std::find_if(opcode.begin(), opcode.end(), [](auto m) { return modifier_bytes(m) > 0; });
    wide_to = *first == "F64";
    wide_from = !wide_to || std::count(opcode.begin(), opcode.end(), std::string_view("F64")) > 1;
  }
  if (wide_to) l.to.widen_all(2);
  if (wide_from) l.from.widen_all(2);
}

/// IMAD.WIDE R4, R6, R7, R8: the addend is the third listed source; the second where the multiplier is an
/// immediate. With two listed sources and no immediate the addend is in constant memory.
void widen_addend(Listed& l, const InstructionText& text) {
  if (l.from.size >= 3) l.from[2].width = 2;
  if (l.from.size == 2 && text.has_immediate && text.immediate != 0) l.from[1].width = 2;
}

void widen(Listed& l, const StaticInst& inst, const InstructionText& text, const Opcode& opcode,
           OperandShape shape) {
  switch (shape) {
    case OperandShape::kPlain:
      break;
    case OperandShape::kMaybePairs:
      if (!opcode.has("64") && !opcode.has("U64") && !opcode.has("S64")) break;
      [[fallthrough]];
    case OperandShape::kPairs:
      l.to.widen_all(2);
      l.from.widen_all(2);
      break;
    case OperandShape::kPairSources:
      l.from.widen_all(2);
      break;
    case OperandShape::kPairResult:
      l.to.widen_all(2);
      break;
    case OperandShape::kCounter:
      if (!opcode.has("32")) l.to.widen_all(2);
      break;
    case OperandShape::kWide:
      l.to.widen_all(2);
      [[fallthrough]];
    case OperandShape::kWideAddend:
      widen_addend(l, text);
      break;
    case OperandShape::kConversion:
      widen_conversion(l, opcode);
      break;
    case OperandShape::kAccess:
      widen_access(l, inst, opcode, registers_for(access_bytes(opcode)));
      break;
    case OperandShape::kMatrix:
      widen_access(l, inst, opcode, matrix_registers(opcode));
      break;
    case OperandShape::kMma:
      if (const auto mma = mma_shape(opcode)) widen_mma(l, *mma);
      break;
    case OperandShape::kWarpgroup:
      if (const auto mma = warpgroup_shape(opcode)) widen_warpgroup(l, *mma);
      break;
  }
}

Listed listed_operands(const InstructionText& text, bool result_among_sources) {
  Listed l;
  for (const TracedRegister r : text.destinations) l.to.add(r, 0);
  std::uint8_t position = 0;
  for (const TracedRegister r : text.sources) {
    if (result_among_sources && position == 0 && l.to.size == 0) {
      l.to.add(r, 0);
      result_among_sources = false;
      continue;
    }
    l.from.add(r, position++);
  }
  return l;
}

void push_predicates(StaticInst& inst, std::uint8_t flags) {
  const auto one = static_cast<std::uint8_t>(inst.pc / inst.bytes % kInferredPredicates);
  if (flags & kWritesPredicate && inst.destinations.size < 4)
    inst.destinations.push({RegSpace::kPredicate, one, 1, 0});
  if (flags & kWritesUniformPredicate && inst.destinations.size < 4)
    inst.destinations.push({RegSpace::kUniformPredicate, one, 1, 0});
  if (flags & kReadsPredicate && inst.sources.size < 8)
    inst.sources.push({RegSpace::kPredicate, 0, kInferredPredicates, 0});
  if (flags & kReadsUniformPredicate && inst.sources.size < 8)
    inst.sources.push({RegSpace::kUniformPredicate, 0, kInferredPredicates, 0});
}

/// A comparison joined by OR or XOR has a predicate operand that matters (AND is mostly with PT); .EX carries
/// the low half's result into the comparison of the high half.
bool joins_predicate(const Opcode& opcode) {
  return opcode.base().ends_with("SETP") && (opcode.has("OR") || opcode.has("XOR") || opcode.has("EX"));
}

}  // namespace

void complete_operands(StaticInst& inst, const InstructionText& text, const Opcode& opcode,
                       const OpcodeRow& row) {
  std::uint8_t flags = row.flags;
  // ATOMS.CAST.SPIN P0, [R4], R6, R7 has no result but its predicate.
  const bool spin = inst.op_class == OpClass::kAtomic && opcode.has("SPIN");
  const bool first_missing = text.destinations.empty();
  const bool moved = first_missing && flags & kPredicateFirst && !spin;
  if (first_missing && (spin || flags & kFirstMatters)) flags |= kWritesPredicate;
  if (joins_predicate(opcode))
    flags |= flags & kWritesUniformPredicate ? kReadsUniformPredicate : kReadsPredicate;
  Listed l = listed_operands(text, moved);
  widen(l, inst, text, opcode, row.shape);
  for (const Operand& o : l.to) append(inst.destinations, o);
  for (const Operand& o : l.from) append(inst.sources, o);
  push_predicates(inst, flags);
}

}  // namespace lockstep::trace
