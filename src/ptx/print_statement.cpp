#include "ptx/print_statement.hpp"

#include <fmt/format.h>

#include <iterator>

#include "ptx/printer.hpp"

namespace lockstep::ptx {

std::string offset_text(std::int64_t offset) { return offset == 0 ? "" : fmt::format("+{}", offset); }

std::string literal_text(Literal literal, std::uint64_t bits) {
  switch (literal) {
    case Literal::kFloat32:
      return fmt::format("0f{:08X}", bits);
    case Literal::kFloat64:
      return fmt::format("0d{:016X}", bits);
    case Literal::kUnsigned:
      return fmt::format("{}U", bits);
    default:
      // The smallest number has no literal of its own.
      if (bits == std::uint64_t{1} << 63) return "(-9223372036854775807-1)";
      return fmt::format("{}", static_cast<std::int64_t>(bits));
  }
}

const std::string& StatementPrinter::symbol(Symbol s) const {
  switch (s.kind) {
    case SymbolKind::kFunction:
      return functions_[s.id].name;
    case SymbolKind::kLocal:
      return function_->variables[s.id].name;
    case SymbolKind::kParameter:
      return function_->parameters[s.id].name;
    case SymbolKind::kResult:
      return function_->results[s.id].name;
    default:
      return variables_[s.id].name;
  }
}

void StatementPrinter::instruction(const Instruction& i) {
  if (i.guard)
    fmt::format_to(std::back_inserter(text_), "@{}{} ", i.guard->negated ? "!" : "",
                   function_->registers[i.guard->reg].name);
  text_ += print(i.form);
  if (i.op() == Opcode::kCall) {
    call(i);
  } else {
    for (std::size_t k = 0; k < i.operands.size(); ++k) {
      text_ += k ? ", " : " ";
      operand(i.operands[k]);
    }
  }
  text_ += ';';
}

void StatementPrinter::call(const Instruction& i) {
  text_ += ' ';
  if (!i.operands[1].elements.empty()) {
    operand(i.operands[1]);
    text_ += ", ";
  }
  operand(i.operands[0]);
  text_ += ", ";
  operand(i.operands[2]);
  if (i.operands.size() == 4) {
    text_ += ", ";
    operand(i.operands[3]);
  }
}

void StatementPrinter::elements(const Operand& o, std::string_view open, std::string_view separator,
                                std::string_view close) {
  text_ += open;
  for (std::size_t i = 0; i < o.elements.size(); ++i) {
    if (i) text_ += separator;
    operand(o.elements[i]);
  }
  text_ += close;
}

void StatementPrinter::register_operand(const Operand& o) {
  const Register& reg = function_->registers[o.reg];
  if (o.negated) text_ += reg.type == Type::kPred ? '!' : '-';
  text_ += reg.name;
  if (o.selector.unit == Selector::Unit::kNone) return;
  text_ += o.selector.unit == Selector::Unit::kByte ? ".b" : ".h";
  for (unsigned i = 0; i < o.selector.count; ++i)
    fmt::format_to(std::back_inserter(text_), "{}", o.selector.parts[i]);
}

void StatementPrinter::special(const Operand& o) {
  text_ += name(o.special);
  if (kind(o.special) == SpecialKind::kVector)
    fmt::format_to(std::back_inserter(text_), ".{}", "xyzw"[o.index]);
  if (kind(o.special) == SpecialKind::kIndexed) fmt::format_to(std::back_inserter(text_), "{}", o.index);
}

void StatementPrinter::address(const Operand& o) {
  if (o.base == AddressBase::kNone) {
    text_ += literal_text(Literal::kSigned, static_cast<std::uint64_t>(o.offset));
  } else {
    text_ += o.base == AddressBase::kRegister ? function_->registers[o.reg].name : symbol(o.symbol);
    text_ += offset_text(o.offset);
  }
}

void StatementPrinter::coordinates(const Operand& o) {
  text_ += '[';
  address(o.elements[0]);
  for (std::size_t i = 1; i < o.elements.size(); ++i) {
    text_ += ", ";
    operand(o.elements[i]);
  }
  text_ += ']';
}

void StatementPrinter::operand(const Operand& o) {
  switch (o.kind) {
    case OperandKind::kRegister:
      return register_operand(o);
    case OperandKind::kImmediate:
      text_ += literal_text(o.literal, o.bits);
      return;
    case OperandKind::kSpecial:
      return special(o);
    case OperandKind::kAddress:
      text_ += '[';
      address(o);
      text_ += ']';
      return;
    case OperandKind::kSymbol:
      text_ += symbol(o.symbol) + offset_text(o.offset);
      return;
    case OperandKind::kVector:
      return elements(o, "{", ", ", "}");
    case OperandKind::kPair:
      return elements(o, "", "|", "");
    case OperandKind::kList:
      return elements(o, "(", ", ", ")");
    case OperandKind::kCoordinates:
      return coordinates(o);
    default:
      text_ += named(o);
  }
}

std::string StatementPrinter::named(const Operand& o) const {
  switch (o.kind) {
    case OperandKind::kLabel:
      return function_->labels[o.index].name;
    case OperandKind::kBranchTable:
      return function_->branch_tables[o.index].name;
    case OperandKind::kCallTable:
      return function_->call_tables[o.index].name;
    case OperandKind::kPrototype:
      return function_->prototypes[o.index].name;
    default:
      return "_";
  }
}

std::string print(const Form& form) {
  std::string text(name(form.op));
  std::size_t type = 0, space = 0, mod = 0;
  for (const Form::Word word : form.order) {
    text += '.';
    switch (word) {
      case Form::Word::kType:
        text += name(form.types[type++]);
        break;
      case Form::Word::kSpace:
        text += name(form.spaces[space++]);
        break;
      case Form::Word::kMod:
        text += name(form.mods[mod++]);
        break;
      case Form::Word::kVector:
        text += fmt::format("v{}", form.vector);
        break;
      case Form::Word::kShape:
        text += fmt::format("m{}n{}", form.shape.m, form.shape.n);
        if (form.shape.k) text += fmt::format("k{}", form.shape.k);
        break;
    }
  }
  return text;
}

}  // namespace lockstep::ptx
