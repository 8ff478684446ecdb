// Every entry of cuSOLVER that nothing else here defines.
#include "libraries/common/error.hpp"
#include "libraries/solver/context.hpp"

#define X(name) LOCKSTEP_UNSUPPORTED(name, lockstep::libraries::solver::kStatusNotSupported)
#include "libraries/solver/exported_names.inc"
#undef X
