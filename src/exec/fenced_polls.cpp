// Loops that wait with plain loads: `while (*latch == 0) __threadfence();`. What such a load reads must be
// read anew each time, so that it is one of those by which a warp that spins is known.
#include "exec/passes.hpp"

namespace lockstep::exec {

namespace {

bool acts(Handler handler) {
  return handler != Handler::kLane && handler != Handler::kLoad && handler != Handler::kNothing &&
         handler != Handler::kNanosleep && handler != Handler::kBranch;
}

}  // namespace

/// In loops that do nothing but look, with a fence or a pause in them.
void find_fenced_polls(const FunctionCode& function, Translation& out) {
  const auto waits = [&](std::uint32_t i) {
    const ptx::Opcode what = function.source->instructions[i].op();
    return what == ptx::Opcode::kMembar || what == ptx::Opcode::kFence || what == ptx::Opcode::kNanosleep;
  };
  Operation* const code = out.operations.data() + function.first;
  for (std::uint32_t end = 0; end < function.size; ++end) {
    if (code[end].handler != Handler::kBranch || code[end].target > function.first + end) continue;
    const std::uint32_t begin = code[end].target - function.first;
    if (end - begin >= kLongestWaitLoop) continue;
    bool fenced = false, acting = false;
    for (std::uint32_t i = begin; i <= end; ++i) fenced |= waits(i), acting |= acts(code[i].handler);
    if (!fenced || acting) continue;
    for (std::uint32_t i = begin; i <= end; ++i) {
      if (code[i].handler != Handler::kLoad) continue;
      MemoryForm& form = out.memory[code[i].detail];
      form.polls |= form.state_space == StateSpace::kGlobal || form.state_space == StateSpace::kGeneric;
    }
  }
}

}  // namespace lockstep::exec
