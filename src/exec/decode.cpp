#include "exec/decode.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/liveness.hpp"
#include "ptx/printer.hpp"
#include "ptx/source_lines.hpp"
#include "util/error.hpp"

namespace lockstep::exec {

namespace {

constexpr std::uint32_t kUnplaced = ~0u;
constexpr std::uint32_t kDynamicSharedAlign = 16;  // at least, as nvcc declares it
// Local memory of a thread ("CUDA C++ Programming Guide", technical specifications per compute capability).
constexpr std::uint64_t kMostLocalBytes = 512 * 1024;
// What a launch allows is for it to say: an offset in shared memory has 32 bits.
constexpr std::uint64_t kMostSharedBytes = 1 << 30;

/// Instructions that PTX documents with {!} or {-}: the others could read the operand as it is only.
bool takes_negated(ptx::Opcode op) {
  switch (op) {
    case ptx::Opcode::kBar:
    case ptx::Opcode::kBarrier:
    case ptx::Opcode::kLop3:
    case ptx::Opcode::kSet:
    case ptx::Opcode::kSetp:
    case ptx::Opcode::kVmad:
    case ptx::Opcode::kVote:
    case ptx::Opcode::kWgmma:
      return true;
    default:
      return false;
  }
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

Executable::Executable(const ProgramImage& image, std::uint32_t entry) : image_(image) {
  Decoder(*this, entry).run();
}
Executable::~Executable() = default;

const std::string& Executable::name() const { return functions_.front().source->name; }

const FunctionCode& Executable::function_of(std::uint32_t operation) const {
  auto after = std::upper_bound(functions_.begin(), functions_.end(), operation,
                                [](std::uint32_t at, const FunctionCode& f) { return at < f.first; });
  return *std::prev(after);
}

const ptx::Instruction& Executable::instruction(std::uint32_t operation) const {
  const FunctionCode& function = function_of(operation);
  return function.source->instructions[operation - function.first];
}

std::uint32_t Executable::function_at(Address address) const {
  const std::uint64_t id = (address - kCodeWindow) >> kCodeAddressShift;
  const bool whole = (address & ((1u << kCodeAddressShift) - 1)) == 0;
  return whole && address >= kCodeWindow && id < by_id_.size() ? by_id_[id] : ~0u;
}

Decoder::Decoder(Executable& out, std::uint32_t entry)
    : out_(out),
      program_(out.image_.program()),
      entry_(entry),
      variables_(program_.variables.size(), kUnplaced),
      used_variables_(program_.variables.size()) {}

void Decoder::fail(const std::string& message) const {
  const std::string& file = program_.modules[function_->module].name;
  if (!inst_) throw InputError(file, function_->place.line, fmt::format("{}: {}", function_->name, message));
  throw InputError(file, inst_->place.line,
                   fmt::format("{}{}: {}", source_prefix(), ptx::print(inst_->form), message));
}

/// "vector_add.cu:12: " where the PTX says of which line the instruction is.
std::string Decoder::source_prefix() const {
  const std::string text =
      ptx::source_text(inst_->source, *function_, program_.modules[function_->module].files);
  return text.empty() ? text : text + ": ";
}

void Decoder::run() {
  function_ = &program_.functions[entry_];
  out_.by_id_.assign(program_.functions.size(), kUnplaced);
  reach(entry_);
  bool indirect = false;
  for (std::size_t i = 0; i < ids_.size(); ++i) reach_targets(program_.functions[ids_[i]], indirect);
  if (indirect) {
    reach_address_taken();
    for (std::size_t i = 0; i < ids_.size(); ++i) reach_targets(program_.functions[ids_[i]], indirect);
  }
  layouts_.resize(ids_.size());
  out_.functions_.resize(ids_.size());
  lay_out_shared();
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < ids_.size(); ++i) {
    FunctionCode& code = out_.functions_[i];
    code.source = &program_.functions[ids_[i]];
    code.first = first;
    code.size = static_cast<std::uint32_t>(code.source->instructions.size());
    first += code.size;
    lay_out_registers(i);
    lay_out_frame(i);
  }
  out_.operations_.resize(first);
  for (std::uint32_t i = 0; i < ids_.size(); ++i) decode_function(i);
}

void Decoder::reach(std::uint32_t function) {
  if (out_.by_id_[function] != kUnplaced || !program_.functions[function].has_body) return;
  out_.by_id_[function] = static_cast<std::uint32_t>(ids_.size());
  ids_.push_back(function);
}

void Decoder::note_symbols(const Op& operand) {
  const bool names =
      operand.kind == ptx::OperandKind::kSymbol ||
      (operand.kind == ptx::OperandKind::kAddress && operand.base == ptx::AddressBase::kSymbol);
  if (names && operand.symbol.kind == ptx::SymbolKind::kVariable) used_variables_[operand.symbol.id] = true;
  for (const Op& element : operand.elements) note_symbols(element);
}

void Decoder::reach_targets(const ptx::Function& function, bool& indirect) {
  for (const Inst& inst : function.instructions) {
    for (const Op& operand : inst.operands) note_symbols(operand);
    if (inst.op() != ptx::Opcode::kCall) continue;
    const Op& target = inst.operands.front();
    if (target.kind == ptx::OperandKind::kSymbol && target.symbol.kind == ptx::SymbolKind::kFunction)
      reach(target.symbol.id);
    else
      indirect = true;
  }
}

/// An indirect call may reach every function whose address can be known: all that are not kernels.
void Decoder::reach_address_taken() {
  for (std::uint32_t id = 0; id < program_.functions.size(); ++id)
    if (!program_.functions[id].entry) reach(id);
}

void Decoder::lay_out_shared() {
  std::uint64_t end = 0;
  std::uint64_t dynamic_align = kDynamicSharedAlign;
  const auto place = [&](const ptx::Variable& v) -> std::uint32_t {
    if (v.is_dynamic_shared()) {
      dynamic_align = std::max<std::uint64_t>(dynamic_align, v.align);
      return kUnplaced;
    }
    const std::uint64_t at = round_up(end, v.align);
    end = at + v.size;
    if (end > kMostSharedBytes) fail(fmt::format("{} bytes of shared memory are too many", end));
    return static_cast<std::uint32_t>(at);
  };
  for (std::size_t i = 0; i < variables_.size(); ++i)
    if (used_variables_[i] && program_.variables[i].space == ptx::Space::kShared)
      variables_[i] = place(program_.variables[i]);
  for (std::size_t f = 0; f < ids_.size(); ++f) {
    const ptx::Function& function = program_.functions[ids_[f]];
    layouts_[f].variables.assign(function.variables.size(), kUnplaced);
    for (std::size_t i = 0; i < function.variables.size(); ++i)
      if (function.variables[i].space == ptx::Space::kShared)
        layouts_[f].variables[i] = place(function.variables[i]);
  }
  out_.shared_bytes_ = static_cast<std::uint32_t>(end);
  out_.dynamic_shared_ = static_cast<std::uint32_t>(round_up(end, dynamic_align));
  for (std::size_t i = 0; i < variables_.size(); ++i)
    if (program_.variables[i].is_dynamic_shared()) variables_[i] = out_.dynamic_shared_;
  for (std::size_t f = 0; f < ids_.size(); ++f)
    for (std::size_t i = 0; i < layouts_[f].variables.size(); ++i)
      if (program_.functions[ids_[f]].variables[i].is_dynamic_shared())
        layouts_[f].variables[i] = out_.dynamic_shared_;
}

void Decoder::lay_out_registers(std::uint32_t index) {
  FunctionCode& code = out_.functions_[index];
  for (const ptx::Register& reg : code.source->registers) {
    layouts_[index].registers.push_back(code.slots);
    code.slots += ptx::bits(reg.type) > 64 ? 2 : 1;
  }
  function_ = code.source;
  flow_.emplace(*code.source);
  const ptx::Liveness liveness(*code.source, *flow_);
  if (code.size == 0) return;
  for (const ptx::RegisterId reg : liveness.live_before(0)) {
    code.cleared.push_back(layouts_[index].registers[reg]);
    if (ptx::bits(code.source->registers[reg].type) > 64)
      code.cleared.push_back(layouts_[index].registers[reg] + 1);
  }
}

/// The offset of a new variable in the frame.
std::uint32_t Decoder::extend_frame(FunctionCode& code, std::uint64_t bytes, std::uint64_t align) const {
  const std::uint64_t at = round_up(code.frame_bytes, align), end = round_up(at + bytes, 16);
  if (end > kMostLocalBytes)
    fail(fmt::format("{} bytes of local memory; a thread has {}", end, kMostLocalBytes));
  code.frame_bytes = static_cast<std::uint32_t>(at + bytes);
  return static_cast<std::uint32_t>(at);
}

std::uint32_t Decoder::place_parameter(const ptx::Parameter& parameter, const FunctionLayout& layout,
                                       FunctionCode& code, std::vector<ParameterPlace>& places) {
  ParameterPlace place;
  place.bytes = static_cast<std::uint32_t>(parameter.size);
  if (parameter.in_register) {
    if (ptx::bits(parameter.type) > 64)
      fail("parameters in registers of more than 64 bits are not supported");
    place.in_register = true;
    place.slot = layout.registers[parameter.reg];
  } else {
    place.offset = extend_frame(code, parameter.size, std::max<std::uint32_t>(parameter.align, 1));
  }
  places.push_back(place);
  return place.offset;
}

void Decoder::lay_out_frame(std::uint32_t index) {
  FunctionCode& code = out_.functions_[index];
  FunctionLayout& layout = layouts_[index];
  const ptx::Function& source = *code.source;
  if (index == 0) {  // .local variables of the module are the entry's
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (program_.variables[i].space != ptx::Space::kLocal || !used_variables_[i]) continue;
      variables_[i] = extend_frame(code, program_.variables[i].size, program_.variables[i].align);
    }
  }
  for (std::size_t i = 0; i < source.variables.size(); ++i) {
    const ptx::Variable& v = source.variables[i];
    if (v.space != ptx::Space::kLocal && v.space != ptx::Space::kParam) continue;
    layout.variables[i] = extend_frame(code, v.size, v.align);
  }
  for (const auto& parameter : source.parameters) {
    if (source.entry) {
      layout.parameters.push_back(static_cast<std::uint32_t>(parameter.offset));
      out_.parameter_bytes_ = static_cast<std::uint32_t>(parameter.offset + parameter.size);
    } else {
      layout.parameters.push_back(place_parameter(parameter, layout, code, code.parameters));
    }
  }
  for (const auto& result : source.results)
    layout.results.push_back(place_parameter(result, layout, code, code.results));
  code.frame_bytes = static_cast<std::uint32_t>(round_up(code.frame_bytes, 16));
}

void Decoder::decode_function(std::uint32_t index) {
  code_ = &out_.functions_[index];
  layout_ = &layouts_[index];
  function_ = code_->source;
  flow_.emplace(*function_);
  mentions_.clear();
  for (std::uint32_t i = 0; i < code_->size; ++i) {
    inst_ = &function_->instructions[i];
    Operation& op = out_.operations_[code_->first + i];
    if (inst_->guard) {
      op.guard = register_slot(inst_->guard->reg);
      op.guard_negated = inst_->guard->negated;
    }
    decode(*inst_, op);
  }
  inst_ = nullptr;
  find_fenced_polls();
  find_signals();
  find_spin_loops();
  find_known_bases();
}

void Decoder::decode(const Inst& inst, Operation& op) {
  if (!takes_negated(inst.op()) && std::ranges::any_of(inst.operands, &Op::negated))
    fail("a negated predicate is not supported here");
  if (decode_memory_group(inst, op) || decode_async_group(inst, op) || decode_texture_group(inst, op) ||
      decode_control_group(inst, op))
    return;
  decode_lane(inst, op);
}

std::optional<LaneOp> Decoder::lane_op(const Inst& inst) const {
  const Op* first = inst.operands.empty() ? nullptr : &inst.operands.front();
  const bool named = first && first->kind == ptx::OperandKind::kRegister;
  try {
    return select_lane_op(inst, named ? ptx::bits(function_->registers[first->reg].type) : 0);
  } catch (const FormError& error) {
    throw InputError(program_.modules[function_->module].name, error.line(),
                     source_prefix() + error.message());
  }
}

void Decoder::decode_lane(const Inst& inst, Operation& op) {
  const auto lane = lane_op(inst);
  if (!lane) fail("this instruction is not supported");
  const unsigned written = ptx::destination_count(inst.form);
  std::vector<Slot> destinations, sources;
  for (std::size_t i = 0; i < inst.operands.size(); ++i)
    flatten(inst.operands[i], source_type(i), op, i < written ? destinations : sources);
  if (sources.size() < static_cast<std::size_t>(lane->sources)) fail("an operand is missing");
  destinations.resize(static_cast<std::size_t>(lane->destinations), Slot::none());
  sources.resize(static_cast<std::size_t>(lane->sources));
  set_operands(op, destinations, sources);
  op.handler = Handler::kLane;
  op.fn = lane->fn;
  op.slow_path = slow_path(inst.form);
  op.immediate = lane->immediate;
}

}  // namespace lockstep::exec
