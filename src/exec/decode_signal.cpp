// Which loops wait for a word of global memory, and which writes may be what they wait for.
#include <algorithm>
#include <array>

#include "exec/decode.hpp"

namespace lockstep::exec {

namespace {

using ptx::Mod;

constexpr std::uint32_t kLongest = 64;  // operations of a loop that waits

bool is_global(const MemoryForm& form) {
  return form.reach == Reach::kGlobal || form.reach == Reach::kGeneric;
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
void Decoder::find_signals() {
  bool fenced = false;
  for (std::uint32_t i = 0; i < code_->size; ++i) {
    const ptx::Instruction& inst = function_->instructions[i];
    const Operation& op = out_.operations_[code_->first + i];
    if (is_fence(inst)) fenced = true;
    const bool multimem = op.handler == Handler::kMultimem && !inst.has(Mod::kLdReduce);
    if (op.handler != Handler::kStore && op.handler != Handler::kAtomic && !multimem) continue;
    MemoryForm& form = out_.memory_[op.detail];
    if (!is_global(form)) continue;
    const bool store = op.handler == Handler::kStore || (multimem && !inst.has(Mod::kRed));
    const bool strong = store ? is_strong_store(inst.form) : releases(inst.form);
    form.signals = strong || fenced;
    if (store && !strong) fenced = false;
  }
}

/// Loops of which a round reads one word, computes with it and decides; it changes nothing else, and what it
/// computes depends on no round before.
void Decoder::find_spin_loops() {
  const Operation* const code = out_.operations_.data() + code_->first;
  for (std::uint32_t end = 0; end < code_->size; ++end) {
    if (code[end].handler != Handler::kBranch || code[end].target > code_->first + end) continue;
    if (code[end].target < code_->first || code_->first + end - code[end].target >= kLongest) continue;
    const std::uint32_t begin = code[end].target - code_->first;
    SpinLoop loop{0, code_->first + begin, code_->first + end, {}};
    if (!may_spin(loop)) continue;
    MemoryForm& form = out_.memory_[out_.operations_[loop.load].detail];
    if (form.spin != 0) continue;
    out_.spins_.push_back(loop);
    form.spin = static_cast<std::uint32_t>(out_.spins_.size());
  }
}

/// Fills in `load` and `written`.
bool Decoder::may_spin(SpinLoop& loop) const {
  std::vector<std::uint32_t> early;  // slots that are read before anything has certainly written them
  std::vector<std::uint32_t> surely;
  const auto has = [](const std::vector<std::uint32_t>& slots, Slot slot) {
    return std::ranges::find(slots, slot.code) != slots.end();
  };
  const auto reads = [&](Slot slot) {
    if (slot.exists() && !has(surely, slot)) early.push_back(slot.code);
  };
  unsigned loads = 0;
  for (std::uint32_t at = loop.begin; at <= loop.end; ++at) {
    const Operation& op = out_.operations_[at];
    reads(op.guard);
    switch (op.handler) {
      case Handler::kLane:
        if (op.reads_clock) return false;
        break;
      case Handler::kLoad: {
        const MemoryForm& form = out_.memory_[op.detail];
        if (!form.polls || !is_global(form) || op.guard.exists() || form.count != 1 || form.bytes > 8)
          return false;
        reads(form.base);
        loop.load = at;
        ++loads;
        break;
      }
      case Handler::kBranch:  // no loop within the loop
        if (op.target > loop.begin && op.target <= at) return false;
        break;
      case Handler::kNothing:
      case Handler::kNanosleep:
        break;
      default:
        return false;
    }
    const Slot* const slots = out_.slots_.data() + op.operands;
    for (unsigned i = 0; i < op.sources; ++i) reads(slots[op.destinations + i]);
    for (unsigned i = 0; i < op.destinations; ++i) {
      if (!slots[i].exists()) continue;
      loop.written.push_back(slots[i]);
      if (!op.guard.exists()) surely.push_back(slots[i].code);
    }
  }
  const Operation& load = out_.operations_[loop.load];
  return loads == 1 && load.destinations == 1 && out_.slots_[load.operands].exists() &&
         std::ranges::none_of(loop.written, [&](Slot slot) { return has(early, slot); });
}

}  // namespace lockstep::exec
