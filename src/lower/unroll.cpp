#include "lower/unroll.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "lower/counted_loops.hpp"
#include "lower/known_bits.hpp"
#include "lower/linear_values.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::RegisterId;

/// Offsets in an address of the machine have 24 bits, with sign.
constexpr std::int64_t kMaxOffset = (1 << 23) - 1;

void rename(ptx::Operand& operand, const std::map<RegisterId, RegisterId>& names) {
  if (const auto found = names.find(operand.reg);
      found != names.end() &&
      (operand.kind == OperandKind::kRegister ||
       (operand.kind == OperandKind::kAddress && operand.base == ptx::AddressBase::kRegister)))
    operand.reg = found->second;
  for (ptx::Operand& element : operand.elements) rename(element, names);
}

bool is_removable(const Instruction& i) {
  return is_plain_arithmetic(i.op()) && !i.operands.empty() && i.operands[0].kind == OperandKind::kRegister;
}

/// The iterations of one loop, one behind the other.
class Iterations {
 public:
  Iterations(const ptx::Function& f, const CountedLoop& loop, const std::vector<std::uint64_t>& possible)
      : f_(f), loop_(loop), registers_(f.registers), values_(possible) {
    const ptx::ControlFlow flow(f);
    const ptx::Liveness liveness(f, flow);
    const auto in = liveness.live_before(loop.first), out = liveness.live_before(loop.end);
    live_out_.insert(out.begin(), out.end());
    std::map<RegisterId, unsigned> writes;
    for (std::uint32_t at = loop.first; at < loop.end; ++at)
      for (const RegisterId id : ptx::register_use(f.instructions[at]).writes) ++writes[id];
    for (const auto& [id, count] : writes) {
      if (!std::ranges::binary_search(in, id)) {
        (count == 1 ? local_ : carried_).insert(id);
      } else {
        carried_.insert(id);
      }
    }
    for (std::uint32_t at = loop.first; at < loop.end; ++at)
      if (const Instruction& i = f.instructions[at];
          is_step(i) && writes[i.operands[0].reg] == 1 && std::ranges::binary_search(in, i.operands[0].reg))
        steps_.insert(i.operands[0].reg);
  }

  /// Leaves out counters that something else than an address reads, until none is left.
  void make() {
    while (true) {
      start();
      for (std::uint32_t copy = 0; copy < loop_.count; ++copy) iteration(copy);
      remove_unread();
      std::set<RegisterId> kept;
      for (const RegisterId id : steps_)
        if (is_read_too_late(id)) kept.insert(id);
      if (kept.empty()) return;
      for (const RegisterId id : kept) steps_.erase(id);
    }
  }

  [[nodiscard]] std::uint32_t instructions() const {
    return static_cast<std::uint32_t>(std::ranges::count(gone_, false));
  }
  [[nodiscard]] const std::vector<Instruction>& code() const { return code_; }
  [[nodiscard]] const std::vector<bool>& gone() const { return gone_; }
  [[nodiscard]] const std::vector<ptx::Register>& registers() const { return registers_; }

