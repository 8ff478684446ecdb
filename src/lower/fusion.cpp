#include "lower/fusion.hpp"

#include <algorithm>

#include "ptx/liveness.hpp"

namespace lockstep::lower {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::Type;

/// An instruction that `makes` says yes to, and one that it says yes to `takes` for the operand that the
/// first makes, are one machine instruction.
struct FusionRule {
  bool (*makes)(const Instruction&);
  bool (*takes)(const Instruction&);
  const char* opcode;
  const char* high_opcode = nullptr;
  bool across_runs = false;  // else its operands must still be in their registers
  bool integers = true;      // left out without them
  const char* sequence = nullptr;
};

namespace {

bool is_integer_32(const Instruction& i) {
  const Type type = i.form.type();
  return type == Type::kS32 || type == Type::kU32 || type == Type::kB32;
}

bool is_integer_64(const Instruction& i) {
  return ptx::bits(i.form.type()) == 64 && !ptx::is_float(i.form.type());
}

bool is_plain(const Instruction& i, Opcode op, std::size_t operands = 3) {
  return i.op() == op && i.form.mods.empty() && i.operands.size() == operands;
}

bool is_sum_32(const Instruction& i) {
  return is_integer_32(i) &&
         (is_plain(i, Opcode::kAdd) || is_plain(i, Opcode::kSub) || is_plain(i, Opcode::kNeg, 2));
}
bool is_add_32(const Instruction& i) { return is_integer_32(i) && is_plain(i, Opcode::kAdd); }
bool is_sub_32(const Instruction& i) { return is_integer_32(i) && is_plain(i, Opcode::kSub); }
bool is_add_64(const Instruction& i) { return is_integer_64(i) && is_plain(i, Opcode::kAdd); }

bool is_logic(const Instruction& i) {
  return is_plain(i, Opcode::kAnd) || is_plain(i, Opcode::kOr) || is_plain(i, Opcode::kXor) ||
         is_plain(i, Opcode::kNot, 2);
}
bool is_logic_32(const Instruction& i) { return is_integer_32(i) && is_logic(i); }
bool is_predicate_logic(const Instruction& i) { return i.form.type() == Type::kPred && is_logic(i); }

bool is_shift(const Instruction& i, Opcode op) {
  return is_plain(i, op) && i.operands[2].kind == OperandKind::kImmediate;
}
bool is_left_shift_32(const Instruction& i) { return is_integer_32(i) && is_shift(i, Opcode::kShl); }
bool is_left_shift_64(const Instruction& i) { return is_integer_64(i) && is_shift(i, Opcode::kShl); }
bool is_right_shift_32(const Instruction& i) { return is_integer_32(i) && is_shift(i, Opcode::kShr); }

bool is_wide_product(const Instruction& i) {
  return i.op() == Opcode::kMul && i.has(Mod::kWide) && ptx::bits(i.form.type()) == 32;
}
bool is_low_product(const Instruction& i) {
  return i.op() == Opcode::kMul && i.has(Mod::kLo) && i.form.mods.size() == 1;
}
bool is_low_product_32(const Instruction& i) { return is_low_product(i) && is_integer_32(i); }
bool is_low_product_64(const Instruction& i) { return is_low_product(i) && is_integer_64(i); }

/// A float product or sum that names its rounding (.rn) stays as it is, as ptxas has it.
bool is_float(const Instruction& i, Type type) {
  return i.form.type() == type && i.operands.size() == 3 &&
         std::ranges::all_of(i.form.mods, [](Mod m) { return m == Mod::kFtz; });
}
template <Type type>
bool is_float_product(const Instruction& i) {
  return i.op() == Opcode::kMul && is_float(i, type);
}
template <Type type>
bool is_float_sum(const Instruction& i) {
  return (i.op() == Opcode::kAdd || i.op() == Opcode::kSub) && is_float(i, type);
}

bool is_comparison(const Instruction& i) { return i.op() == Opcode::kSetp && i.operands.size() == 3; }
bool compares_32(const Instruction& i) { return is_comparison(i) && is_integer_32(i); }
template <Type type>
bool compares(const Instruction& i) {
  return is_comparison(i) && i.form.type() == type;
}

constexpr FusionRule kRules[] = {
    {is_wide_product, is_add_64, "IMAD.WIDE", nullptr, true, false},
    {is_float_product<Type::kF32>, is_float_sum<Type::kF32>, "FFMA", nullptr, false, false},
    {is_float_product<Type::kF64>, is_float_sum<Type::kF64>, "DFMA", nullptr, false, false},
    {is_left_shift_64, is_add_64, "LEA", "LEA.HI.X"},
    {is_left_shift_32, is_add_32, "LEA"},
    {is_left_shift_32, is_sub_32, "IMAD"},
    {is_right_shift_32, is_add_32, "LEA.HI"},
    {is_low_product_32, is_add_32, "IMAD"},
    {is_low_product_64, is_add_64, nullptr, nullptr, false, true, "mad.lo.i64"},
    {is_sum_32, is_sum_32, "IADD3"},
    {is_add_64, is_add_64, "IADD3", "IADD3.X"},
    {is_logic_32, is_logic_32, "LOP3.LUT"},
    {compares_32, is_predicate_logic, "ISETP.LT.AND"},
    {compares<Type::kF32>, is_predicate_logic, "FSETP.LT.AND"},
    {compares<Type::kF64>, is_predicate_logic, "DSETP.LT.AND"},
};

}  // namespace

Fusions::Fusions(const ptx::Function& function, const std::vector<Run>& runs,
                 const std::vector<FoldedAddress>& addresses, bool integers, unsigned arch)
    : function_(&function),
      integers_(integers),
      arch_(arch),
      uses_(function),
      producers_(function.registers.size()),
      last_write_(function.registers.size()),
      taken_(function.instructions.size()),
      gone_(function.instructions.size()),
      fused_(function.instructions.size()) {
  std::vector<bool> folded(function.instructions.size());
  for (const FoldedAddress& address : addresses) folded[address.at] = true;
  for (std::size_t run = 0; run < runs.size(); ++run)
    for (std::uint32_t at = runs[run].first; at < runs[run].end; ++at) visit(at, run, folded[at]);
  keep_partly_taken();
  for (const FoldedAddress& address : addresses) gone_[address.at] = true;
}

void Fusions::visit(std::uint32_t at, std::size_t run, bool folded) {
  const Instruction& i = function_->instructions[at];
  for (std::uint32_t operand = 1; operand < i.operands.size() && !folded; ++operand)
    if (take_in(at, operand, run)) break;
  for (const ptx::RegisterId id : ptx::register_use(i).writes) {
    last_write_[id] = at + 1;
    producers_[id] = {at, run,
                      !folded && uses_.writes[id] == 1 && i.operands[0].kind == OperandKind::kRegister};
  }
}

bool Fusions::take_in(std::uint32_t at, std::uint32_t operand, std::size_t run) {
  const FusionRule* rule = rule_of(at, operand, run);
  if (rule == nullptr) return false;
  const std::uint32_t producer = producers_[function_->instructions[at].operands[operand].reg].at;
  fused_[at] = {rule->opcode, rule->high_opcode, rule->sequence, producer, operand};
  ++taken_[producer];
  gone_[producer] = true;
  return true;
}

const FusionRule* Fusions::rule_of(std::uint32_t at, std::uint32_t operand, std::size_t run) const {
  const Instruction& i = function_->instructions[at];
  if (i.operands[operand].kind != OperandKind::kRegister) return nullptr;
  const ptx::RegisterId id = i.operands[operand].reg;
  const Producer& producer = producers_[id];
  if (!producer.known || fused_[producer.at]) return nullptr;
  const auto is_result = [id](const ptx::Operand& o) {
    return o.kind == OperandKind::kRegister && o.reg == id;
  };
  const auto sources = i.operands.begin() + ptx::destination_count(i.form);
  if (std::count_if(sources, i.operands.end(), is_result) != 1) return nullptr;  // else it has to be there
  const Instruction& made_by = function_->instructions[producer.at];
  if (made_by.guard && made_by.guard != i.guard) return nullptr;
  if (uses_.reads[id] != 1 && !may_have_several_readers(made_by)) return nullptr;
  const bool at_hand = producer.run == run && still_there(producer.at, at), stays = reads_what_stays(made_by);
  const auto* rule = std::ranges::find_if(kRules, [&](const FusionRule& r) {
    return (at_hand || (r.across_runs && stays)) && (integers_ || !r.integers) && r.makes(made_by) &&
           r.takes(i);
  });
  return rule == std::end(kRules) ? nullptr : rule;
}

bool Fusions::may_have_several_readers(const Instruction& i) const {
  if (!integers_) return false;
  return is_wide_product(i) || is_left_shift_32(i) || is_right_shift_32(i) ||
         (is_left_shift_64(i) && arch_ < 75);
}

/// What the producer reads has not been overwritten where the consumer is.
bool Fusions::still_there(std::uint32_t producer, std::uint32_t consumer) const {
  const auto use = ptx::register_use(function_->instructions[producer]);
  return producer < consumer &&
         std::ranges::all_of(use.reads, [&](ptx::RegisterId id) { return last_write_[id] <= producer; });
}

/// Nothing writes its operands twice.
bool Fusions::reads_what_stays(const Instruction& producer) const {
  return std::ranges::all_of(ptx::register_use(producer).reads,
                             [&](ptx::RegisterId id) { return uses_.writes[id] <= 1; });
}

void Fusions::keep_partly_taken() {
  for (auto& fused : fused_) {
    if (!fused) continue;
    const std::uint32_t producer = fused->producer;
    if (taken_[producer] == uses_.reads[function_->instructions[producer].operands[0].reg]) continue;
    gone_[producer] = false;
    fused.reset();
  }
}

}  // namespace lockstep::lower
