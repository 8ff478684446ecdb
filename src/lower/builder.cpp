#include "lower/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lower/accumulators.hpp"
#include "lower/constants.hpp"
#include "lower/merge.hpp"
#include "lower/register_needs.hpp"
#include "lower/uniform.hpp"
#include "lower/unroll.hpp"

namespace lockstep::lower {

namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;

constexpr std::uint32_t kFunctionAlignment = 128, kNoRun = ~0u;

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
  if (const char* word = operation_word(form)) {
    if (form.has(Mod::kFtz)) keys.push_back(op + "." + word + ".ftz." + type);
    keys.push_back(op + "." + word + "." + type);
  }
  keys.push_back(op + "." + type);
  keys.push_back(op);
  return keys;
}

/// By setmaxnreg.inc: ptxas 13.0 uses as many behind it, whatever the launch has (140 live values of threads
/// launched with 128 registers are not spilled if 160 are requested).
unsigned most_requested(const ptx::Function& function) {
  unsigned most = 0;
  for (const ptx::Instruction& i : function.instructions)
    if (i.op() == Opcode::kSetmaxnreg && i.has(ptx::Mod::kInc))
      most = std::max(most, static_cast<unsigned>(i.operands[0].bits));
  return std::min(most, kMaxRegisters);
}

}  // namespace

Builder::Builder(const exec::Executable& kernel, unsigned arch, Passes passes, Code& code, unsigned registers)
    : Emitter(arch, passes, code), kernel_(kernel), known_registers_(registers) {}

void Builder::build() {
  code_.run_of_.assign(kernel_.operations().size(), kNoRun);
  code_.optional_.assign(kernel_.operations().size(), 0);
  for (const auto& f : kernel_.functions()) function(f);
  if (passes_.signals && !kernel_.spins().empty()) {
    constexpr unsigned kWaitedBytes = 4;  // a word
    operation_ = kNoOperation;
    code_.await_ = static_cast<std::uint32_t>(code_.instructions_.size());
    emit("AWAIT", {}, {}, kWaitedBytes, Carries::kFirst);
  }
  for (const MachineInstruction& i : code_.instructions_)
    code_.steps_.push_back({i.place, i.carries == Carries::kFirst, i.lanes, i.calls});
  code_.remarks_.assign(remarks_.begin(), remarks_.end());
}

void Builder::function(const exec::FunctionCode& f) {
  const auto& variables = kernel_.program().variables;
  const Unrolled all = passes_.unroll ? unroll(*f.source, variables, arch_) : not_unrolled(*f.source);
  const bool predicated = passes_.predication && may_be_predicated(all.function);
  Predicated shape = predicated ? predicate(all, lengths(f, all)) : unpredicated(all);
  if (passes_.merge) merge_accesses(shape, variables);
  function(f, shape);
}

/// For each instruction, without predication: how many machine instructions it becomes.
std::vector<std::uint32_t> Builder::lengths(const exec::FunctionCode& f, const Unrolled& all) {
  const Mark start = mark();
  function(f, unpredicated(all));
  std::vector<std::uint32_t> found(all.origin.size());
  for (std::size_t r = start.runs; r < code_.runs_.size(); ++r) {
    const CodeRun& run = code_.runs_[r];
    const auto first = run.first_execution - static_cast<std::uint32_t>(start.executions);
    for (std::uint32_t i = run.first; i < run.end; ++i) ++found[first + code_.instructions_[i].place];
  }
  back_to(start);
  return found;
}

void Builder::function(const exec::FunctionCode& f, const Predicated& shape) {
  const ptx::ControlFlow flow(shape.function);
  const unsigned full = registers_at_full_occupancy(arch_);
  // What its values need shows when they are as few as possible.
  const unsigned values = values_at_once(
      reordered(shape.function, schedule(shape.function, flow, full - kReserved, passes_)), passes_);
  launched_ = known_registers_ > 0 ? std::min(std::max(full, known_registers_), kMaxRegisters)
                                   : registers_for(values, shape.function.directives, arch_);
  const unsigned target = std::max(launched_, most_requested(shape.function));
  lower(f, shape, flow, target, std::max(target - kReserved, std::min(values, target)));
}

