// Every entry of cuFFT that nothing else here defines.
#include "libraries/common/error.hpp"
#include "libraries/fft/abi.hpp"

#define X(name) LOCKSTEP_UNSUPPORTED(name, lockstep::libraries::fft::kNotSupported)
#include "libraries/fft/exported_names.inc"
#undef X
