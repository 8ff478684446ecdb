#include "ptx/declarations.hpp"

#include <fmt/format.h>

#include <bit>

#include "ptx/constant.hpp"

namespace lockstep::ptx {
namespace {

constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxAlign = std::uint64_t{1} << 16;
constexpr std::size_t kMaxDims = 16;
constexpr std::size_t kMaxParameters =
    4096;  // their size is limited to 32,764 bytes ("PTX ISA 9.0", section 5.1.6.1)

std::uint32_t parse_align(Lexer& lexer) {
  const Place at = lexer.token().place;
  const std::uint64_t align = lexer.expect_integer("an alignment in bytes", kMaxAlign);
  if (!std::has_single_bit(align)) lexer.fail(at, "an alignment is a power of two");
  return static_cast<std::uint32_t>(align);
}

/// ".ptr", ".ptr .global .align 4": the ".ptr" is taken.
void parse_pointer(Lexer& lexer, TypeWords& words) {
  words.pointer = true;
  if (lexer.token().kind == TokenKind::kDotted) {
    if (const auto space = find_space(lexer.token().text)) {
      words.pointer_space = *space;
      lexer.advance();
    }
  }
  if (lexer.accept_dotted("align")) words.pointer_align = parse_align(lexer);
}

struct WrittenWords {
  TypeWords words;
  bool type = false, align = false;
};

void parse_type_word(Lexer& lexer, WrittenWords& written) {
  const Token token = lexer.take();
  TypeWords& words = written.words;
  if (token.text == "align") {
    words.align = parse_align(lexer);
    written.align = true;
  } else if (token.text == "v2" || token.text == "v4" || token.text == "v8") {
    words.vector = static_cast<std::uint8_t>(token.text[1] - '0');
  } else if (token.text == "ptr") {
    parse_pointer(lexer, words);
  } else if (token.text == "attribute") {
    const Attributes attributes = parse_attributes(lexer);
    words.managed |= attributes.managed;
    words.unified |= attributes.unified;
  } else if (const auto type = find_type(token.text); type && !written.type) {
    words.type = *type;
    written.type = true;
  } else {
    lexer.fail(token.place, fmt::format("found {}; expected a type, .align, .v2, .v4 or a name",
                                        quote("." + std::string(token.text))));
  }
}

/// "[4][2]", also "[]" for the first one. An open dimension is given as 0 and sets `unsized`.
std::vector<std::uint64_t> parse_dims(Lexer& lexer, bool& unsized) {
  std::vector<std::uint64_t> dims;
  unsized = false;
  while (lexer.accept("[")) {
    if (dims.size() == kMaxDims) lexer.fail("an array of more than 16 dimensions");
    if (lexer.accept("]")) {
      if (!dims.empty()) lexer.fail("only the first dimension may be left open");
      unsized = true;
      dims.push_back(0);
      continue;
    }
    const Place at = lexer.token().place;
    const Constant size = parse_constant(lexer);
    if (size.is_float() || (size.literal == Literal::kSigned && size.as_signed() < 0) || size.bits > kMaxSize)
      lexer.fail(at, "an array's dimension is an integer from 0 to 2^40");
    dims.push_back(size.bits);
    lexer.expect("]");
  }
  return dims;
}

Variable parse_variable(ParseState& state, Space space, Linkage linkage, const TypeWords& words, Token name) {
  Lexer& lexer = state.lexer;
  Variable v;
  v.name = name.text;
  v.place = name.place;
  v.linkage = linkage;
  v.space = space;
  v.type = words.type;
  v.vector = words.vector;
  v.managed = words.managed;
  v.unified = words.unified;
  v.align = words.align;
  v.dims = parse_dims(lexer, v.unsized);
  if (lexer.token().is("=")) {
    if (space != Space::kGlobal && space != Space::kConst)
      lexer.fail("only .global and .const variables may have an initialiser");
    if (linkage == Linkage::kExtern) lexer.fail("an .extern variable may not have an initialiser");
    lexer.advance();
    parse_initialiser(state, v);
  } else if (v.unsized && linkage != Linkage::kExtern) {
    lexer.fail("an array without a size needs an initialiser or .extern");
  }
  v.size = checked_size(lexer, words, v.dims);
  return v;
}

Space parse_variable_space(Lexer& lexer) {
  const Token token = lexer.token();
  const auto space = token.kind == TokenKind::kDotted ? find_space(token.text) : std::nullopt;
  if (!space || *space == Space::kReg || *space == Space::kSreg) lexer.unexpected("a state space");
  lexer.advance();
  return *space == Space::kSharedCta ? Space::kShared : *space;
}

NamedParameter parse_parameter(ParseState& state) {
  Lexer& lexer = state.lexer;
  const bool in_register = lexer.token().is_dotted("reg");
  if (!in_register && !lexer.token().is_dotted("param")) lexer.unexpected(".param or .reg");
  lexer.advance();
  const TypeWords words = parse_type_words(lexer);
  const Token name = lexer.expect(TokenKind::kIdentifier, "a parameter's name");
  bool unsized = false;
  const std::vector<std::uint64_t> dims = parse_dims(lexer, unsized);
  Parameter p;
  p.name = name.text;
  p.type = words.type;
  p.vector = words.vector;
  p.array = !dims.empty();
  p.in_register = in_register;
  p.pointer = words.pointer;
  p.pointer_space = words.pointer_space;
  p.pointer_align = words.pointer_align;
  p.align = words.align;
  p.size = checked_size(lexer, words, dims);
  return {std::move(p), name.text};
}

}  // namespace

Attributes parse_attributes(Lexer& lexer) {
  Attributes attributes;
  lexer.expect("(");
  do {
    if (lexer.accept_dotted("managed")) {
      attributes.managed = true;
    } else if (lexer.accept_dotted("unified")) {
      attributes.unified = true;
      lexer.expect("(");
      lexer.expect(TokenKind::kInteger, "the first half of a 128-bit identifier");
      lexer.expect(",");
      lexer.expect(TokenKind::kInteger, "the second half of a 128-bit identifier");
      lexer.expect(")");
    } else {
      lexer.unexpected(".managed or .unified");
    }
  } while (lexer.accept(","));
  lexer.expect(")");
  return attributes;
}

TypeWords parse_type_words(Lexer& lexer) {
  WrittenWords written;
  const Place at = lexer.token().place;
  while (lexer.token().kind == TokenKind::kDotted) parse_type_word(lexer, written);
  if (!written.type) lexer.fail(at, "a type is missing in this declaration");
  TypeWords words = written.words;
  if (!written.align) words.align = bytes(words.type) * words.vector;
  return words;
}

std::uint64_t checked_size(const Lexer& lexer, const TypeWords& words,
                           const std::vector<std::uint64_t>& dims) {
  std::uint64_t size = std::uint64_t{bytes(words.type)} * words.vector;
  for (const std::uint64_t dim : dims) {
    if (dim != 0 && size > kMaxSize / dim) lexer.fail("this array has more than 2^40 bytes");
    size *= dim;
  }
  return size;
}

std::vector<NamedVariable> parse_variables(ParseState& state, Linkage linkage) {
  Lexer& lexer = state.lexer;
  const Space space = parse_variable_space(lexer);
  const TypeWords words = parse_type_words(lexer);
  if (words.type == Type::kPred) lexer.fail("predicates live only in registers");
  if (words.pointer) lexer.fail(".ptr belongs to kernel parameters");
  if (words.managed && space != Space::kGlobal) lexer.fail("only .global variables may be managed");
  std::vector<NamedVariable> variables;
  do {
    const Token name = lexer.expect(TokenKind::kIdentifier, "a variable's name");
    variables.push_back({parse_variable(state, space, linkage, words, name), name.text});
  } while (lexer.accept(","));
  lexer.expect(";");
  return variables;
}

std::vector<NamedParameter> parse_parameters(ParseState& state) {
  Lexer& lexer = state.lexer;
  lexer.expect("(");
  std::vector<NamedParameter> parameters;
  if (lexer.accept(")")) return parameters;
  std::uint64_t offset = 0;
  do {
    if (parameters.size() == kMaxParameters) lexer.fail("more than 4096 parameters");
    parameters.push_back(parse_parameter(state));
    Parameter& p = parameters.back().parameter;
    p.offset = (offset + p.align - 1) / p.align * p.align;
    offset = p.offset + p.size;
  } while (lexer.accept(","));
  lexer.expect(")");
  return parameters;
}

}  // namespace lockstep::ptx