 private:
  static bool is_step(const Instruction& i) {
    return i.op() == Opcode::kAdd && !i.guard && i.form.mods.empty() && i.operands.size() == 3 &&
           !ptx::is_float(i.form.type()) && i.operands[0].kind == OperandKind::kRegister &&
           i.operands[1].kind == OperandKind::kRegister && i.operands[1].reg == i.operands[0].reg &&
           i.operands[2].kind == OperandKind::kImmediate;
  }
  void start() {
    code_.clear();
    gone_.clear();
    registers_ = f_.registers;
    values_.clear();
    holders_.clear();
    for (std::uint32_t at = loop_.first; at < loop_.end; ++at)
      for (const RegisterId id : ptx::register_use(f_.instructions[at]).reads) {
        const bool moves = carried_.count(id) > 0 && steps_.count(id) == 0;
        if (moves || local_.count(id) > 0) continue;
        holders_[values_.of(id).node] = {id, 0};
      }
  }
  void iteration(std::uint32_t copy) {
    const bool last = copy + 1 == loop_.count;
    std::map<RegisterId, RegisterId> names;
    if (!last)
      for (const RegisterId id : local_) {
        names[id] = static_cast<RegisterId>(registers_.size());
        registers_.push_back(f_.registers[id]);
      }
    for (std::uint32_t at = loop_.first; at < loop_.end; ++at) {
      const Instruction& i = f_.instructions[at];
      if (at + 1 == loop_.end) {
        add(nothing_of(i), true);
      } else if (is_step(i) && steps_.count(i.operands[0].reg) > 0) {
        step(i, last);
      } else {
        other(i, names);
      }
    }
  }
  /// The counter as it was when the loop began serves all iterations; the last one sets it.
  void step(const Instruction& i, bool last) {
    const RegisterId id = i.operands[0].reg;
    values_.set(id, *values_.result(i));
    if (!last) return add(nothing_of(i), true);
    Instruction all = i;
    const LinearValue now = values_.of(id);
    all.operands[2].bits = static_cast<std::uint64_t>(now.offset);
    holders_[now.node] = {id, now.offset};
    add(all, false);
  }
  void other(const Instruction& i, const std::map<RegisterId, RegisterId>& names) {
    Instruction copy = i;
    for (ptx::Operand& operand : copy.operands) {
      if (operand.kind == OperandKind::kAddress && operand.base == ptx::AddressBase::kRegister &&
          hold(operand))
        continue;
      rename(operand, names);
    }
    if (copy.guard)
      if (const auto found = names.find(copy.guard->reg); found != names.end())
        copy.guard->reg = found->second;
    const auto value = values_.result(i);
    for (const RegisterId id : ptx::register_use(i).writes) {
      const LinearValue now = value ? *value : values_.fresh();
      values_.set(id, now);
      if (local_.count(id) == 0) continue;
      const auto name = names.find(id);
      holders_.try_emplace(now.node, Holder{name == names.end() ? id : name->second, now.offset});
    }
    add(copy, false);
  }
  /// The address relative to the register that had its value, but for a constant, first.
  bool hold(ptx::Operand& address) {
    const LinearValue value = values_.of(address.reg);
    const auto found = holders_.find(value.node);
    if (found == holders_.end()) return false;
    const std::int64_t offset =
        wrapped_sum(wrapped_sum(address.offset, value.offset), wrapped_sum(~found->second.offset, 1));
    if (offset > kMaxOffset || offset < -kMaxOffset) return false;
    address.reg = found->second.id;
    address.offset = offset;
    return true;
  }
  void add(Instruction i, bool gone) {
    code_.push_back(std::move(i));
    gone_.push_back(gone);
  }
  /// Backwards: arithmetic, and the last comparison, whose result is not read.
  void remove_unread() {
    std::set<RegisterId> read(live_out_.begin(), live_out_.end());
    for (std::size_t at = code_.size(); at-- > 0;) {
      const Instruction& i = code_[at];
      if (gone_[at]) continue;
      const auto use = ptx::register_use(i);
      const bool unread = std::ranges::none_of(use.writes, [&](RegisterId id) { return read.count(id) > 0; });
      if (unread && !use.writes.empty() && (is_removable(i) || i.op() == Opcode::kSetp)) {
        code_[at] = nothing_of(i);
        gone_[at] = true;
        continue;
      }
      if (!i.guard)
        for (const RegisterId id : use.writes) read.erase(id);
      read.insert(use.reads.begin(), use.reads.end());
    }
  }
  /// Whether something other than an address reads a counter's value between its first and last step.
  [[nodiscard]] bool is_read_too_late(RegisterId id) const {
    std::uint32_t steps = 0;
    const std::size_t length = loop_.end - loop_.first;
    for (std::size_t at = 0; at < code_.size(); ++at) {
      const Instruction& original = f_.instructions[loop_.first + at % length];
      if (is_step(original) && original.operands[0].reg == id) {
        ++steps;
        continue;
      }
      if (steps > 0 && steps < loop_.count && !gone_[at] && reads_as_value(code_[at], original, id))
        return true;
    }
    return false;
  }
  /// An address that names it has been made relative to what the register holds, unless it could not.
  [[nodiscard]] static bool reads_as_value(const Instruction& i, const Instruction& original, RegisterId id) {
    Instruction rest = i;
    for (std::size_t o = 0; o < rest.operands.size(); ++o)
      if (rest.operands[o].kind == OperandKind::kAddress && !(rest.operands[o] == original.operands[o]))
        rest.operands[o] = {};
    return std::ranges::count(ptx::register_use(rest).reads, id) > 0;
  }

