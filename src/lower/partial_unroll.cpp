#include "lower/partial_unroll.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lower/iterations.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::RegisterId;
using ptx::Type;

constexpr std::uint32_t kFour = 4, kTwo = 2;

/// How a loop goes on, with its counter on the left.
enum class While : std::uint8_t { kBelow, kUpTo, kAbove, kDownTo, kDiffers };

std::optional<While> condition(const Instruction& test) {
  if (test.has(Mod::kLt) || test.has(Mod::kLo)) return While::kBelow;
  if (test.has(Mod::kLe) || test.has(Mod::kLs)) return While::kUpTo;
  if (test.has(Mod::kGt) || test.has(Mod::kHi)) return While::kAbove;
  if (test.has(Mod::kGe) || test.has(Mod::kHs)) return While::kDownTo;
  if (test.has(Mod::kNe)) return While::kDiffers;
  return std::nullopt;
}

/// Whether the counter moves towards what ends the loop.
bool leads_there(While goes_on, std::int64_t step) {
  const bool up = goes_on == While::kBelow || goes_on == While::kUpTo;
  return step != 0 && (goes_on == While::kDiffers || up == (step > 0));
}

bool is_exact_function(const Instruction& i) { return !i.has(Mod::kApprox) && !i.has(Mod::kFull); }

/// Parameters and constants are operands.
bool has_no_wait(ptx::Space space) {
  return space == ptx::Space::kConst || space == ptx::Space::kParam || space == ptx::Space::kParamEntry ||
         space == ptx::Space::kParamFunc;
}

/// What of a body's weight an instruction is; none: it is not unrolled.
std::optional<std::uint32_t> weight(const Instruction& i) {
  switch (i.op()) {
    case Opcode::kLd:
      return has_no_wait(i.form.space()) ? 1 : 2;
    case Opcode::kLdu:
    case Opcode::kTex:
    case Opcode::kTld4:
    case Opcode::kBar:
    case Opcode::kBarrier:
      return 2;
    case Opcode::kMov:
    case Opcode::kCvta:
      return i.operands[1].kind == OperandKind::kSpecial ? 1 : 0;
    case Opcode::kDiv:
    case Opcode::kRem:
    case Opcode::kSqrt:
    case Opcode::kRcp:
      if (is_exact_function(i)) return std::nullopt;
      [[fallthrough]];
    case Opcode::kRsqrt:
    case Opcode::kEx2:
    case Opcode::kLg2:
    case Opcode::kSin:
    case Opcode::kCos:
      return i.has(Mod::kFtz) ? 1 : kApproximation;
    case Opcode::kAtom:
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
    case Opcode::kActivemask:
    case Opcode::kElect:
    case Opcode::kMma:
    case Opcode::kWmma:
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix:
    case Opcode::kSuld:
    case Opcode::kSust:
    case Opcode::kSured:
      return std::nullopt;
    default:
      return 1;
  }
}

struct Body {
  std::uint32_t weight = 0, most = kMaxPlain;
};

/// Nothing if an instruction of the loop forbids copies.
std::optional<Body> body_of(const Unrolled& all, const CountedLoop& loop) {
  Body body;
  std::uint32_t shared = 0;
  bool other = false;
  for (std::uint32_t at = loop.first; at + 1 < loop.end; ++at) {
    if (at == loop.test || at == loop.step || all.gone[at]) continue;
    const Instruction& i = all.function.instructions[at];
    const auto one = weight(i);
    if (!one) return std::nullopt;
    body.weight += *one;
    const ptx::Space space = i.form.space();
    if (i.op() != Opcode::kLd || has_no_wait(space)) continue;
    if (is_shared(space))
      ++shared;
    else
      other = true;
  }
  if (shared > 0) body.most = std::min(kMaxPlain + 1 + kPerSharedLoad * shared, kMaxShared);
  if (other) body.most = std::max(body.most, kMaxLoading);
  return body;
}

/// The weight of one of many copies: additions to addresses are offsets, and the first and last set the
/// registers.
std::uint32_t copied_weight(const Unrolled& all, const CountedLoop& loop,
                            const std::vector<std::uint64_t>& possible) {
  constexpr std::uint32_t kThree = 3;
  const Iterations three(all.function, loop, kThree, true, all.function.registers, possible);
  const std::uint32_t length = loop.end - loop.first;
  std::uint32_t sum = 0;
  for (std::uint32_t at = 0; at + 1 < length; ++at)
    if (!three.gone()[length + at] && !all.gone[loop.first + at] && at != loop.step - loop.first)
      sum += weight(three.code()[length + at]).value_or(0);
  return sum;
}

Operand of_register(RegisterId id) {
  Operand operand;
  operand.kind = OperandKind::kRegister;
  operand.reg = id;
  return operand;
}

Operand of_number(std::int64_t value) {
  Operand operand;
  operand.kind = OperandKind::kImmediate;
  operand.bits = static_cast<std::uint64_t>(value);
  return operand;
}

