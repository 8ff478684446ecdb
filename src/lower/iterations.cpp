#include "lower/iterations.hpp"

#include <algorithm>

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

/// An address that names it has been made relative to what the register holds, unless it could not.
bool reads_as_value(const Instruction& i, const Instruction& original, RegisterId id) {
  Instruction rest = i;
  for (std::size_t o = 0; o < rest.operands.size(); ++o)
    if (rest.operands[o].kind == OperandKind::kAddress && !(rest.operands[o] == original.operands[o]))
      rest.operands[o] = {};
  return std::ranges::count(ptx::register_use(rest).reads, id) > 0;
}

}  // namespace

Instruction nothing_of(const Instruction& instruction) {
  Instruction nothing = instruction;
  nothing.form = {};
  nothing.form.op = Opcode::kMov;
  nothing.guard.reset();
  nothing.operands.assign(2, {});
  nothing.operands[1].kind = OperandKind::kImmediate;
  return nothing;
}

Iterations::Iterations(const ptx::Function& f, const CountedLoop& loop, std::uint32_t copies, bool goes_on,
                       std::vector<ptx::Register> registers, const std::vector<std::uint64_t>& possible)
    : f_(f), loop_(loop), copies_(copies), given_(std::move(registers)), values_(possible) {
  sort_registers(goes_on);
  make();
}

void Iterations::sort_registers(bool goes_on) {
  const ptx::ControlFlow flow(f_);
  const ptx::Liveness liveness(f_, flow);
  const auto in = liveness.live_before(loop_.first), out = liveness.live_before(loop_.end);
  live_out_.insert(out.begin(), out.end());
  if (goes_on) live_out_.insert(in.begin(), in.end());
  std::map<RegisterId, unsigned> writes;
  for (std::uint32_t at = loop_.first; at < loop_.end; ++at)
    for (const RegisterId id : ptx::register_use(f_.instructions[at]).writes) ++writes[id];
  for (const auto& [id, count] : writes) {
    if (!std::ranges::binary_search(in, id)) {
      (count == 1 ? local_ : carried_).insert(id);
    } else {
      carried_.insert(id);
    }
  }
  for (std::uint32_t at = loop_.first; at < loop_.end; ++at)
    if (const Instruction& i = f_.instructions[at];
        is_step(i) && writes[i.operands[0].reg] == 1 && std::ranges::binary_search(in, i.operands[0].reg))
      steps_.insert(i.operands[0].reg);
}

/// Leaves out counters that something else than an address reads, until none is left.
void Iterations::make() {
  while (true) {
    start();
    for (std::uint32_t copy = 1; copy <= copies_; ++copy) iteration(copy == copies_);
    remove_unread();
    std::set<RegisterId> kept;
    for (const RegisterId id : steps_)
      if (is_read_too_late(id)) kept.insert(id);
    if (kept.empty()) return;
    for (const RegisterId id : kept) steps_.erase(id);
  }
}

std::uint32_t Iterations::instructions() const {
  return static_cast<std::uint32_t>(std::ranges::count(gone_, false));
}

void Iterations::start() {
  code_.clear();
  gone_.clear();
  registers_ = given_;
  values_.clear();
  holders_.clear();
  for (std::uint32_t at = loop_.first; at < loop_.end; ++at)
    for (const RegisterId id : ptx::register_use(f_.instructions[at]).reads) {
      const bool moves = carried_.count(id) > 0 && steps_.count(id) == 0;
      if (moves || local_.count(id) > 0) continue;
      holders_[values_.of(id).node] = {id, 0};
    }
}

void Iterations::iteration(bool last) {
  Names names;
  for (const RegisterId id : local_) {
    if (last && live_out_.count(id) > 0) continue;
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
void Iterations::step(const Instruction& i, bool last) {
  const RegisterId id = i.operands[0].reg;
  values_.set(id, *values_.result(i));
  if (!last) return add(nothing_of(i), true);
  Instruction all = i;
  const LinearValue now = values_.of(id);
  all.operands[2].bits = static_cast<std::uint64_t>(now.offset);
  holders_[now.node] = {id, now.offset};
  add(all, false);
}

void Iterations::other(const Instruction& i, const Names& names) {
  Instruction copy = i;
  for (ptx::Operand& operand : copy.operands) {
    if (operand.kind == OperandKind::kAddress && operand.base == ptx::AddressBase::kRegister && hold(operand))
      continue;
    rename(operand, names);
  }
  if (copy.guard)
    if (const auto found = names.find(copy.guard->reg); found != names.end()) copy.guard->reg = found->second;
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
bool Iterations::hold(ptx::Operand& address) {
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

void Iterations::add(Instruction i, bool gone) {
  code_.push_back(std::move(i));
  gone_.push_back(gone);
}

/// Backwards: arithmetic, and the last comparison, whose result is not read.
void Iterations::remove_unread() {
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
bool Iterations::is_read_too_late(RegisterId id) const {
  std::uint32_t steps = 0;
  const std::size_t length = loop_.end - loop_.first;
  for (std::size_t at = 0; at < code_.size(); ++at) {
    const Instruction& original = f_.instructions[loop_.first + at % length];
    if (is_step(original) && original.operands[0].reg == id) {
      ++steps;
      continue;
    }
    if (steps > 0 && steps < copies_ && !gone_[at] && reads_as_value(code_[at], original, id)) return true;
  }
  return false;
}

}  // namespace lockstep::lower
