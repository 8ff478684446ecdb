// The CUDA runtime of this process: what src/cuda/api_mpi.cpp has for this layer.
#pragma once

namespace lockstep_pmpi {

/// A function of it by name. Null: the process has not loaded it.
[[nodiscard]] void* runtime_function(const char* name);

}  // namespace lockstep_pmpi
