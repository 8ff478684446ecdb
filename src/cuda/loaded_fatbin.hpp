// Fatbins and other images that a program hands over by their address alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep::cuda {

/// fatbinary_section.h of CUDA: of the wrapper, which has the address of a fatbin.
inline constexpr std::uint32_t kWrapperMagic = 0x466243B1;

/// Bytes from `begin` on that this process may read without a gap (/proc/self/maps).
[[nodiscard]] std::uint64_t readable_bytes(const void* begin);

/// The fatbin at `begin`, as long as its header says. Throws UserError when that is not a fatbin, or one that
/// would end outside the process's memory.
[[nodiscard]] std::span<const std::byte> loaded_fatbin(const void* begin);

}  // namespace lockstep::cuda
