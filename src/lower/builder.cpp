#include "lower/builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/control_flow.hpp"

namespace lockstep::lower {

namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;

constexpr std::uint32_t kInstructionBytes = 16;
constexpr std::uint32_t kFunctionAlignment = 128;

bool is_add_64(const ptx::Instruction& i) {
  return (i.op() == Opcode::kAdd) && ptx::bits(i.form.type()) == 64 && !ptx::is_float(i.form.type()) &&
         i.form.mods.empty() && i.operands.size() == 3;
}

/// The machine's instruction for a product and this sum of it and another value, or null. A product or sum
/// that names its rounding (.rn) stays as it is, as ptxas has it.
const char* fused_with_product(const ptx::Instruction& sum) {
  if (is_add_64(sum)) return "IMAD.WIDE";
  const bool rounded = std::ranges::any_of(sum.form.mods, [](Mod m) { return m != Mod::kFtz; });
  if ((sum.op() != Opcode::kAdd && sum.op() != Opcode::kSub) || rounded) return nullptr;
  if (sum.operands.size() != 3) return nullptr;
  const ptx::Type type = sum.form.type();
  return type == ptx::Type::kF32 ? "FFMA" : type == ptx::Type::kF64 ? "DFMA" : nullptr;
}

/// A multiplication that such a sum may take in.
bool makes_product(const ptx::Instruction& i) {
  if (i.op() != Opcode::kMul || i.operands[0].kind != OperandKind::kRegister) return false;
  if (i.has(Mod::kWide)) return ptx::bits(i.form.type()) == 32;
  const bool rounded = std::ranges::any_of(i.form.mods, [](Mod m) { return m != Mod::kFtz; });
  return !rounded && (i.form.type() == ptx::Type::kF32 || i.form.type() == ptx::Type::kF64);
}

std::string type_class(ptx::Type type) {
  if (ptx::kind(type) == ptx::TypeKind::kPredicate) return "pred";
  const unsigned bits = ptx::bits(type);
  if (ptx::is_float(type))
    return bits == 64 ? "f64" : type == ptx::Type::kF32 || type == ptx::Type::kTf32 ? "f32" : "f16";
  return bits <= 16 ? "i16" : bits <= 32 ? "i32" : "i64";
}

/// Words that make another operation of a mnemonic.
const char* operation_word(const ptx::Form& form) {
  for (const auto& [mod, word] : {std::pair{Mod::kWide, "wide"},
                                  {Mod::kHi, "hi"},
                                  {Mod::kLo, "lo"},
                                  {Mod::kApprox, "approx"},
                                  {Mod::kFull, "full"}})
    if (form.has(mod)) return word;
  return nullptr;
}

bool rounds_to_integer(const ptx::Form& form) {
  return form.has(Mod::kRni) || form.has(Mod::kRzi) || form.has(Mod::kRmi) || form.has(Mod::kRpi);
}

/// Keys to look for, the most particular first.
std::vector<std::string> sequence_keys(const ptx::Form& form) {
  const std::string op(ptx::name(form.op)), first = type_class(form.type()),
                                            last = type_class(form.last_type());
  std::vector<std::string> keys;
  if (form.op == Opcode::kCvt) {
    const std::string pair = first + "." + last;
    if (first == last && rounds_to_integer(form)) keys.push_back(op + ".rint." + pair);
    keys.push_back(op + "." + pair);
    return keys;
  }
  const std::string type = form.op == Opcode::kSet || form.op == Opcode::kSlct ? last : first;
  if (form.op == Opcode::kDiv || form.op == Opcode::kRem)
    keys.push_back(op + "." + std::string(ptx::name(form.type())));
  if (const char* word = operation_word(form)) keys.push_back(op + "." + word + "." + type);
  keys.push_back(op + "." + type);
  keys.push_back(op);
  return keys;
}

}  // namespace

UseCounts::UseCounts(const ptx::Function& function)
    : writes(function.registers.size()), reads(function.registers.size()) {
  for (const auto& i : function.instructions) {
    const auto use = ptx::register_use(i);
    for (const auto id : use.writes) ++writes[id];
    for (const auto id : use.reads) ++reads[id];
  }
}

Builder::Builder(const exec::Executable& kernel, unsigned arch, Passes passes, Code& code)
    : kernel_(kernel), arch_(arch), passes_(passes), code_(code) {}

void Builder::build() {
  code_.run_of_.assign(kernel_.operations().size(), 0);
  code_.optional_.assign(kernel_.operations().size(), 0);
  for (const auto& f : kernel_.functions()) function(f);
  for (const MachineInstruction& i : code_.instructions_)
    code_.steps_.push_back({i.operation, i.carries == Carries::kFirst});
  code_.remarks_.assign(remarks_.begin(), remarks_.end());
}

