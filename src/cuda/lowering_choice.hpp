// Which steps of lowering a recorded kernel goes through.
#pragma once

#include <string>
#include <vector>

#include "lower/passes.hpp"

namespace lockstep::cuda {

/// How `lockstep exec` and `record` tell the runtime what to leave out: "NAME,NAME".
inline constexpr const char* kWithoutVariable = "LOCKSTEP_CUDA_WITHOUT";

[[nodiscard]] std::string to_text(const std::vector<std::string>& without);
/// Of kWithoutVariable; all steps when it is not set. Throws UserError.
[[nodiscard]] lower::Passes read_passes();

}  // namespace lockstep::cuda
