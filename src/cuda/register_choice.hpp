// Where the registers of a kernel's threads come from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cuda {

/// The variable by which `lockstep exec` passes the choice to the runtime: "SOURCE[,NAME=N]...".
inline constexpr const char* kRegistersVariable = "LOCKSTEP_CUDA_REGISTERS";

struct RegisterChoice {
  enum class Source : std::uint8_t {
    kCubin,    // ptxas's count where the program has machine code that the GPU could load, else the estimate
    kEstimate  // lowering's count
  } source = Source::kCubin;
  std::map<std::string, std::uint32_t> kernels;  // by mangled name; goes before the source
};

/// `source`: "cubin" or "estimate"; `kernels`: "NAME=N" each, N from 1 to 255. Throws UserError naming what
/// is wrong.
[[nodiscard]] RegisterChoice make_register_choice(std::string_view source,
                                                  const std::vector<std::string>& kernels);
[[nodiscard]] std::string to_text(const RegisterChoice& choice);
/// From kRegistersVariable; the default if it is not set. Throws UserError as make_register_choice().
[[nodiscard]] RegisterChoice read_register_choice();

}  // namespace lockstep::cuda
