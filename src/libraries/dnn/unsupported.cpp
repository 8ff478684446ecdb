// Every entry of cuDNN that nothing else here defines.
#include "libraries/common/error.hpp"
#include "libraries/dnn/abi.hpp"

#define X(name) LOCKSTEP_UNSUPPORTED(name, lockstep::libraries::dnn::kNotSupported)
#include "libraries/dnn/exported_names.inc"
#undef X
