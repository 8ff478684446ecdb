// Every entry of NCCL that nothing else here defines.
#include "libraries/common/error.hpp"
#include "libraries/nccl/abi.hpp"

#define X(name) LOCKSTEP_UNSUPPORTED(name, lockstep::libraries::nccl::kInvalidUsage)
#include "libraries/nccl/exported_names.inc"
#undef X
