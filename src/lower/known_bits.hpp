// Which bits of a register can be other than zero: how far an address is aligned.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::lower {

/// ptxas 13.0 (sm_75, sm_86, sm_90, observed): arrays in shared memory, dynamic ones too, begin at multiples
/// of 16 bytes whatever alignment PTX gives them, as far as the width of accesses shows; those in local
/// memory at multiples of 8.
inline constexpr std::uint64_t kSharedAlignment = 16, kLocalAlignment = 8;

/// By register: the bits that some of its values may have set, over all of its writes. All ones where nothing
/// is known; of registers of 32 bits the upper half is zero.
/// `variables`: those of the program that the function names.
[[nodiscard]] std::vector<std::uint64_t> possible_bits(const ptx::Function& function,
                                                       const std::vector<ptx::Variable>& variables);
/// The same of a symbol's address.
[[nodiscard]] std::uint64_t possible_bits(const ptx::Function& function,
                                          const std::vector<ptx::Variable>& variables,
                                          const ptx::Symbol& symbol, std::int64_t offset);

}  // namespace lockstep::lower