void Builder::function(const exec::FunctionCode& f) {
  if (passes_.predication && may_be_predicated(*f.source)) {
    function(f, predicate(*f.source, lengths(f)));
  } else {
    function(f, unpredicated(*f.source));
  }
}

/// Of each instruction without predication: how many machine instructions it is.
std::vector<std::uint32_t> Builder::lengths(const exec::FunctionCode& f) {
  const Mark start = mark();
  function(f, unpredicated(*f.source));
  std::vector<std::uint32_t> found(f.source->instructions.size());
  for (std::size_t i = start.instructions; i < code_.instructions_.size(); ++i)
    ++found[code_.instructions_[i].operation - f.first];
  back_to(start);
  return found;
}

Builder::Mark Builder::mark() const {
  return {code_.instructions_.size(), code_.runs_.size(), code_.registers_, pc_};
}

void Builder::back_to(const Mark& mark) {
  code_.instructions_.resize(mark.instructions);
  code_.runs_.resize(mark.runs);
  code_.registers_ = mark.registers;
  pc_ = mark.pc;
}

void Builder::function(const exec::FunctionCode& f, const Predicated& shape) {
  const unsigned target = registers_at_full_occupancy(arch_);
  const Schedule order = schedule(shape.function, ptx::ControlFlow(shape.function), target, passes_);
  const Mark start = mark();
  const unsigned used = with_registers(f, shape, order, target);
  if (used <= target || temporaries_ == 0) return;
  back_to(start);  // values rest only where the sequences' temporaries leave room for it
  (void)with_registers(f, shape, order, target - std::min(temporaries_, target));
}

/// Lowers the function with its values within `target` registers if possible. Returns how many registers it
/// takes.
unsigned Builder::with_registers(const exec::FunctionCode& f, const Predicated& shape, const Schedule& order,
                                 unsigned target) {
  const ptx::Function scheduled = reordered(shape.function, order);
  const RegisterAssignment registers(scheduled, target, passes_);
  const UseCounts uses(scheduled);
  function_ = &scheduled;
  registers_ = &registers;
  uses_ = &uses;
  temporaries_ = 0;
  products_.clear();
  if (passes_.fusion) mark_products(order);
  runs(f, order, shape);
  const unsigned used = registers.used() + temporaries_;
  code_.registers_ = std::max(code_.registers_, std::min(used, kMostRegisters));
  pc_ = (pc_ + kFunctionAlignment - 1) / kFunctionAlignment * kFunctionAlignment;
  return used;
}

void Builder::runs(const exec::FunctionCode& f, const Schedule& order, const Predicated& shape) {
  for (const Run run : order.runs) {
    CodeRun code{f.first + run.first, run.end - run.first,
                 static_cast<std::uint32_t>(code_.instructions_.size()), 0, false};
    for (std::uint32_t at = run.first; at < run.end; ++at) {
      code_.run_of_[f.first + at] = static_cast<std::uint32_t>(code_.runs_.size());
      code_.optional_[f.first + at] = shape.optional[at];
      code.has_optional |= shape.optional[at];
      operation_ = f.first + order.order[at];
      if (!shape.gone[order.order[at]]) instruction(function_->instructions[at], at);
    }
    code.end = static_cast<std::uint32_t>(code_.instructions_.size());
    code_.runs_.push_back(code);
  }
}

/// d = a * b, read once, by an addition: the machine has one instruction for both. A float product is fused
/// only within a run, where its factors are still in their registers.
void Builder::mark_products(const Schedule& order) {
  struct Product {
    const Instruction* multiply;
    std::size_t run;
  };
  std::map<ptx::RegisterId, Product> found;
  for (std::size_t run = 0; run < order.runs.size(); ++run) {
    for (std::uint32_t at = order.runs[run].first; at < order.runs[run].end; ++at) {
      const Instruction& i = function_->instructions[at];
      if (const char* opcode = fused_with_product(i)) {
        for (const std::size_t which : {1u, 2u}) {
          if (i.operands[which].kind != OperandKind::kRegister) continue;
          const auto product = found.find(i.operands[which].reg);
          if (product == found.end()) continue;
          const Instruction& multiply = *product->second.multiply;
          const bool wide = multiply.has(Mod::kWide);
          if (wide != is_add_64(i) || (!wide && product->second.run != run)) continue;
          if (!wide && multiply.form.type() != i.form.type()) continue;
          if (multiply.guard && multiply.guard != i.guard) continue;
          products_[product->first] = {&multiply, &i, opcode, static_cast<std::uint32_t>(3 - which)};
          break;
        }
      }
      if (makes_product(i) && uses_->writes[i.operands[0].reg] == 1 && uses_->reads[i.operands[0].reg] == 1)
        found[i.operands[0].reg] = {&i, run};
    }
  }
}

void Builder::instruction(const Instruction& i, std::uint32_t number) {
  if (folded(i, number) || special_form(i)) return;
  sequence(i);
}

