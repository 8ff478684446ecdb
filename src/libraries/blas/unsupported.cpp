// Every entry of cuBLAS that nothing else here defines.
#include "libraries/blas/abi.hpp"
#include "libraries/common/error.hpp"

#define X(name) LOCKSTEP_UNSUPPORTED(name, lockstep::libraries::blas::kStatusNotSupported)
#include "libraries/blas/exported_names.inc"
#undef X