/// Schedules and lowers the function: `values` live at once where possible, in `target` registers.
void Builder::lower(const exec::FunctionCode& f, const Predicated& shape, const ptx::ControlFlow& flow,
                    unsigned target, unsigned values) {
  const Schedule order = schedule(shape.function, flow, values, passes_);
  const Mark start = mark();
  const unsigned used = with_registers(f, shape, order, target);
  if (used <= target) return;
  back_to(start);  // values rest only where the sequences' temporaries leave room for it
  const unsigned left = used == values_ ? target : target - std::min(used - values_, target);
  if (used != values_ && with_registers(f, shape, order, left) <= target) return;
  back_to(start);
  if (with_registers(f, shape, order, target, RegisterAssignment::Holes::kUsed) <= target) return;
  back_to(start);
  (void)with_registers(f, shape, order, left);
}

/// Lowers the function with its values within `target` registers if possible. Returns how many registers it
/// takes.
unsigned Builder::with_registers(const exec::FunctionCode& f, const Predicated& shape, const Schedule& order,
                                 unsigned target, RegisterAssignment::Holes holes) {
  const ptx::Function scheduled = reordered(shape.function, order);
  Folded folded;
  if (passes_.integers) folded.addresses = folded_addresses(scheduled, order.runs, arch_);
  Fusions fusions;
  if (passes_.fusion) fusions = Fusions(scheduled, order.runs, folded.addresses, passes_.integers, arch_);
  if (passes_.integers) folded.fusions = fusions;
  const RegisterAssignment registers(scheduled, target, passes_, folded, holes);
  function_ = &scheduled;
  literals_ = literals(scheduled, passes_.integers);
  l2_policies_ = L2Policies(scheduled);
  unread_ = passes_.fusion ? unread_moves(scheduled) : std::vector<bool>(scheduled.instructions.size());
  uniform_ =
      passes_.uniform ? uniform_instructions(scheduled) : std::vector<bool>(scheduled.instructions.size());
  registers_ = &registers;
  fusions_ = &fusions;
  BroughtConstants brought(scheduled, order.runs);
  brought_ = &brought;
  note_constants(f, order, shape);
  Temporaries temporaries(registers, passes_.temporaries);
  temporaries_ = &temporaries;
  called_.clear();
  runs(f, order, shape);
  subroutines();
  values_ = registers.used();
  const unsigned used = std::max(values_, temporaries.used());
  const bool grows = target > launched_;
  code_.registers_ = std::max(code_.registers_, std::min(used, grows ? launched_ : kMaxRegisters));
  pc_ = (pc_ + kFunctionAlignment - 1) / kFunctionAlignment * kFunctionAlignment;
  return used;
}

/// Goes through the function once for nothing else; what it emits is dropped.
void Builder::note_constants(const exec::FunctionCode& f, const Schedule& order, const Predicated& shape) {
  const Mark start = mark();
  Temporaries temporaries(*registers_, passes_.temporaries);
  temporaries_ = &temporaries;
  called_.clear();
  noting_ = true;
  runs(f, order, shape);
  noting_ = false;
  brought_->start_again();
  back_to(start);
}

