#include "lower/predication.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "lower/dependences.hpp"
#include "lower/iterations.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

namespace {

using ptx::Block;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::RegisterId;
using ptx::Space;

bool is_memory(const ptx::Instruction& i) {
  return i.op() == Opcode::kLd || i.op() == Opcode::kLdu || i.op() == Opcode::kSt;
}

/// What a lane that is not for it must not do.
bool has_effect(const ptx::Instruction& i) { return is_memory(i) || keeps_order(i); }

bool is_jump(const ptx::Instruction& i) { return i.op() == Opcode::kBra && !i.guard; }

bool may_miss(const ptx::Instruction& i) {
  const Space space = i.form.space();
  return is_memory(i) && i.op() != Opcode::kSt && !is_shared(space) && space != Space::kConst &&
         space != Space::kParam && space != Space::kParamEntry && space != Space::kParamFunc;
}

/// Divisions and roots that are exact branch to a slow path.
bool branches_inside(const ptx::Instruction& i) {
  switch (i.op()) {
    case Opcode::kDiv:
    case Opcode::kRem:
    case Opcode::kSqrt:
    case Opcode::kRcp:
      return !i.has(ptx::Mod::kApprox) && !i.has(ptx::Mod::kFull);
    default:
      return false;
  }
}

bool can_be_guarded(const ptx::Instruction& i) {
  if (i.guard || keeps_its_place(i) || branches_inside(i)) return false;
  switch (i.op()) {
    case Opcode::kAtom:
    case Opcode::kRed:
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
    case Opcode::kActivemask:
    case Opcode::kElect:
    case Opcode::kMma:
    case Opcode::kWmma:
    case Opcode::kWgmma:
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix:
    case Opcode::kTex:
    case Opcode::kTld4:
    case Opcode::kSuld:
    case Opcode::kSust:
    case Opcode::kSured:
      return false;
    default:
      return true;
  }
}

bool same_in_warp(ptx::Special special) {
  switch (special) {
    case ptx::Special::kNtid:
    case ptx::Special::kCtaid:
    case ptx::Special::kNctaid:
      return true;
    default:
      return false;
  }
}

/// Registers that have the same value in all lanes of a warp, as far as their making shows.
std::vector<bool> uniform_registers(const ptx::Function& f) {
  std::vector<bool> uniform(f.registers.size(), true);
  const auto differs = [&](const ptx::Operand& o) {
    switch (o.kind) {
      case OperandKind::kRegister:
        return !uniform[o.reg];
      case OperandKind::kImmediate:
      case OperandKind::kSymbol:
        return false;
      case OperandKind::kSpecial:
        return !same_in_warp(o.special);
      case OperandKind::kAddress:
        return o.base == ptx::AddressBase::kRegister;
      default:
        return true;
    }
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const ptx::Instruction& i : f.instructions) {
      const Space space = i.op() == Opcode::kLd ? i.form.space() : Space::kGeneric;
      const bool parameter = space == Space::kParam || space == Space::kParamEntry;
      const bool plain =
          (i.op() == Opcode::kLd && parameter && f.entry) || (!has_effect(i) && can_be_guarded(i));
      const bool same = plain && std::none_of(i.operands.begin(), i.operands.end(), differs);
      for (const RegisterId id : ptx::register_use(i).writes)
        if (uniform[id] && !same) uniform[id] = false, changed = true;
    }
  }
  return uniform;
}

/// Instructions [first, end) that a branch jumps over or to.
struct Side {
  std::uint32_t first = 0, end = 0;
};

/// A branch that ends a block, what it jumps over, and what it jumps to where that is the other side of an
/// if.
struct Short {
  std::uint32_t branch = 0;
  Side over;
  std::optional<Side> other;
  std::uint32_t join = 0;  // the instruction where all go on
};

class Predicator {
 public:
  Predicator(const Unrolled& all, const std::vector<std::uint32_t>& lengths)
      : f_(all.function),
        lengths_(lengths),
        flow_(all.function),
        liveness_(all.function, flow_),
        uniform_(uniform_registers(f_)),
        entries_(flow_.blocks().size()),
        result_(unpredicated(all)) {
    for (const Block& block : flow_.blocks())
      for (const std::uint32_t next : block.successors) ++entries_[next];
  }

  Predicated run() {
    for (std::uint32_t b = 0; b < flow_.blocks().size(); ++b)
      if (const auto found = find(b); found && fits(*found)) convert(*found);
    return std::move(result_);
  }

 private:
  /// The block behind `b` that only `b` leads to and that leads to one block.
  [[nodiscard]] bool is_side(std::uint32_t block) const {
    return block < flow_.blocks().size() && entries_[block] == 1 &&
           flow_.blocks()[block].successors.size() == 1 && !flow_.blocks()[block].exits;
  }
  [[nodiscard]] Side side(std::uint32_t block) const {
    return {flow_.blocks()[block].first, flow_.blocks()[block].end};
  }

