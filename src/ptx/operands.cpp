#include "ptx/operands.hpp"

#include <fmt/format.h>

#include "ptx/constant.hpp"

namespace lockstep::ptx {
namespace {

constexpr std::size_t kMaxElements = 256;  // the longest: 128 registers of a tcgen05.ld, a call's arguments

Operand of_kind(OperandKind kind) {
  Operand operand;
  operand.kind = kind;
  return operand;
}

Operand register_operand(RegisterId id) {
  Operand operand = of_kind(OperandKind::kRegister);
  operand.reg = id;
  return operand;
}

Operand immediate(Constant value) {
  Operand operand = of_kind(OperandKind::kImmediate);
  operand.literal = value.literal;
  operand.bits = value.bits;
  return operand;
}

/// .x .y .z .w or .r .g .b .a
std::optional<unsigned> component(std::string_view word) {
  if (word.size() != 1) return std::nullopt;
  const std::size_t xyzw = std::string_view("xyzw").find(word[0]),
                    rgba = std::string_view("rgba").find(word[0]);
  if (xyzw != std::string_view::npos) return static_cast<unsigned>(xyzw);
  if (rgba != std::string_view::npos) return static_cast<unsigned>(rgba);
  return std::nullopt;
}

/// .b0 to .b3, .h0 and .h1; of the SIMD video instructions .b7654, .h32 ...
std::optional<Selector> selector(std::string_view word) {
  Selector s;
  if (word.size() < 2 || word.size() > 5 || (word[0] != 'b' && word[0] != 'h')) return std::nullopt;
  s.unit = word[0] == 'b' ? Selector::Unit::kByte : Selector::Unit::kHalf;
  if (word[0] == 'h' && word.size() > 3) return std::nullopt;
  for (const char c : word.substr(1)) {
    if (c < '0' || c > (word[0] == 'b' ? '7' : '3')) return std::nullopt;
    s.parts[s.count++] = static_cast<std::uint8_t>(c - '0');
  }
  return s;
}

}  // namespace

RegisterId OperandParser::predicate() {
  const Token token = lexer_.token();
  if (token.kind != TokenKind::kIdentifier) lexer_.unexpected("a predicate register");
  const auto binding = names_.find(token.text);
  if (!binding || binding->kind != Binding::Kind::kRegister || binding->vector != 1 ||
      names_.type(binding->id) != Type::kPred)
    lexer_.unexpected("a predicate register");
  lexer_.advance();
  return binding->id;
}

void OperandParser::add_selector(Operand& operand) {
  if (lexer_.token().kind != TokenKind::kDotted) return;
  const auto found = selector(lexer_.token().text);
  if (!found) lexer_.unexpected("a part of the register (.b0, .h1 ...), ',' or ';'");
  operand.selector = *found;
  lexer_.advance();
}

Operand OperandParser::of_register(std::string_view name, const Binding& binding) {
  if (binding.vector == 1) {
    Operand operand = register_operand(binding.id);
    add_selector(operand);
    return operand;
  }
  if (lexer_.token().kind == TokenKind::kDotted) {
    const auto part = component(lexer_.token().text);
    if (!part || *part >= binding.vector)
      lexer_.unexpected(fmt::format("a component of this register of {}", binding.vector));
    lexer_.advance();
    return register_operand(names_.component(name, binding, *part));
  }
  Operand operand = of_kind(OperandKind::kVector);
  for (unsigned i = 0; i < binding.vector; ++i)
    operand.elements.push_back(register_operand(names_.component(name, binding, i)));
  return operand;
}

Operand OperandParser::of_symbol(Symbol symbol) {
  Operand operand = of_kind(OperandKind::kSymbol);
  operand.symbol = symbol;
  add_offset(operand);
  return operand;
}

Operand OperandParser::bound(std::string_view name, const Binding& binding) {
  Operand operand;
  operand.index = binding.id;
  switch (binding.kind) {
    case Binding::Kind::kRegister:
      return of_register(name, binding);
    case Binding::Kind::kSymbol:
      return of_symbol({binding.symbol, binding.id});
    case Binding::Kind::kBranchTable:
      operand.kind = OperandKind::kBranchTable;
      return operand;
    case Binding::Kind::kCallTable:
      operand.kind = OperandKind::kCallTable;
      return operand;
    default:
      operand.kind = OperandKind::kPrototype;
      return operand;
  }
}

Operand OperandParser::special(const SpecialName& found) {
  Operand operand = of_kind(OperandKind::kSpecial);
  operand.special = found.special;
  operand.index = found.index;
  if (kind(found.special) != SpecialKind::kVector) return operand;
  if (lexer_.token().kind == TokenKind::kDotted) {
    const auto part = component(lexer_.token().text);
    if (!part) lexer_.unexpected("a component (.x, .y, .z, .w)");
    lexer_.advance();
    operand.index = *part;
    return operand;
  }
  Operand whole = of_kind(OperandKind::kVector);
  for (; operand.index < 4; ++operand.index) whole.elements.push_back(operand);
  return whole;
}

Operand OperandParser::named() {
  const Token token = lexer_.take();
  if (token.text == "_") return of_kind(OperandKind::kSink);
  if (const auto binding = names_.find(token.text)) return bound(token.text, *binding);
  if (token.text[0] == '%') {
    if (const auto found = find_special(token.text)) return special(*found);
    if (!state_.names.contains(token.text))
      lexer_.fail(token.place, "unknown register " + quote(token.text) + "; expected one that is declared");
  }
  return of_symbol(state_.symbol(token.text, token.place));
}

void OperandParser::add_offset(Operand& operand) {
  while (lexer_.token().is("+") || lexer_.token().is("-")) {
    const bool minus = lexer_.take().text == "-";
    const Place at = lexer_.token().place;
    const Constant term = parse_term(lexer_);
    if (term.is_float()) lexer_.fail(at, "an offset is an integer");
    const std::uint64_t sum =
        static_cast<std::uint64_t>(operand.offset) + (minus ? 0 - term.bits : term.bits);
    operand.offset = static_cast<std::int64_t>(sum);
  }
}

void OperandParser::add_base(Operand& address) {
  if (lexer_.token().kind != TokenKind::kIdentifier || begins_constant(lexer_)) {
    if (!begins_constant(lexer_)) lexer_.unexpected("an address: a register, a name or a number");
    const Place at = lexer_.token().place;
    const Constant value = parse_term(lexer_);
    if (value.is_float()) lexer_.fail(at, "an address is an integer");
    address.offset = value.as_signed();
    return;
  }
  const Place at = lexer_.token().place;
  const Operand base = named();
  if (base.kind == OperandKind::kRegister && base.selector == Selector{}) {
    address.base = AddressBase::kRegister;
    address.reg = base.reg;
  } else if (base.kind == OperandKind::kSymbol) {
    address.base = AddressBase::kSymbol;
    address.symbol = base.symbol;
    address.offset = base.offset;
  } else {
    lexer_.fail(at, "this cannot be an address; expected a register, a variable or a number");
  }
}

Operand OperandParser::address() {
  lexer_.expect("[");
  Operand address = of_kind(OperandKind::kAddress);
  add_base(address);
  add_offset(address);
  if (lexer_.accept("]")) return address;
  Operand coordinates = of_kind(OperandKind::kCoordinates);
  coordinates.elements.push_back(std::move(address));
  while (lexer_.accept(",")) {
    if (coordinates.elements.size() == kMaxElements) lexer_.fail("too many operands in these brackets");
    coordinates.elements.push_back(lexer_.token().is("{") ? vector() : element());
  }
  if (!lexer_.accept("]")) lexer_.unexpected("'+', '-', ',' or ']'");
  return coordinates;
}

Operand OperandParser::vector() {
  lexer_.expect("{");
  Operand operand = of_kind(OperandKind::kVector);
  do {
    if (operand.elements.size() == kMaxElements) lexer_.fail("too many elements in this vector");
    operand.elements.push_back(element());
  } while (lexer_.accept(","));
  if (!lexer_.accept("}")) lexer_.unexpected("',' or '}'");
  return operand;
}

/// Whether '-' and a register are next, and not a negative constant.
bool OperandParser::at_negated_register() const {
  if (!negation_ || !lexer_.token().is("-")) return false;
  Lexer ahead = lexer_;
  ahead.advance();
  return ahead.token().kind == TokenKind::kIdentifier && !begins_constant(ahead);
}

Operand OperandParser::negated_register() {
  lexer_.expect("-");
  const Place at = lexer_.token().place;
  Operand operand = named();
  if (operand.kind != OperandKind::kRegister) lexer_.fail(at, "expected a register behind '-'");
  operand.negated = true;
  return operand;
}

Operand OperandParser::element() {
  if (at_negated_register()) return negated_register();
  if (begins_constant(lexer_)) return immediate(parse_constant(lexer_));
  if (lexer_.token().kind == TokenKind::kIdentifier) return named();
  if (!lexer_.accept("!")) lexer_.unexpected("an operand");
  if (begins_constant(lexer_)) {
    const Constant value = parse_constant(lexer_);
    return immediate({Literal::kSigned, value.bits == 0});
  }
  Operand operand = register_operand(predicate());
  operand.negated = true;
  return operand;
}

Operand OperandParser::whole() {
  if (lexer_.token().is("[")) return address();
  if (lexer_.token().is("{")) return vector();
  return element();
}

Operand OperandParser::operand() {
  Operand first = whole();
  if (!lexer_.accept("|")) return first;
  Operand pair = of_kind(OperandKind::kPair);
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(element());
  return pair;
}

Operand OperandParser::list() {
  lexer_.expect("(");
  Operand operand = of_kind(OperandKind::kList);
  if (lexer_.accept(")")) return operand;
  do {
    if (operand.elements.size() == kMaxElements) lexer_.fail("too many arguments");
    operand.elements.push_back(element());
  } while (lexer_.accept(","));
  if (!lexer_.accept(")")) lexer_.unexpected("',' or ')'");
  return operand;
}

}  // namespace lockstep::ptx