void Builder::runs(const exec::FunctionCode& f, const Schedule& order, const Predicated& shape) {
  std::fill_n(code_.run_of_.begin() + f.first, f.source->instructions.size(), kNoRun);
  const std::vector<bool> repeated = repeated_copies(shape);
  const std::size_t first_loop = code_.loops_.size();
  for (const PartialLoop& loop : shape.partial) code_.loops_.emplace_back(loop.copies.size());
  for (run_ = 0; run_ < order.runs.size(); ++run_) {
    const Run run = order.runs[run_];
    CodeRun code;
    code.first_execution = static_cast<std::uint32_t>(code_.executions_.size());
    code.operations = run.end - run.first;
    code.is_added = true;
    code.first = static_cast<std::uint32_t>(code_.instructions_.size());
    for (std::uint32_t at = run.first; at < run.end; ++at) {
      const std::uint32_t executed = f.first + shape.origin[at], carrier = shape.carrier[order.order[at]];
      code_.executions_.push_back(shape.added[at] ? kNoOperation : executed);
      if (!shape.added[at] && !repeated[at]) {
        std::uint32_t& first_run = code_.run_of_[executed];
        first_run = std::min(first_run, static_cast<std::uint32_t>(code_.runs_.size()));
      }
      code.is_added &= shape.added[at];
      if (!shape.added[at]) code_.optional_[executed] = shape.optional[at];
      code.has_optional |= shape.optional[at];
      operation_ = f.first + shape.origin[carrier];
      place_ = carrier - run.first;
      if (at == 0 && function_->entry && passes_.setup)
        emit(arch_ >= kLoadsParameters ? "LDC" : "MOV", {kStackPointer}, {});
      if (at + 1 == run.end)
        for (const Constant& c : brought_->at_end(run_)) bring(c);
      if (shape.gone[order.order[at]]) continue;
      const std::size_t first = code_.instructions_.size();
      instruction(function_->instructions[at], at);
      if (passes_.left_out || !shape.optional[order.order[at]]) continue;
      for (std::size_t i = first; i < code_.instructions_.size(); ++i)
        if (Lanes& lanes = code_.instructions_[i].lanes; lanes == Lanes::kAll) lanes = Lanes::kIfAny;
    }
    code.end = static_cast<std::uint32_t>(code_.instructions_.size());
    for (std::uint32_t i = code.first; i < code.end; ++i)
      code.has_slow_path |= code_.instructions_[i].lanes != Lanes::kAll;
    note_copies(shape, first_loop, run, code);
    code_.runs_.push_back(code);
  }
}

void Builder::instruction(const Instruction& i, std::uint32_t number) {
  number_ = number;
  on_uniform_ = uniform_[number];
  if (!folded(i, number) && !special_form(i)) sequence(i);
  on_uniform_ = false;
}

bool Builder::folded(const Instruction& i, std::uint32_t number) {
  if (registers_->folded(number) || fusions_->gone(number) || unread_[number]) return true;
  if (const Fused* both = fusions_->at(number)) return fused(i, *both), true;
  return i.op() != Opcode::kLd && ptx::destination_count(i.form) > 0 && !i.operands.empty() &&
         i.operands[0].kind == OperandKind::kRegister && registers_->constant(i.operands[0].reg);
}

void Builder::fused(const Instruction& i, const Fused& both) {
  const Instruction& producer = function_->instructions[both.producer];
  Instruction all = i;  // its result, and what both read
  all.operands.resize(1);
  all.operands.insert(all.operands.end(), producer.operands.begin() + 1, producer.operands.end());
  for (std::size_t o = 1; o < i.operands.size(); ++o)
    if (o != both.operand) all.operands.push_back(i.operands[o]);
  if (both.sequence != nullptr) return sequence(all, both.sequence);
  Operands read;
  const bool shifts = producer.op() == Opcode::kShl || producer.op() == Opcode::kShr;
  for (std::size_t o = 1; o < all.operands.size(); ++o)
    if (!shifts || o != 2) read.push_back(&all.operands[o]);  // how far is no operand of the machine's
  bring_constants(read);
  std::vector<std::uint8_t> sources, high_sources;
  for (std::size_t o = 1; o < all.operands.size(); ++o) {
    const std::uint8_t at = place(all.operands[o]);
    if (at == kNoRegister) continue;
    sources.push_back(at);
    high_sources.push_back(high_half(at));
  }
  auto destinations = places(i.operands[0]);
  emit(both.opcode, destinations, sources);
  if (both.high_opcode == nullptr) return;
  if (shifts && !sources.empty()) high_sources.push_back(sources.front());  // what moves up
  for (std::uint8_t& d : destinations) d = high_half(d);
  emit(both.high_opcode, destinations, high_sources);
}

/// Where a sequence stands: its PTX instruction (none: in a subroutine, whose operands are temporaries), the
/// subroutine that it calls, if any, and where temporaries lie.
struct Builder::Site {
  const Instruction* instruction;
  std::string subroutine;
  Temporaries::Busy busy;
  bool paired;  // temporaries
};

namespace {

/// Whether temporaries are 64-bit values.
bool has_pairs(const std::vector<SequenceStep>& steps) {
  return std::ranges::any_of(steps, [](const SequenceStep& s) {
    return s.opcode[0] == 'D' || s.opcode.find(".WIDE") != s.opcode.npos;
  });
}

}  // namespace

