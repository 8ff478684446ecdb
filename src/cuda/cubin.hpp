// What a cubin, the machine code of a fatbin, says about its kernels. Lockstep does not run machine code; it
// takes the resources that ptxas really gave each kernel. Layout: ELF-64 (System V ABI); NVIDIA's sections
// and attributes as measured on what ptxas 13.0 writes for sm_75 to sm_90: the registers of a kernel are
// attribute 0x2f of .nv.info and equal what `ptxas -v` prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace lockstep::cuda {

inline constexpr std::uint32_t kElfMagic = 0x464C457F;

struct CubinKernel {
  std::uint32_t registers = 0;     // of a thread
  std::uint32_t frame_bytes = 0;   // of a thread: local memory of the kernel's own frame
  std::uint32_t stack_bytes = 0;   // per thread, with the functions that it calls
  std::uint32_t barriers = 0;      // named barriers, barrier 0 included
  std::uint64_t shared_bytes = 0;  // static, of a CTA, with the 1 KiB that the system takes from sm_90 on
  std::uint64_t code_bytes = 0;    // with the slow paths inside it; 16 bytes per instruction
};

/// Kernels by name. Throws UserError naming `name` and the offset for anything that does not fit the layout;
/// every offset and size is checked. A file for another machine, or not 64-bit little-endian, is an error.
[[nodiscard]] std::map<std::string, CubinKernel> read_cubin(std::span<const std::byte> cubin,
                                                            const std::string& name);

/// Of messages: "a cubin for sm_80, kernels one, two". At most four kernels by name. Errors as read_cubin().
[[nodiscard]] std::string describe_cubin(std::span<const std::byte> cubin, const std::string& name);

}  // namespace lockstep::cuda
