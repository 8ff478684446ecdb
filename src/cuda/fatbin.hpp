// The container in which nvcc puts PTX and machine code into a program.
// Layout: measured on CUDA 13.0 programs (all compression modes, RDC); numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::cuda {

/// One entry of a fatbin, decompressed.
struct FatbinImage {
  enum class Kind : std::uint8_t { kPtx, kCubin } kind = Kind::kPtx;
  std::uint32_t sm = 0;                // compute capability * 10
  std::uint16_t major = 0, minor = 0;  // PTX: ISA version
  std::string options;                 // for ptxas, as nvcc recorded them
  std::string bytes;                   // PTX text without trailing zeros, or an ELF file
};

inline constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;
inline constexpr std::size_t kFatbinHeaderBytes = 16;
/// An image may not be larger than this once decompressed.
inline constexpr std::uint64_t kMaxImageBytes = std::uint64_t{1} << 30;

/// Bytes of the whole fatbin whose header is given. Throws UserError when it is not a fatbin.
[[nodiscard]] std::uint64_t fatbin_bytes(std::span<const std::byte, kFatbinHeaderBytes> header);

/// All PTX and cubin entries in order; entries of other kinds are passed over. Throws UserError naming `name`
/// and the offset for anything that does not fit the layout.
[[nodiscard]] std::vector<FatbinImage> read_fatbin(std::span<const std::byte> fatbin,
                                                   const std::string& name);

}  // namespace lockstep::cuda
