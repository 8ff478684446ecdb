// Which steps of lowering a recorded kernel goes through.
#pragma once

#include <string>
#include <vector>

#include "lower/passes.hpp"

namespace lockstep::cuda {

/// The variable by which `lockstep exec` and `record` pass to the runtime what to leave out: "NAME,NAME".
inline constexpr const char* kWithoutVariable = "LOCKSTEP_CUDA_WITHOUT";

[[nodiscard]] std::string to_text(const std::vector<std::string>& without);
/// From kWithoutVariable; all steps if it is not set. Throws UserError.
[[nodiscard]] lower::Passes read_passes();

}  // namespace lockstep::cuda