/// The copies of one loop, and what chooses between them.
class Copies {
 public:
  Copies(Unrolled& all, const CountedLoop& loop, const std::vector<std::uint64_t>& possible)
      : all_(all),
        loop_(loop),
        possible_(possible),
        test_(all.function.instructions[loop.test]),
        counter_(test_.operands[1].reg),
        limit_(test_.operands[2]),
        by_(static_cast<std::int64_t>(all.function.instructions[loop.step].operands[2].bits)),
        registers_(all.function.registers) {}

  /// Four copies, two, and one.
  void by_four(While goes_on) {
    const RegisterId none_yet = fresh(Type::kPred), more = fresh(Type::kPred);
    compare(Mod::kEq, counter_type(), none_yet, of_register(counter_), of_register(counter_));
    compare_left(goes_on, more, kFour);
    const std::uint32_t two = label(), one = label(), end = label();
    branch(two, more, true);
    const Operand last = limit_less(kFour);
    compare(Mod::kNe, counter_type(), none_yet, of_register(counter_), of_register(counter_));
    repeat(kFour, main_condition(goes_on), last);
    put(two);
    const RegisterId pair = fresh(Type::kPred);
    compare_left(goes_on, pair, kTwo);
    branch(one, pair, true);
    copies(kTwo, true);
    compare(Mod::kNe, counter_type(), none_yet, of_register(counter_), of_register(counter_));
    partial_.copies.back().end = here();
    put(one);
    const RegisterId single = fresh(Type::kPred);
    add(test_, loop_.test, false, true);
    code_.code.back().operands[0] = of_register(single);
    combine(single, none_yet);
    branch(end, single, true);
    if (goes_on == While::kDiffers)
      repeat(1, Mod::kNe, limit_);
    else
      copies(1, false);
    put(end);
    finish();
  }

  /// As many copies, and those for the rest of the iterations, whose number is known.
  void by_known(std::uint32_t factor) {
    const std::uint32_t rest = loop_.count % factor;
    if (rest == 0) {
      repeat(factor, std::nullopt, limit_);
    } else {
      repeat(factor, Mod::kNe, of_number(loop_.start + by_ * std::int64_t{loop_.count - rest}));
      copies(rest, false);
    }
    finish();
  }