  struct Holder {
    RegisterId id = 0;
    std::int64_t offset = 0;
  };
  const ptx::Function& f_;
  CountedLoop loop_;
  std::vector<ptx::Register> registers_;
  LinearValues values_;
  std::set<RegisterId> local_;    // made anew in each iteration
  std::set<RegisterId> carried_;  // the others that it writes
  std::set<RegisterId> steps_;    // of those, what grows by a constant and is not kept up to date
  std::set<RegisterId> live_out_;
  std::map<std::uint32_t, Holder> holders_;  // by node
  std::vector<Instruction> code_;
  std::vector<bool> gone_;
};

bool fits(const CountedLoop& loop, std::uint32_t instructions, unsigned arch) {
  constexpr unsigned kIgnoresNests = 90;  // and later ones
  if (loop.nested && arch < kIgnoresNests) return instructions <= kMaxInNest;
  const std::uint32_t body = instructions / loop.count;
  const std::uint32_t most = body <= kShortBody  ? kMaxOfShortAlone
                             : body <= kLongBody ? kMaxAlone
                                                 : kMaxOfLongAlone;
  return instructions <= most;
}

/// Puts the iterations in the loop's place.
void replace(Unrolled& all, const CountedLoop& loop, const Iterations& by) {
  auto& code = all.function.instructions;
  const std::uint32_t length = loop.end - loop.first;
  const auto more = static_cast<std::uint32_t>(by.code().size()) - length;
  const auto splice = [&](auto& list, const auto& with) {
    list.erase(list.begin() + loop.first, list.begin() + loop.end);
    list.insert(list.begin() + loop.first, with.begin(), with.end());
  };
  std::vector<std::uint32_t> origin;
  std::vector<bool> gone = by.gone();
  for (std::uint32_t at = 0; at < by.code().size(); ++at) {
    origin.push_back(all.origin[loop.first + at % length]);
    gone[at] = gone[at] || all.gone[loop.first + at % length];
  }
  splice(code, by.code());
  splice(all.origin, origin);
  splice(all.gone, gone);
  all.function.registers = by.registers();
  for (ptx::Label& label : all.function.labels)
    if (label.instruction >= loop.end) label.instruction += more;
}

/// Moves to a register that nothing reads: what counted an unrolled loop.
void remove_unread_moves(Unrolled& all) {
  std::vector<bool> read(all.function.registers.size());
  for (const Instruction& i : all.function.instructions)
    for (const RegisterId id : ptx::register_use(i).reads) read[id] = true;
  for (std::size_t at = 0; at < all.gone.size(); ++at) {
    Instruction& i = all.function.instructions[at];
    if (i.op() != Opcode::kMov || i.guard || i.operands[0].kind != OperandKind::kRegister ||
        (i.operands[1].kind != OperandKind::kImmediate && i.operands[1].kind != OperandKind::kRegister) ||
        read[i.operands[0].reg])
      continue;
    i = nothing_of(i);
    all.gone[at] = true;
  }
}

}  // namespace

ptx::Instruction nothing_of(const Instruction& instruction) {
  Instruction nothing = instruction;
  nothing.form = {};
  nothing.form.op = Opcode::kMov;
  nothing.guard.reset();
  nothing.operands.assign(2, {});
  nothing.operands[1].kind = OperandKind::kImmediate;
  return nothing;
}

Unrolled not_unrolled(const ptx::Function& function) {
  Unrolled all{function, std::vector<std::uint32_t>(function.instructions.size()),
               std::vector<bool>(function.instructions.size())};
  for (std::uint32_t at = 0; at < all.origin.size(); ++at) all.origin[at] = at;
  return all;
}

Unrolled unroll(const ptx::Function& function, const std::vector<ptx::Variable>& variables, unsigned arch) {
  constexpr std::uint64_t kMaxCopied = 16384;  // instructions that are looked at for one loop
  Unrolled all = not_unrolled(function);
  if (std::ranges::count(function.directives.pragmas, "nounroll") > 0) return all;
  bool any = false;
  for (std::uint32_t from = 0;;) {
    const auto loop = find_counted_loop(all.function, from);
    if (!loop) break;
    from = loop->end;
    if (std::uint64_t{loop->end - loop->first} * loop->count > kMaxCopied) continue;
    const auto possible = possible_bits(all.function, variables);
    Iterations iterations(all.function, *loop, possible);
    iterations.make();
    if (!fits(*loop, iterations.instructions(), arch)) continue;
    replace(all, *loop, iterations);
    from = loop->first;
    any = true;
  }
  if (any) remove_unread_moves(all);
  return all;
}

}  // namespace lockstep::lower
