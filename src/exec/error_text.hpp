// Names and texts of CUDA's result codes. Programs compare them, on the host and in kernels.
#pragma once

namespace lockstep::exec {

/// The name of cudaError_t `number`: "cudaErrorInvalidValue"; "unrecognized error code" if CUDA has no such
/// number.
[[nodiscard]] const char* error_name(int number);
/// "invalid argument"; "unrecognized error code" for numbers that CUDA does not have.
[[nodiscard]] const char* error_text(int number);

}  // namespace lockstep::exec
