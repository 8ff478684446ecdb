// What multimem instructions do to one element (PTX ISA 9.0, section 9.7.9.15, multimem).
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/instruction.hpp"

namespace lockstep::exec {

/// Elements of several devices become one: narrow(fold(fold(widen(a), widen(b)), widen(c))).
struct MultimemReduction {
  using Fold = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t);
  using Convert = std::uint64_t (*)(std::uint64_t);
  Fold fold = nullptr;
  Convert widen = nullptr, narrow = nullptr;  // nullptr: as it is
};

/// The semantics of ld_reduce and red, or nullopt if the operation does not exist for the type. 16-bit sums
/// are rounded to their type after each addition, with .acc::f32 to f32 and at the end to the type; those of
/// 8-bit numbers to f16 and at the end to nearest. (PTX leaves order and rounding open.)
[[nodiscard]] std::optional<MultimemReduction> multimem_reduction(const ptx::Form& form);

}  // namespace lockstep::exec
