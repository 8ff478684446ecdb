// Every entry of cuBLASLt that nothing else here defines.
#include "libraries/blas/abi.hpp"
#include "libraries/common/error.hpp"

#define X(name) LOCKSTEP_UNSUPPORTED(name, lockstep::libraries::blas::kStatusNotSupported)
#include "libraries/blaslt/exported_names.inc"
#undef X