  [[nodiscard]] std::optional<Short> find(std::uint32_t b) const {
    const Block& block = flow_.blocks()[b];
    const ptx::Instruction& last = f_.instructions[block.end - 1];
    if (!block.reachable || last.op() != Opcode::kBra || !last.guard || block.successors.size() != 2 ||
        result_.added[block.end - 1])
      return std::nullopt;
    const std::uint32_t over = b + 1, target = block.successors[1];
    if (block.successors[0] != over || !is_side(over)) return std::nullopt;
    const std::uint32_t next = flow_.blocks()[over].successors[0];
    if (target == over + 1 && next == target)
      return Short{block.end - 1, side(over), std::nullopt, flow_.blocks()[target].first};
    const std::uint32_t other = over + 1;
    if (target != other || !is_side(other) || next != other + 1 ||
        flow_.blocks()[other].successors[0] != next)
      return std::nullopt;
    return Short{block.end - 1, side(over), side(other), flow_.blocks()[next].first};
  }

  [[nodiscard]] bool ends(std::uint32_t at) const {
    const ptx::Instruction& i = f_.instructions[at];
    return (i.op() == Opcode::kRet || i.op() == Opcode::kExit) && !i.guard;
  }
  [[nodiscard]] bool fits(const Short& s) const {
    if (ends(s.join)) return false;
    const ptx::Instruction& branch = f_.instructions[s.branch];
    const RegisterId decides = branch.guard->reg;
    const std::uint32_t most = uniform_[decides] || branch.has(ptx::Mod::kUni) ? kMaxUniform : kMaxPredicated;
    return fits(s.over, decides, most) && (!s.other || fits(*s.other, decides, most));
  }
  [[nodiscard]] bool fits(Side s, RegisterId decides, std::uint32_t most) const {
    std::uint32_t length = 0;
    bool load = false, arrival = false;
    for (std::uint32_t at = s.first; at < s.end; ++at) {
      const ptx::Instruction& i = f_.instructions[at];
      if (!can_be_guarded(i) && !(at + 1 == s.end && is_jump(i))) return false;
      if (std::ranges::count(ptx::register_use(i).writes, decides) > 0) return false;
      length += lengths_[at];
      load |= may_miss(i);
      arrival |= keeps_order(i);
    }
    return length <= (load ? kMaxWithLoad : arrival ? kMaxWithArrival : most);
  }

  void convert(const Short& s) {
    const ptx::Guard jumps = *f_.instructions[s.branch].guard;
    remove(s.branch);
    const auto join = liveness_.live_before(s.join);
    const auto others = s.other ? liveness_.live_before(s.other->first) : join;
    auto kept = join;
    kept.insert(kept.end(), others.begin(), others.end());
    guard(s.over, {jumps.reg, !jumps.negated}, kept, others);
    if (s.other) guard(*s.other, jumps, join, join);
  }
  void remove(std::uint32_t at) {
    result_.function.instructions[at] = nothing_of(result_.function.instructions[at]);
    result_.gone[at] = true;
  }
  /// Values that only this side reads need not be guarded. `kept`: those that others read; `old`: those that
  /// the lanes that do not come here bring along.
  void guard(Side side, ptx::Guard by, const std::vector<RegisterId>& kept,
             const std::vector<RegisterId>& old) {
    for (std::uint32_t at = side.first; at < side.end; ++at) {
      result_.optional[at] = true;
      if (is_jump(f_.instructions[at])) {
        remove(at);
        continue;
      }
      const auto writes = ptx::register_use(f_.instructions[at]).writes;
      const auto writes_one_of = [&](const std::vector<RegisterId>& set) {
        return std::ranges::find_first_of(writes, set) != writes.end();
      };
      if (!has_effect(f_.instructions[at]) && !writes_one_of(kept)) continue;
      by.whole = !writes_one_of(old);
      result_.function.instructions[at].guard = by;
    }
  }

  const ptx::Function& f_;
  const std::vector<std::uint32_t>& lengths_;
  ptx::ControlFlow flow_;
  ptx::Liveness liveness_;
  std::vector<bool> uniform_;
  std::vector<std::uint32_t> entries_;  // by block: from how many others
  Predicated result_;
};

}  // namespace

bool may_be_predicated(const ptx::Function& f) {
  return std::ranges::any_of(f.instructions,
                             [](const auto& i) { return i.op() == Opcode::kBra && i.guard.has_value(); });
}

Predicated predicate(const Unrolled& all, const std::vector<std::uint32_t>& lengths) {
  return Predicator(all, lengths).run();
}

Predicated unpredicated(const Unrolled& all) {
  std::vector<std::uint32_t> carrier(all.origin.size());
  std::iota(carrier.begin(), carrier.end(), 0u);
  return {all.function, all.origin, std::move(carrier),
          all.gone,     all.added,  std::vector<bool>(all.origin.size()),
          all.partial};
}

}  // namespace lockstep::lower
