#include "lower/use_counts.hpp"

#include "ptx/liveness.hpp"

namespace lockstep::lower {

UseCounts::UseCounts(const ptx::Function& function)
    : writes(function.registers.size()), reads(function.registers.size()) {
  for (const ptx::Instruction& i : function.instructions) {
    const auto use = ptx::register_use(i);
    for (const ptx::RegisterId id : use.writes) ++writes[id];
    for (const ptx::RegisterId id : use.reads) ++reads[id];
  }
}

}  // namespace lockstep::lower
