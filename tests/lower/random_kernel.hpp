// Kernels of random instructions that end, read nothing before it is written, and store what they compute.
#pragma once

#include <string>

namespace lockstep::lower::test {

/// PTX of one kernel `k` with two parameters, addresses of global memory 8 bytes apart. The same for the same
/// seed. Arithmetic of 32 and 64 bits, predicates, guards, loads and stores of one to four registers in
/// global and shared memory that often meet, moves that pack and take apart, conversions, if, else, loops.
[[nodiscard]] std::string random_kernel(unsigned seed);

}  // namespace lockstep::lower::test
