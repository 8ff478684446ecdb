// Accesses of a block through one base register at several offsets, as unrolled loops have them: the warp
// looks at the base's lanes once (LoadStore).
#include <algorithm>
#include <array>

#include "exec/passes.hpp"

namespace lockstep::exec {
namespace {

/// The bases that the accesses of a block so far have found out about, by place.
class KnownBases {
 public:
  void access(MemoryForm& form) {
    const bool narrow = form.state_space == StateSpace::kShared;  // addresses of 32 bits
    if (!form.base.exists() ||
        !(narrow || form.state_space == StateSpace::kGlobal || form.state_space == StateSpace::kGeneric))
      return;
    const Base base{form.base.code, narrow};
    const auto at = std::find(bases_.begin(), bases_.end(), base);
    const bool known = at != bases_.end();
    form.place = known ? static_cast<std::uint8_t>(at - bases_.begin()) : next_;
    form.known = known && form.count == 1 && form.bytes <= 8 && !form.polls && !form.signals;
    if (known) return;
    bases_[next_] = base;
    next_ = static_cast<std::uint8_t>((next_ + 1) % kBasePlaces);
  }
  void written(OperandRef operand) {
    for (Base& base : bases_)
      if (base.code == operand.code) base = {};
  }
  void forget() { bases_.fill({}); }

 private:
  struct Base {
    std::uint32_t code = OperandRef::none().code;
    bool narrow = false;
    bool operator==(const Base&) const = default;
  };
  std::array<Base, kBasePlaces> bases_{};
  std::uint8_t next_ = 0;
};

/// Operations that write no registers but their destinations and go on with the next.
bool is_plain(Handler handler) {
  return handler == Handler::kLane || handler == Handler::kLoad || handler == Handler::kStore ||
         handler == Handler::kNothing;
}

}  // namespace

void find_known_bases(const FunctionCode& function, const ptx::ControlFlow& flow, Translation& out) {
  KnownBases known;
  for (const ptx::Block& block : flow.blocks()) {
    known.forget();
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      const Operation& op = out.operations[function.first + i];
      if (!is_plain(op.handler)) known.forget();
      const bool stores = op.handler == Handler::kStore && op.second == ~0u;  // signals no mbarrier
      if (op.handler == Handler::kLoad || stores) known.access(out.memory[op.detail]);
      for (std::uint32_t d = 0; d < op.destinations; ++d) {
        const OperandRef operand = out.operands[op.operands + d];
        known.written(operand);
        known.written({operand.code + 1});  // the high half of 128 bits
      }
    }
  }
}

}  // namespace lockstep::exec
