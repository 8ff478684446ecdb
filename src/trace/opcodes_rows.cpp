#include "trace/opcodes_rows.hpp"

#include <algorithm>
#include <array>

namespace lockstep::trace {
namespace {

constexpr std::uint8_t WP = kWritesPredicate, RP = kReadsPredicate, WU = kWritesUniformPredicate,
                       RU = kReadsUniformPredicate, PF = kPredicateFirst, WF = kFirstMatters;

constexpr auto kRows = [] {
  auto rows = std::to_array<OpcodeRow>({
#define OP(name, op_class, space, shape, flags) \
  OpcodeRow{#name, OpClass::op_class, MemSpace::space, OperandShape::shape, flags},
#include "trace/opcodes_table.inc"
#undef OP
  });
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return rows;
}();
static_assert(std::adjacent_find(kRows.begin(), kRows.end(),
                                 [](const auto& a, const auto& b) { return a.name == b.name; }) ==
                  kRows.end(),
              "an opcode is twice in the table");

constexpr OpcodeVariant kVariants[] = {
#define VARIANT(name, modifier, first, last, op_class, shape, flags) \
  {#name, modifier, first, last, OpClass::op_class, OperandShape::shape, flags},
#include "trace/opcodes_variants.inc"
#undef VARIANT
};

struct Guess {
  std::string_view prefix;
  OpcodeRow row;
};
/// The first prefix that fits counts.
constexpr Guess kGuesses[] = {
    {"LDG", {"", OpClass::kLoad, MemSpace::kGlobal, OperandShape::kAccess, 0}},
    {"LDS", {"", OpClass::kLoad, MemSpace::kShared, OperandShape::kAccess, 0}},
    {"LDL", {"", OpClass::kLoad, MemSpace::kLocal, OperandShape::kAccess, 0}},
    {"LDC", {"", OpClass::kConstLoad, MemSpace::kConstant, OperandShape::kAccess, 0}},
    {"LD", {"", OpClass::kLoad, MemSpace::kGeneric, OperandShape::kAccess, 0}},
    {"STG", {"", OpClass::kStore, MemSpace::kGlobal, OperandShape::kAccess, 0}},
    {"STS", {"", OpClass::kStore, MemSpace::kShared, OperandShape::kAccess, 0}},
    {"STL", {"", OpClass::kStore, MemSpace::kLocal, OperandShape::kAccess, 0}},
    {"ST", {"", OpClass::kStore, MemSpace::kGeneric, OperandShape::kAccess, 0}},
    {"ATOMS", {"", OpClass::kAtomic, MemSpace::kShared, OperandShape::kAccess, kPredicateFirst}},
    {"ATOM", {"", OpClass::kAtomic, MemSpace::kGeneric, OperandShape::kAccess, kPredicateFirst}},
    {"RED", {"", OpClass::kReduction, MemSpace::kGlobal, OperandShape::kAccess, 0}},
    {"TEX", {"", OpClass::kTexture, MemSpace::kTexture, OperandShape::kPlain, 0}},
    {"TLD", {"", OpClass::kTexture, MemSpace::kTexture, OperandShape::kPlain, 0}},
    {"TX", {"", OpClass::kTexture, MemSpace::kTexture, OperandShape::kPlain, 0}},
    {"SU", {"", OpClass::kSurface, MemSpace::kTexture, OperandShape::kPlain, 0}},
    {"UTMA", {"", OpClass::kBulkCopy, MemSpace::kNone, OperandShape::kPlain, 0}},
    {"UBLK", {"", OpClass::kBulkCopy, MemSpace::kNone, OperandShape::kPlain, 0}},
    {"UTC", {"", OpClass::kWarpgroupMma, MemSpace::kNone, OperandShape::kPlain, 0}},
    {"U", {"", OpClass::kUniform, MemSpace::kNone, OperandShape::kPlain, 0}},
    {"BR", {"", OpClass::kBranch, MemSpace::kNone, OperandShape::kPlain, kReadsPredicate}},
    {"JM", {"", OpClass::kBranch, MemSpace::kNone, OperandShape::kPlain, kReadsPredicate}},
    {"F", {"", OpClass::kFp32, MemSpace::kNone, OperandShape::kPlain, 0}},
    {"H", {"", OpClass::kFp16, MemSpace::kNone, OperandShape::kPlain, 0}},
    {"D", {"", OpClass::kFp64, MemSpace::kNone, OperandShape::kPairs, 0}},
};

OpcodeRow prefix_guess(std::string_view base) {
  if (base.ends_with("GMMA"))
    return {"", OpClass::kWarpgroupMma, MemSpace::kNone, OperandShape::kWarpgroup, 0};
  if (base.ends_with("MMA") && !base.starts_with("U"))
    return {"", OpClass::kTensor, MemSpace::kNone, OperandShape::kMma, 0};
  if (base.ends_with("SETP"))
    return {"", base.starts_with("U") ? OpClass::kUniform : OpClass::kAlu, MemSpace::kNone,
            OperandShape::kPlain, base.starts_with("U") ? kWritesUniformPredicate : kWritesPredicate};
  for (const Guess& guess : kGuesses)
    if (base.starts_with(guess.prefix)) return guess.row;
  return {};
}

}  // namespace

std::span<const OpcodeRow> opcode_rows() { return kRows; }
std::span<const OpcodeVariant> opcode_variants() { return kVariants; }

const OpcodeRow* find_opcode(std::string_view base) {
  const auto it =
      std::lower_bound(kRows.begin(), kRows.end(), base,
                       [](const OpcodeRow& row, std::string_view name) { return row.name < name; });
  return it != kRows.end() && it->name == base ? &*it : nullptr;
}

OpcodeRow guess_opcode(std::string_view base, bool has_addresses, bool has_destination) {
  OpcodeRow row = prefix_guess(base);
  if (has_addresses && row.space == MemSpace::kNone)
    row = {"", has_destination ? OpClass::kLoad : OpClass::kStore, MemSpace::kGeneric, OperandShape::kAccess,
           0};
  row.name = base;
  return row;
}

}  // namespace lockstep::trace
