// The vocabulary of PTX as enumerations: types, state spaces, mnemonics, modifiers, special registers. The
// tables (table_*.inc) are the single source of names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lockstep::ptx {

enum class Type : std::uint8_t {
#define TYPE(name, text, bits, kind) name,
#include "ptx/table_types.inc"
#undef TYPE
};

enum class TypeKind : std::uint8_t { kUnsigned, kSigned, kBits, kFloat, kPredicate, kOpaque };

enum class Space : std::uint8_t {
  kGeneric,  // no state space written
#define SPACE(name, text) name,
#include "ptx/table_spaces.inc"
#undef SPACE
};

enum class Opcode : std::uint8_t {
#define OPCODE(name, text, destinations) name,
#include "ptx/table_opcodes.inc"
#undef OPCODE
};

enum class Mod : std::uint16_t {
#define MOD(name, text) name,
#include "ptx/table_mods.inc"
#undef MOD
};

enum class Special : std::uint8_t {
#define SPECIAL(name, text, type, kind, limit) name,
#include "ptx/table_special.inc"
#undef SPECIAL
};

/// Size of one value in bits; of the whole pack for packed types.
[[nodiscard]] unsigned bits(Type type);
[[nodiscard]] TypeKind kind(Type type);
/// Size in memory, at least 1. Predicates have none of their own in PTX; 1 is given.
[[nodiscard]] inline unsigned bytes(Type type) { return bits(type) < 8 ? 1 : bits(type) / 8; }
[[nodiscard]] inline bool is_signed(Type type) { return kind(type) == TypeKind::kSigned; }
[[nodiscard]] inline bool is_float(Type type) { return kind(type) == TypeKind::kFloat; }
/// Of the own CTA or of another in its cluster.
[[nodiscard]] constexpr bool is_shared(Space space) {
  return space == Space::kShared || space == Space::kSharedCta || space == Space::kSharedCluster;
}

/// As written in PTX, without the dot ("s32", "shared::cta", "ld", "L2::cache_hint", "%tid"). kGeneric is
/// "generic".
[[nodiscard]] std::string_view name(Type type);
[[nodiscard]] std::string_view name(Space space);
[[nodiscard]] std::string_view name(Opcode opcode);
[[nodiscard]] std::string_view name(Mod mod);
[[nodiscard]] std::string_view name(Special special);

/// kScalar: one value. kVector: components x, y, z, w. kIndexed: a family, e.g. %envreg0 to %envreg31.
enum class SpecialKind : std::uint8_t { kScalar, kVector, kIndexed };
[[nodiscard]] Type type(Special special);
[[nodiscard]] SpecialKind kind(Special special);

/// Matrix shape mMnNkK; k is 0 for the two-dimensional ones (m8n8).
struct Shape {
  std::uint16_t m = 0, n = 0, k = 0;
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Exact words to values; nullopt when there is no such word.
[[nodiscard]] std::optional<Type> find_type(std::string_view word);
[[nodiscard]] std::optional<Space> find_space(std::string_view word);
[[nodiscard]] std::optional<Opcode> find_opcode(std::string_view word);
[[nodiscard]] std::optional<Mod> find_mod(std::string_view word);
/// Only shapes that some instruction of PTX has.
[[nodiscard]] std::optional<Shape> find_shape(std::string_view word);

/// A special register as named in PTX, e.g. "%tid", "%envreg7".
struct SpecialName {
  Special special{};
  std::uint8_t index = 0;  // member of an indexed family
};
[[nodiscard]] std::optional<SpecialName> find_special(std::string_view word);

/// The word of the vocabulary that is nearest to a misspelt one, for "did you mean"; empty when none is near.
[[nodiscard]] std::string_view nearest_opcode(std::string_view word);
[[nodiscard]] std::string_view nearest_suffix(std::string_view word);

}  // namespace lockstep::ptx
