// Every entry of cuSPARSE that nothing else here defines.
#include "libraries/common/error.hpp"
#include "libraries/sparse/abi.hpp"

#define X(name) LOCKSTEP_UNSUPPORTED(name, lockstep::libraries::sparse::kNotSupported)
#include "libraries/sparse/exported_names.inc"
#undef X