 private:
  [[nodiscard]] Type counter_type() const { return test_.form.type(); }
  [[nodiscard]] Type signed_type() const { return ptx::bits(counter_type()) == 64 ? Type::kS64 : Type::kS32; }
  [[nodiscard]] Mod main_condition(While goes_on) const {
    switch (goes_on) {
      case While::kBelow:
        return Mod::kLt;
      case While::kUpTo:
        return Mod::kLe;
      case While::kAbove:
        return Mod::kGt;
      case While::kDownTo:
        return Mod::kGe;
      default:
        return by_ > 0 ? Mod::kLt : Mod::kGt;
    }
  }
  RegisterId fresh(Type type) {
    registers_.push_back({"", type});
    return static_cast<RegisterId>(registers_.size() - 1);
  }
  void add(const Instruction& i, std::uint32_t from, bool gone, bool added) {
    code_.code.push_back(i);
    code_.origin.push_back(all_.origin[from]);
    code_.gone.push_back(gone);
    code_.added.push_back(added);
  }
  Instruction made(Opcode op, Type type) const {
    Instruction i;
    i.form.op = op;
    i.form.types.push_back(type);
    i.place = test_.place;
    i.source = test_.source;
    return i;
  }
  void arithmetic(Opcode op, RegisterId to, const Operand& a, const Operand& b) {
    Instruction i = made(op, signed_type());
    i.operands = {of_register(to), a, b};
    add(i, loop_.test, false, true);
  }
  void compare(Mod how, Type type, RegisterId to, const Operand& a, const Operand& b) {
    Instruction i = made(Opcode::kSetp, type);
    i.form.mods.push_back(how);
    i.operands = {of_register(to), a, b};
    add(i, loop_.test, false, true);
  }
  void combine(RegisterId to, RegisterId with) {
    Instruction i = made(Opcode::kOr, Type::kPred);
    i.operands = {of_register(to), of_register(to), of_register(with)};
    add(i, loop_.test, false, true);
  }
  void branch(std::uint32_t to, RegisterId guard, bool negated) {
    Instruction i = all_.function.instructions[loop_.end - 1];
    i.guard = ptx::Guard{guard, negated, false};
    i.operands[0].index = to;
    add(i, loop_.end - 1, false, true);
  }
  /// A label that put() puts before what is added next.
  std::uint32_t label() {
    all_.function.labels.push_back({"", 0});
    return static_cast<std::uint32_t>(all_.function.labels.size() - 1);
  }
  void put(std::uint32_t which) { places_.emplace_back(which, here()); }
  [[nodiscard]] std::uint32_t here() const {
    return loop_.first + static_cast<std::uint32_t>(code_.code.size());
  }
  /// Whether at least `count` iterations are left, of which the first is due.
  void compare_left(While goes_on, RegisterId to, std::uint32_t count) {
    const bool up = by_ > 0;
    const Operand counter = of_register(counter_);
    Operand left = counter;
    if (up || limit_.kind != OperandKind::kImmediate || limit_.bits != 0) {
      left = of_register(fresh(registers_[counter_].type));
      arithmetic(Opcode::kSub, left.reg, up ? limit_ : counter, up ? counter : limit_);
    }
    const bool inclusive = goes_on == While::kUpTo || goes_on == While::kDownTo;
    compare(inclusive ? Mod::kGe : Mod::kGt, signed_type(), to, left,
            of_number((up ? by_ : -by_) * static_cast<std::int64_t>(count - 1)));
  }
  /// The limit of a counter before the last of `count` iterations.
  Operand limit_less(std::uint32_t count) {
    const std::int64_t less = by_ * static_cast<std::int64_t>(count - 1);
    if (limit_.kind == OperandKind::kImmediate)
      return of_number(static_cast<std::int64_t>(limit_.bits - static_cast<std::uint64_t>(less)));
    const RegisterId to = fresh(registers_[counter_].type);
    arithmetic(Opcode::kAdd, to, limit_, of_number(-less));
    return of_register(to);
  }
  void copies(std::uint32_t count, bool goes_on) {
    const Iterations body(all_.function, loop_, count, goes_on, std::move(registers_), possible_);
    registers_ = body.registers();
    partial_.copies.push_back({here(), 0});
    const std::uint32_t length = loop_.end - loop_.first;
    for (std::uint32_t at = 0; at < body.code().size(); ++at) {
      const std::uint32_t from = loop_.first + at % length;
      add(body.code()[at], from, body.gone()[at] || all_.gone[from], false);
      code_.added.back() = all_.added[from];
    }
    partial_.copies.back().end = here();
  }
  /// A loop of copies, while the counter compares so with `limit`; without `how`, as the original does.
  void repeat(std::uint32_t count, std::optional<Mod> how, const Operand& limit) {
    const std::uint32_t again = label(), length = loop_.end - loop_.first;
    put(again);
    const std::size_t first = code_.code.size();
    copies(count, true);
    const std::size_t last = first + (count - 1) * std::size_t{length};
    Instruction test = test_;
    if (how) {
      const Type type = *how == Mod::kNe ? counter_type() : main_type(*how);
      test = made(Opcode::kSetp, type);
      test.form.mods.push_back(*how);
      test.operands = {test_.operands[0], test_.operands[1], limit};
    }
    const RegisterId more = fresh(Type::kPred);
    test.operands[0] = of_register(more);
    Instruction back = all_.function.instructions[loop_.end - 1];
    back.guard->reg = more;
    back.guard->negated = how ? false : back.guard->negated;
    back.operands[0].index = again;
    keep(last + (loop_.test - loop_.first), test);
    keep(last + (loop_.end - 1 - loop_.first), back);
  }
  [[nodiscard]] Type main_type(Mod how) const {
    const bool differs = condition(test_) == While::kDiffers;
    return differs && (how == Mod::kLt || how == Mod::kGt) ? signed_type() : counter_type();
  }
  void keep(std::size_t at, const Instruction& i) {
    code_.code[at] = i;
    code_.gone[at] = false;
  }
  void finish() {
    all_.function.registers = std::move(registers_);
    replace(all_, loop_.first, loop_.end, code_);
    for (const auto& [which, place] : places_) all_.function.labels[which].instruction = place;
    all_.partial.push_back(std::move(partial_));
  }

  Unrolled& all_;
  CountedLoop loop_;
  const std::vector<std::uint64_t>& possible_;
  Instruction test_;
  RegisterId counter_;
  Operand limit_;
  std::int64_t by_;
  std::vector<ptx::Register> registers_;
  InPlace code_;
  PartialLoop partial_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places_;  // labels
};

/// 0: none.
std::uint32_t copies_of_known(std::uint32_t weight, std::uint32_t count) {
  if (weight == 0 || weight > kMaxKnown) return 0;
  for (std::uint32_t factor = std::min(kMaxOfKnown / weight, count / 2); factor > 1; --factor)
    if ((factor + count % factor) * weight <= kMaxOfKnown) return factor;
  return 0;
}

}  // namespace

bool unroll_in_part(Unrolled& all, const CountedLoop& loop, const std::vector<std::uint64_t>& possible) {
  const auto body = body_of(all, loop);
  if (!body || loop.step > loop.test) return false;
  const Instruction& test = all.function.instructions[loop.test];
  if (loop.count > 0) {
    const std::uint32_t factor = copies_of_known(copied_weight(all, loop, possible), loop.count);
    if (factor > 1) Copies(all, loop, possible).by_known(factor);
    return factor > 1;
  }
  const auto goes_on = condition(test);
  const auto by = static_cast<std::int64_t>(all.function.instructions[loop.step].operands[2].bits);
  const bool negated = all.function.instructions[loop.end - 1].guard->negated;
  if (!goes_on || negated || !leads_there(*goes_on, by) || body->weight > body->most) return false;
  Copies(all, loop, possible).by_four(*goes_on);
  return true;
}

}  // namespace lockstep::lower