bool Builder::folded(const Instruction& i, std::uint32_t number) {
  if (registers_->folded(number)) return true;
  if (i.op() == Opcode::kCvta && i.operands[0].kind == OperandKind::kRegister &&
      registers_->constant(i.operands[0].reg))
    return true;
  for (const ptx::Operand& operand : i.operands) {
    if (operand.kind != OperandKind::kRegister) continue;
    const auto found = products_.find(operand.reg);
    if (found == products_.end()) continue;
    const Fused& fused = found->second;
    if (fused.multiply == &i) return true;
    if (fused.sum != &i) continue;
    auto sources = places(fused.multiply->operands[1]);
    for (const auto& more : {fused.multiply->operands[2], i.operands[fused.other]})
      for (const std::uint8_t p : places(more)) sources.push_back(p);
    emit(fused.opcode, places(i.operands[0]), sources);
    return true;
  }
  return false;
}

void Builder::sequence(const Instruction& i) {
  const std::vector<SequenceStep>* steps = nullptr;
  for (const std::string& key : sequence_keys(i.form))
    if (steps == nullptr) steps = find_sequence(key);
  if (steps == nullptr) return guess(i);
  const unsigned results =
      std::min<unsigned>(ptx::destination_count(i.form), static_cast<unsigned>(i.operands.size()));
  const auto resolve = [&](const SequenceOperand& operand) -> std::uint8_t {
    using Kind = SequenceOperand::Kind;
    std::uint8_t at = kNoRegister;
    if (operand.kind == Kind::kTemporary) {
      temporaries_ = std::max(temporaries_, operand.number + 1u);
      at = registers_->temporary(operand.number);
    } else if (operand.kind == Kind::kDestination && results > 0) {
      at = place(i.operands[0]);
    } else if (operand.kind == Kind::kSource && results + operand.number < i.operands.size()) {
      at = place(i.operands[results + operand.number]);
    }
    return operand.high && at != kNoRegister
               ? static_cast<std::uint8_t>(std::min<unsigned>(at + 1u, kMostRegisters - 1))
               : at;
  };
  for (const SequenceStep& step : *steps) {
    std::vector<std::uint8_t> destinations, sources;
    if (const auto d = resolve(step.destination); d != kNoRegister) destinations.push_back(d);
    for (const auto& s : step.sources)
      if (const auto at = resolve(s); at != kNoRegister) sources.push_back(at);
    emit(step.opcode, destinations, sources);
  }
}

/// One ALU instruction with the right dependences.
void Builder::guess(const Instruction& i) {
  remark(fmt::format("{}: timed as one integer instruction", ptx::name(i.op())));
  const unsigned results =
      std::min<unsigned>(ptx::destination_count(i.form), static_cast<unsigned>(i.operands.size()));
  std::vector<std::uint8_t> destinations, sources;
  for (unsigned o = 0; o < i.operands.size(); ++o)
    for (const std::uint8_t p : places(i.operands[o])) (o < results ? destinations : sources).push_back(p);
  destinations.resize(std::min<std::size_t>(destinations.size(), 1));
  sources.resize(std::min<std::size_t>(sources.size(), 3));
  emit("IADD3", destinations, sources);
}

std::vector<std::uint8_t> Builder::places(const ptx::Operand& operand) const {
  std::vector<std::uint8_t> found;
  const auto add = [&](ptx::RegisterId id) {
    if (const std::uint8_t p = (*registers_)[id]; p != kNoRegister) found.push_back(p);
  };
  if (operand.kind == OperandKind::kRegister) add(operand.reg);
  if (operand.kind == OperandKind::kAddress && operand.base == ptx::AddressBase::kRegister) add(operand.reg);
  for (const ptx::Operand& element : operand.elements)
    for (const std::uint8_t p : places(element)) found.push_back(p);
  return found;
}

std::uint8_t Builder::place(const ptx::Operand& operand) const {
  const auto all = places(operand);
  return all.empty() ? kNoRegister : all.front();
}

void Builder::emit(const std::string& opcode, const std::vector<std::uint8_t>& destinations,
                   const std::vector<std::uint8_t>& sources, unsigned width, Carries carries,
                   std::int64_t immediate) {
  constexpr std::size_t kMostSources = 5;  // as a trace has
  std::string text = std::to_string(destinations.size());
  for (const std::uint8_t d : destinations) text += fmt::format(" R{}", d);
  const std::size_t count = std::min(sources.size(), kMostSources);
  text += fmt::format(" {} {}", opcode, count);
  for (std::size_t s = 0; s < count; ++s) text += fmt::format(" R{}", sources[s]);
  text += fmt::format(" {}", width);
  code_.instructions_.push_back({pc_, std::move(text), immediate, carries, operation_});
  pc_ += kInstructionBytes;
}

Code::Code(const exec::Executable& kernel, unsigned arch, Passes passes) {
  Builder(kernel, arch, passes, *this).build();
}

}  // namespace lockstep::lower
