#include "exec/operand_decoder.hpp"

#include <fmt/format.h>

#include "ptx/printer.hpp"
#include "ptx/source_lines.hpp"
#include "util/error.hpp"

namespace lockstep::exec {

using ptx::OperandKind;
using ptx::Special;
using ptx::SymbolKind;

namespace {

/// The type of the registers that mov packs into a value of `whole`, or to which it unpacks one.
ptx::Type part_type(const ptx::Operand& operand, ptx::Type whole) {
  if (operand.kind != OperandKind::kVector || operand.elements.size() < 2) return whole;
  const std::size_t bits = ptx::bits(whole) / operand.elements.size();
  return bits == 64   ? ptx::Type::kB64
         : bits == 32 ? ptx::Type::kB32
         : bits == 16 ? ptx::Type::kB16
                      : ptx::Type::kB8;
}

bool changes(Special special) {
  switch (special) {
    case Special::kClock:
    case Special::kClockHi:
    case Special::kClock64:
    case Special::kGlobaltimer:
    case Special::kGlobaltimerLo:
    case Special::kGlobaltimerHi:
      return true;
    default:
      return false;
  }
}

}  // namespace

void OperandDecoder::enter_function(std::uint32_t index) {
  code_ = &out_.functions[index];
  layout_ = &layout_of_kernel_.functions[index];
  function_ = code_->source;
  inst_ = nullptr;
}

void OperandDecoder::fail(const std::string& message) const {
  const std::string& file = program_.modules[function_->module].name;
  throw InputError(file, inst_->place.line,
                   fmt::format("{}{}: {}", source_prefix(), ptx::print(inst_->form), message));
}

std::string OperandDecoder::source_prefix() const {
  const std::string text =
      ptx::source_text(inst_->source, *function_, program_.modules[function_->module].files);
  return text.empty() ? text : text + ": ";
}

OperandRef OperandDecoder::constant(std::uint64_t bits) {
  const auto [found, fresh] = constants_.try_emplace(bits, static_cast<std::uint32_t>(out_.constants.size()));
  if (fresh) {
    LaneValues& values = out_.constants.emplace_back();
    for (auto& lane : values.lane) lane = bits;
  }
  return OperandRef::make(Home::kConstant, found->second);
}

OperandRef OperandDecoder::register_operand(ptx::RegisterId reg) const {
  return OperandRef::make(Home::kRegister, layout_->registers[reg]);
}

OperandRef OperandDecoder::special_operand(const ptx::Operand& operand, Operation& op) {
  if (changes(operand.special)) op.reads_clock = true;
  const auto [found, fresh] =
      fixed_.try_emplace({operand.special, operand.index}, static_cast<std::uint32_t>(out_.fixed.size()));
  if (fresh) out_.fixed.push_back({operand.special, operand.index});
  return OperandRef::make(Home::kFixed, found->second);
}

OperandDecoder::SymbolPlace OperandDecoder::place_of(ptx::Symbol symbol) const {
  const bool entry = function_->entry;
  switch (symbol.kind) {
    case SymbolKind::kFunction:
      return {StateSpace::kGlobal, code_address(symbol.id)};
    case SymbolKind::kParameter:
      return {entry ? StateSpace::kParameter : StateSpace::kFrame, layout_->parameters[symbol.id]};
    case SymbolKind::kResult:
      return {StateSpace::kFrame, layout_->results[symbol.id]};
    case SymbolKind::kLocal: {
      const ptx::Variable& v = function_->variables[symbol.id];
      if (v.space == ptx::Space::kShared) return {StateSpace::kShared, layout_->variables[symbol.id]};
      if (v.space == ptx::Space::kLocal || v.space == ptx::Space::kParam)
        return {StateSpace::kFrame, layout_->variables[symbol.id]};
      fail(fmt::format("a .{} variable inside a function is not supported", ptx::name(v.space)));
    }
    case SymbolKind::kVariable:
      break;
  }
  const ptx::Variable& v = program_.variables[symbol.id];
  if (v.space == ptx::Space::kShared) return {StateSpace::kShared, layout_of_kernel_.variables[symbol.id]};
  if (v.space == ptx::Space::kLocal) return {StateSpace::kLocal, layout_of_kernel_.variables[symbol.id]};
  return {StateSpace::kGlobal, image_.address(symbol.id)};
}

/// The entry's frame begins at 0; that of a function is known when it is called.
OperandRef OperandDecoder::frame_address(std::uint32_t offset) {
  if (function_->entry) return constant(offset);
  const auto [found, fresh] = layout_->address_rows.try_emplace(offset, code_->rows);
  if (fresh) code_->addresses.emplace_back(code_->rows++, offset);
  return OperandRef::make(Home::kRegister, found->second);
}

OperandRef OperandDecoder::symbol_operand(const ptx::Operand& operand) {
  const SymbolPlace place = place_of(operand.symbol);
  const std::uint64_t at = place.at + static_cast<std::uint64_t>(operand.offset);
  return place.state_space == StateSpace::kFrame ? frame_address(static_cast<std::uint32_t>(at))
                                                 : constant(at);
}

OperandRef OperandDecoder::immediate_operand(const ptx::Operand& operand, ptx::Type type) {
  const bool integer = operand.literal == ptx::Literal::kSigned || operand.literal == ptx::Literal::kUnsigned;
  if (integer && !ptx::is_float(type)) return constant(operand.bits);
  const auto bits = ptx::immediate_bits(operand, type);
  if (!bits) fail(fmt::format("this literal cannot be a .{}", ptx::name(type)));
  return constant(*bits);
}

/// Values of 128 bits take two rows, which registers of that width have and nothing else has.
void OperandDecoder::check_width(const ptx::Operand& operand, ptx::Type type) const {
  if (ptx::bits(type) > 128) fail(fmt::format("values of .{} are not supported", ptx::name(type)));
  const bool wide =
      operand.kind == OperandKind::kRegister && ptx::bits(function_->registers[operand.reg].type) > 64;
  if (ptx::bits(type) <= 64) {
    if (wide) fail(fmt::format("a value of .{} in a register of .b128 is not supported", ptx::name(type)));
  } else if (!wide && operand.kind != OperandKind::kSink) {
    fail(fmt::format("a value of .{} is expected to be a register of .b128", ptx::name(type)));
  }
}

OperandRef OperandDecoder::operand_of(const ptx::Operand& operand, ptx::Type type, Operation& op) {
  check_width(operand, type);
  switch (operand.kind) {
    case OperandKind::kRegister:
      return register_operand(operand.reg);
    case OperandKind::kImmediate:
      return immediate_operand(operand, type);
    case OperandKind::kSpecial:
      return special_operand(operand, op);
    case OperandKind::kSymbol:
      return symbol_operand(operand);
    case OperandKind::kSink:
      return OperandRef::none();
    default:
      fail("an operand of this kind is not supported here");
  }
}

void OperandDecoder::flatten(const ptx::Operand& operand, ptx::Type type, Operation& op,
                             std::vector<OperandRef>& to) {
  if (operand.kind == OperandKind::kVector || operand.kind == OperandKind::kPair) {
    for (const ptx::Operand& element : operand.elements) flatten(element, type, op, to);
    return;
  }
  to.push_back(operand_of(operand, type, op));
}

/// The type of a literal at this place: the source's type, apart from the operands that always have their
/// own.
ptx::Type OperandDecoder::source_type(std::size_t operand) const {
  const ptx::Form& form = inst_->form;
  switch (form.op) {
    case ptx::Opcode::kMov:
      return part_type(inst_->operands[operand], form.type());
    case ptx::Opcode::kCvt:
    case ptx::Opcode::kSet:
      return form.last_type();
    case ptx::Opcode::kSlct:
      return operand == 3 ? form.last_type() : form.type();
    case ptx::Opcode::kRedux:
      return operand == 2 ? ptx::Type::kU32 : form.type();  // the member mask
    case ptx::Opcode::kMma:
      return operand > 3 ? ptx::Type::kU32 : form.type();  // sparsity: metadata, selector
    default:
      return form.type();
  }
}

void OperandDecoder::set_operands(Operation& op, const std::vector<OperandRef>& destinations,
                                  const std::vector<OperandRef>& sources) {
  if (destinations.size() > kMaxLaneDestinations || sources.size() > kMaxLaneSources)
    fail("too many operands");
  op.operands = static_cast<std::uint32_t>(out_.operands.size());
  op.destinations = static_cast<std::uint8_t>(destinations.size());
  op.sources = static_cast<std::uint8_t>(sources.size());
  out_.operands.insert(out_.operands.end(), destinations.begin(), destinations.end());
  out_.operands.insert(out_.operands.end(), sources.begin(), sources.end());
}

std::uint32_t OperandDecoder::add_memory(const MemoryForm& form) {
  out_.memory.push_back(form);
  return static_cast<std::uint32_t>(out_.memory.size() - 1);
}

void OperandDecoder::set_elements(MemoryForm& form, ptx::Type type, std::size_t count) const {
  if (ptx::bytes(type) * count > kMaxAccessBytes)
    fail(fmt::format("an access of {} bytes; {} are allowed", ptx::bytes(type) * count, kMaxAccessBytes));
  form.bytes = static_cast<std::uint8_t>(ptx::bytes(type));
  form.count = static_cast<std::uint8_t>(count);
}

MemoryForm OperandDecoder::address_form(const ptx::Operand& address, ptx::Space space) {
  if (address.kind != OperandKind::kAddress) fail("expected an address in brackets");
  MemoryForm form;
  form.offset = address.offset;
  if (address.base == ptx::AddressBase::kSymbol) {
    const SymbolPlace place = place_of(address.symbol);
    form.state_space = place.state_space;
    form.offset += static_cast<std::int64_t>(place.at);
    return form;
  }
  if (address.base == ptx::AddressBase::kRegister) form.base = register_operand(address.reg);
  switch (space) {
    case ptx::Space::kGlobal:
    case ptx::Space::kConst:
      form.state_space = StateSpace::kGlobal;
      break;
    case ptx::Space::kShared:
    case ptx::Space::kSharedCta:
    case ptx::Space::kSharedCluster:
      form.state_space = StateSpace::kShared;
      break;
    case ptx::Space::kLocal:
      form.state_space = StateSpace::kLocal;
      break;
    case ptx::Space::kParam:
    case ptx::Space::kParamEntry:
    case ptx::Space::kParamFunc:
      form.state_space = function_->entry ? StateSpace::kParameter : StateSpace::kLocal;
      break;
    case ptx::Space::kGeneric:
      form.state_space = StateSpace::kGeneric;
      break;
    default:
      fail(fmt::format("state space .{} is not supported", ptx::name(space)));
  }
  return form;
}

}  // namespace lockstep::exec
