// Every entry of cuRAND that nothing else here defines.
#include "libraries/common/error.hpp"
#include "libraries/rand/abi.hpp"

#define X(name) LOCKSTEP_UNSUPPORTED(name, lockstep::libraries::rand::kTypeError)
#include "libraries/rand/exported_names.inc"
#undef X
