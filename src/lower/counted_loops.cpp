#include "lower/counted_loops.hpp"

#include <algorithm>

#include "lower/dependences.hpp"
#include "lower/linear_values.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::RegisterId;

bool writes(const Instruction& i, RegisterId id) {
  return std::ranges::count(ptx::register_use(i).writes, id) > 0;
}

/// The only instruction of [first, end) that writes the register; `end` where it is not one.
std::uint32_t only_write(const ptx::Function& f, std::uint32_t first, std::uint32_t end, RegisterId id) {
  std::uint32_t found = end;
  for (std::uint32_t at = first; at < end; ++at) {
    if (!writes(f.instructions[at], id)) continue;
    if (found != end) return end;
    found = at;
  }
  return found;
}

std::int64_t value_as(std::int64_t value, ptx::Type type) {
  const unsigned bits = ptx::bits(type);
  if (bits >= 64) return value;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1, low = static_cast<std::uint64_t>(value) & mask;
  const bool sign = ptx::is_signed(type) && (low >> (bits - 1) & 1) != 0;
  return static_cast<std::int64_t>(sign ? low | ~mask : low);
}

std::optional<bool> compare(const Instruction& i, std::int64_t a, std::int64_t b) {
  const bool is_unsigned = !ptx::is_signed(i.form.type());
  const auto less = [&](std::int64_t x, std::int64_t y) {
    return is_unsigned ? static_cast<std::uint64_t>(x) < static_cast<std::uint64_t>(y) : x < y;
  };
  if (i.has(Mod::kEq)) return a == b;
  if (i.has(Mod::kNe)) return a != b;
  if (i.has(Mod::kLt) || i.has(Mod::kLo)) return less(a, b);
  if (i.has(Mod::kGt)) return less(b, a);
  if (i.has(Mod::kLe)) return !less(b, a);
  if (i.has(Mod::kGe)) return !less(a, b);
  return std::nullopt;
}

bool is_barrier(const Instruction& i) { return i.op() == Opcode::kBar && !i.guard; }

class LoopFinder {
 public:
  explicit LoopFinder(const ptx::Function& f) : f_(f), flow_(f), liveness_(f, flow_) {}

