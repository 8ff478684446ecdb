// Where NVIDIA's static runtime may be on this machine.
#pragma once

#include <vector>

#include "cuda/preload/static_runtime.hpp"

namespace lockstep::cuda {

/// Paths of archives (libcudart_static.a), with colons between them, which are looked through first.
inline constexpr const char* kArchivesVariable = "LOCKSTEP_CUDART_STATIC";

/// At the start of the process, before the C library knows its environment: which archives there are, by
/// kArchivesVariable, CUDA_HOME, CUDA_PATH and the places where toolkits are installed.
void set_runtime_archives(const char* const* environment);

/// Their runtimes, read at the first call. Archives that cannot be read have none.
[[nodiscard]] const std::vector<ArchivedCode>& runtime_archives();

}  // namespace lockstep::cuda
