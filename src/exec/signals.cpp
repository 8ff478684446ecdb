// Which writes may be what loops wait for (spin_loops.cpp).
#include "exec/passes.hpp"

namespace lockstep::exec {

namespace {

using ptx::Mod;

bool is_global(const MemoryForm& form) {
  return form.state_space == StateSpace::kGlobal || form.state_space == StateSpace::kGeneric;
}

/// A fence that others than the CTA see.
bool is_fence(const ptx::Instruction& inst) {
  if (inst.op() != ptx::Opcode::kMembar && inst.op() != ptx::Opcode::kFence) return false;
  return inst.has(Mod::kGpu) || inst.has(Mod::kSys) || inst.has(Mod::kGl);
}

bool is_strong_store(const ptx::Form& form) {
  return form.has(Mod::kVolatile) || form.has(Mod::kRelaxed) || form.has(Mod::kRelease) ||
         form.has(Mod::kMmio);
}

bool releases(const ptx::Form& form) { return form.has(Mod::kRelease) || form.has(Mod::kAcqRel); }

}  // namespace

/// Strong stores, releasing atomics, and global writes behind a fence: all atomics, the first plain store.
/// Those of multimem likewise.
void find_signals(const FunctionCode& function, Translation& out) {
  bool fenced = false;
  for (std::uint32_t i = 0; i < function.size; ++i) {
    const ptx::Instruction& inst = function.source->instructions[i];
    const Operation& op = out.operations[function.first + i];
    if (is_fence(inst)) fenced = true;
    const bool multimem = op.handler == Handler::kMultimem && !inst.has(Mod::kLdReduce);
    if (op.handler != Handler::kStore && op.handler != Handler::kAtomic && !multimem) continue;
    MemoryForm& form = out.memory[op.detail];
    if (!is_global(form)) continue;
    const bool store = op.handler == Handler::kStore || (multimem && !inst.has(Mod::kRed));
    const bool strong = store ? is_strong_store(inst.form) : releases(inst.form);
    form.signals = strong || fenced;
    if (store && !strong) fenced = false;
  }
}

}  // namespace lockstep::exec