  [[nodiscard]] std::optional<CountedLoop> first_from(std::uint32_t from) const {
    for (std::uint32_t b = 0; b < flow_.blocks().size(); ++b) {
      if (flow_.blocks()[b].first < from) continue;
      if (const auto found = loop(b)) return found;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<CountedLoop> loop(std::uint32_t b) const {
    const ptx::Block& block = flow_.blocks()[b];
    const Instruction& last = f_.instructions[block.end - 1];
    if (!block.reachable || last.op() != Opcode::kBra || !last.guard || block.successors.size() != 2 ||
        block.successors[1] != b)
      return std::nullopt;
    for (std::uint32_t at = block.first; at + 1 < block.end; ++at)
      if (keeps_order(f_.instructions[at]) ||
          (keeps_its_place(f_.instructions[at]) && !is_barrier(f_.instructions[at])))
        return std::nullopt;
    const auto before = only_entry(b);
    if (!before) return std::nullopt;
    CountedLoop found{.first = block.first, .end = block.end};
    if (!find_counter(block, found)) return std::nullopt;
    count_iterations(flow_.blocks()[*before], found);
    found.nested = in_plain_loop(block.successors[0], b);
    return found;
  }

  [[nodiscard]] std::optional<std::uint32_t> only_entry(std::uint32_t b) const {
    std::optional<std::uint32_t> found;
    for (std::uint32_t other = 0; other < flow_.blocks().size(); ++other) {
      const ptx::Block& block = flow_.blocks()[other];
      if (other == b || !block.reachable || std::ranges::count(block.successors, b) == 0) continue;
      if (found) return std::nullopt;
      found = other;
    }
    return found;
  }

  /// Sets the comparison and the step.
  [[nodiscard]] bool find_counter(const ptx::Block& block, CountedLoop& found) const {
    const ptx::Guard guard = *f_.instructions[block.end - 1].guard;
    found.test = only_write(f_, block.first, block.end, guard.reg);
    if (found.test == block.end || live(flow_.blocks()[block.successors[0]].first, guard.reg) ||
        live(block.first, guard.reg))
      return false;
    const Instruction& test = f_.instructions[found.test];
    if (test.op() != Opcode::kSetp || test.guard || test.operands.size() != 3 ||
        ptx::is_float(test.form.type()))
      return false;
    const ptx::Operand &counter = test.operands[1], &limit = test.operands[2];
    if (counter.kind != OperandKind::kRegister) return false;
    found.step = only_write(f_, block.first, block.end, counter.reg);
    if (found.step == block.end || !is_step(f_.instructions[found.step])) return false;
    if (limit.kind == OperandKind::kImmediate) return true;
    return limit.kind == OperandKind::kRegister && stays(block, limit.reg);
  }
  [[nodiscard]] bool stays(const ptx::Block& block, RegisterId id) const {
    for (std::uint32_t at = block.first; at < block.end; ++at)
      if (writes(f_.instructions[at], id)) return false;
    return true;
  }
  void count_iterations(const ptx::Block& before, CountedLoop& loop) const {
    const bool negated = f_.instructions[loop.end - 1].guard->negated;
    const Instruction &test = f_.instructions[loop.test], &step = f_.instructions[loop.step];
    const auto start = start_of(before, test.operands[1].reg);
    if (!start || test.operands[2].kind != OperandKind::kImmediate) return;
    const ptx::Type type = test.form.type();
    const auto by = static_cast<std::int64_t>(step.operands[2].bits);
    const auto limit = value_as(static_cast<std::int64_t>(test.operands[2].bits), type);
    loop.start = *start;
    std::int64_t value = *start;
    for (std::uint32_t count = 1; count <= kMaxIterations; ++count) {
      const std::int64_t next = wrapped_sum(value, by);
      const auto goes_on = compare(test, value_as(loop.test > loop.step ? next : value, type), limit);
      if (!goes_on) return;
      if (*goes_on == negated) {
        if (count > 1) loop.count = count;
        return;
      }
      value = next;
    }
  }
  [[nodiscard]] std::optional<std::int64_t> start_of(const ptx::Block& before, RegisterId counter) const {
    for (std::uint32_t at = before.end; at-- > before.first;) {
      const Instruction& i = f_.instructions[at];
      if (!writes(i, counter)) continue;
      return i.op() != Opcode::kMov || i.guard ? std::nullopt : constant(i.operands[1]);
    }
    return std::nullopt;
  }
  /// An immediate, or a register that one move of an immediate writes.
  [[nodiscard]] std::optional<std::int64_t> constant(const ptx::Operand& operand) const {
    if (operand.kind == OperandKind::kImmediate) return static_cast<std::int64_t>(operand.bits);
    if (operand.kind != OperandKind::kRegister) return std::nullopt;
    const auto all = static_cast<std::uint32_t>(f_.instructions.size());
    const std::uint32_t at = only_write(f_, 0, all, operand.reg);
    if (at == all) return std::nullopt;
    const Instruction& i = f_.instructions[at];
    if (i.op() != Opcode::kMov || i.guard || i.operands[1].kind != OperandKind::kImmediate)
      return std::nullopt;
    return static_cast<std::int64_t>(i.operands[1].bits);
  }
  [[nodiscard]] bool live(std::uint32_t at, RegisterId id) const {
    return std::ranges::binary_search(liveness_.live_before(at), id);
  }
  /// Whether what follows is another loop's end that leads back here without a choice in between.
  [[nodiscard]] bool in_plain_loop(std::uint32_t from, std::uint32_t b) const {
    const auto& next = flow_.blocks()[end_of_chain(from, b)].successors;
    return std::ranges::any_of(next, [&](std::uint32_t to) { return end_of_chain(to, b) == b; });
  }
  /// The first block from this one on that has not one successor, or `b`.
  [[nodiscard]] std::uint32_t end_of_chain(std::uint32_t at, std::uint32_t b) const {
    for (std::size_t steps = 0; steps < flow_.blocks().size() && at != b; ++steps) {
      if (flow_.blocks()[at].successors.size() != 1) break;
      at = flow_.blocks()[at].successors[0];
    }
    return at;
  }

  const ptx::Function& f_;
  ptx::ControlFlow flow_;
  ptx::Liveness liveness_;
};

}  // namespace

bool is_step(const Instruction& i) {
  return i.op() == Opcode::kAdd && !i.guard && i.form.mods.empty() && i.operands.size() == 3 &&
         !ptx::is_float(i.form.type()) && i.operands[0].kind == OperandKind::kRegister &&
         i.operands[1].kind == OperandKind::kRegister && i.operands[1].reg == i.operands[0].reg &&
         i.operands[2].kind == OperandKind::kImmediate;
}

std::optional<CountedLoop> find_counted_loop(const ptx::Function& function, std::uint32_t from) {
  return LoopFinder(function).first_from(from);
}

}  // namespace lockstep::lower
