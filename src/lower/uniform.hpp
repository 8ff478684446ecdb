// What is computed on the uniform datapath.
#pragma once

#include <string>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::lower {

/// By place: integer instructions whose results only products of warpgroups read, as descriptors or as the
/// predicate that says whether they add to their accumulators, directly or through others of the kind. PTX
/// demands that these are the same in all lanes; ptxas 13.0 computes them in uniform registers (machine code
/// of FlashAttention-3's loop for sm_90a: a UMOV and a UIADD3 for each descriptor).
[[nodiscard]] std::vector<bool> uniform_instructions(const ptx::Function& function);

/// The opcode on the uniform datapath: UIADD3 for IADD3. The same where it has none.
[[nodiscard]] std::string uniform_opcode(const std::string& opcode);

}  // namespace lockstep::lower