void Builder::sequence(const Instruction& i) {
  for (const std::string& key : sequence_keys(i.form))
    if (find_sequence(key) != nullptr) return sequence(i, key);
  guess(i);
}

/// The table has the key.
void Builder::sequence(const Instruction& i, const std::string& key) {
  const auto* found = find_sequence(key);
  if (passes_.integers && i.operands.size() > 2 && is_literal(i.operands[2]))
    if (const auto* shorter = find_sequence(key + ".literal")) found = shorter;
  steps(*found, {&i, key + ".slow", temporaries_->busy(number_), has_pairs(*found)});
}

void Builder::steps(const std::vector<SequenceStep>& steps, const Site& site) {
  for (const SequenceStep& step : steps) {
    if (step.lanes == Lanes::kSlow && !passes_.slow_paths) continue;
    std::vector<std::uint8_t> destinations, sources;
    Operands read;
    if (const auto d = resolve(step.destination, site); d != kNoRegister) destinations.push_back(d);
    for (const auto& s : step.sources) {
      if (const auto at = resolve(s, site); at != kNoRegister) sources.push_back(at);
      if (const ptx::Operand* operand = operand_of(s, site)) read.push_back(operand);
    }
    if (site.instruction != nullptr && takes_constant(*site.instruction)) bring_constants(read);
    if (step.opcode == "MOV" && destinations == sources) continue;  // halves that share a register
    pc_ += step.skipped * kInstructionBytes;
    code_.jumped_over_ += step.skipped;
    emit(step.opcode, destinations, sources);
    MachineInstruction& made = code_.instructions_.back();
    if (passes_.slow_paths) made.lanes = step.lanes;
    if (made.lanes == Lanes::kSlow && step.opcode.starts_with("CALL")) made.calls = subroutine(site);
  }
}

std::uint8_t Builder::resolve(const SequenceOperand& operand, const Site& site) {
  using Kind = SequenceOperand::Kind;
  if (operand.kind == Kind::kTemporary)
    return temporaries_->place(site.busy, operand.number + (operand.high ? 1u : 0u), site.paired);
  const ptx::Operand* const named = operand_of(operand, site);
  const std::uint8_t at = named == nullptr ? kNoRegister : place(*named);
  return operand.high && at != kNoRegister ? high_half(at) : at;
}

/// That of the PTX instruction; null where it has none.
const ptx::Operand* Builder::operand_of(const SequenceOperand& operand, const Site& site) {
  using Kind = SequenceOperand::Kind;
  if (operand.kind == Kind::kNone || operand.kind == Kind::kTemporary || site.instruction == nullptr)
    return nullptr;
  const auto& operands = site.instruction->operands;
  const auto count = static_cast<unsigned>(operands.size());
  const unsigned results = std::min<unsigned>(ptx::destination_count(site.instruction->form), count);
  const bool result = operand.kind == Kind::kDestination;
  const unsigned number = result ? 0 : results + operand.number;
  return number < (result ? results : count) ? &operands[number] : nullptr;
}

/// The one that the sequence at `site` calls. It follows the function.
std::uint32_t Builder::subroutine(const Site& site) {
  auto at = std::ranges::find(called_, site.subroutine, &Called::key);
  if (at == called_.end()) at = called_.insert(at, Called{site.subroutine, {}});
  at->busy |= site.busy;
  return static_cast<std::uint32_t>(code_.subroutines_.size() +
                                    static_cast<std::size_t>(at - called_.begin()));
}

void Builder::subroutines() {
  operation_ = kNoOperation;
  for (const Called& called : called_) {
    const auto first = static_cast<std::uint32_t>(code_.instructions_.size());
    const auto& all = *find_sequence(called.key);
    steps(all, {nullptr, {}, called.busy, has_pairs(all)});
    code_.subroutines_.push_back({first, static_cast<std::uint32_t>(code_.instructions_.size())});
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

Code::Code(const exec::Executable& kernel, unsigned arch, Passes passes, unsigned registers) {
  Builder(kernel, arch, passes, *this, registers).build();
}

}  // namespace lockstep::lower
