#include <fmt/format.h>

#include "ptx/constant.hpp"
#include "ptx/declarations.hpp"

namespace lockstep::ptx {
namespace {

constexpr std::uint64_t kMaxInitialBytes = std::uint64_t{256} << 20;  // of a module

bool may_be_initialised(Type type) {
  switch (kind(type)) {
    case TypeKind::kUnsigned:
    case TypeKind::kSigned:
    case TypeKind::kBits:
      return bits(type) >= 8 && bits(type) <= 64;
    default:
      return type == Type::kF32 || type == Type::kF64;
  }
}

/// Writes the values of one initialiser into its variable. An element of a vector type is one more dimension.
class Initialiser {
 public:
  Initialiser(ParseState& state, Variable& variable)
      : state_(state), lexer_(state.lexer), variable_(variable), extents_(variable.dims) {
    if (variable.vector > 1) extents_.push_back(variable.vector);
  }

  void parse() {
    if (!may_be_initialised(variable_.type))
      lexer_.fail(fmt::format("variables of type .{} may not have an initialiser", name(variable_.type)));
    if (extents_.empty()) {
      const bool braces = lexer_.accept("{");
      value(0);
      if (braces) lexer_.expect("}");
    } else {
      level(0, 0);
    }
  }

 private:
  /// Values of one element of dimension `dim`.
  [[nodiscard]] std::uint64_t stride(std::size_t dim) const {
    std::uint64_t n = 1;
    for (std::size_t i = dim + 1; i < extents_.size(); ++i) n *= extents_[i];
    return n;
  }

  void level(std::size_t dim, std::uint64_t first) {
    lexer_.expect("{");
    const bool open = dim == 0 && variable_.unsized;
    const std::uint64_t step = stride(dim);
    std::uint64_t count = 0;
    if (!lexer_.accept("}")) {
      do {
        if (!open && count == extents_[dim])
          lexer_.fail(fmt::format("more than {} values for this dimension", extents_[dim]));
        if (dim + 1 == extents_.size()) {
          value(first + count);
        } else {
          level(dim + 1, first + count * step);
        }
        ++count;
      } while (lexer_.accept(","));
      if (!lexer_.accept("}")) lexer_.unexpected("',' or '}'");
    }
    if (open) variable_.dims[0] = count;
    if (open) variable_.unsized = false;
  }

  void value(std::uint64_t index) {
    const std::uint64_t size = bytes(variable_.type), offset = index * size;
    const Place at = lexer_.token().place;
    if (lexer_.token().kind == TokenKind::kIdentifier && lexer_.token().text != "WARP_SZ") {
      if (size < 4) lexer_.fail("an address needs elements of 4 or 8 bytes, or a mask");
      return symbol(offset, static_cast<std::uint8_t>(size), 0);
    }
    if (lexer_.token().kind == TokenKind::kInteger && lexer_.followed_by('(')) return masked(offset);
    const Constant constant = parse_constant(lexer_);
    Operand literal;
    literal.literal = constant.literal;
    literal.bits = constant.bits;
    const auto pattern = immediate_bits(literal, variable_.type);
    if (!pattern) lexer_.fail(at, fmt::format("this is no value of type .{}", name(variable_.type)));
    reserve(offset + size, at);
    for (std::uint64_t i = 0; i < size; ++i)
      variable_.initial[offset + i] = static_cast<std::uint8_t>(*pattern >> 8 * i);
  }

  /// "0xff00(name)": one byte of an address.
  void masked(std::uint64_t offset) {
    const Token mask = lexer_.take();
    std::uint8_t shift = 0;
    while (shift < 64 && mask.bits != std::uint64_t{0xff} << shift)
      shift = static_cast<std::uint8_t>(shift + 8);
    if (shift == 64 || bytes(variable_.type) != 1)
      lexer_.fail(mask.place, "expected a mask of one byte (0xFF, 0xFF00 ...) in an array of bytes");
    lexer_.expect("(");
    symbol(offset, 1, shift);
    lexer_.expect(")");
  }

  void symbol(std::uint64_t offset, std::uint8_t size, std::uint8_t shift) {
    Relocation r;
    r.offset = offset;
    r.bytes = size;
    r.shift = shift;
    Token name = lexer_.expect(TokenKind::kIdentifier, "a variable's or function's name");
    r.generic = name.text == "generic" && lexer_.token().is("(");
    if (r.generic) {
      lexer_.expect("(");
      name = lexer_.expect(TokenKind::kIdentifier, "a variable's name");
      addend(r);
      lexer_.expect(")");
    }
    r.symbol = state_.symbol(name.text, name.place);
    addend(r);
    reserve(offset + size, name.place);
    variable_.relocations.push_back(r);
  }

  void addend(Relocation& r) {
    while (lexer_.token().is("+") || lexer_.token().is("-")) {
      const bool minus = lexer_.take().text == "-";
      const Place at = lexer_.token().place;
      const Constant term = parse_term(lexer_);
      if (term.is_float()) lexer_.fail(at, "an offset is an integer");
      const std::uint64_t sum = static_cast<std::uint64_t>(r.addend) + (minus ? 0 - term.bits : term.bits);
      r.addend = static_cast<std::int64_t>(sum);
    }
  }

  /// Makes room for the variable's first `end` bytes.
  void reserve(std::uint64_t end, Place at) {
    if (end <= variable_.initial.size()) return;
    state_.initial_bytes += end - variable_.initial.size();
    if (end > kMaxInitialBytes || state_.initial_bytes > kMaxInitialBytes)
      lexer_.fail(at, "the initialisers of this module cover more than 256 MiB");
    variable_.initial.resize(end);
  }

  ParseState& state_;
  Lexer& lexer_;
  Variable& variable_;
  std::vector<std::uint64_t> extents_;
};

}  // namespace

void parse_initialiser(ParseState& state, Variable& variable) {
  (void)checked_size(state.lexer, {.type = variable.type, .vector = variable.vector}, variable.dims);
  Initialiser(state, variable).parse();
}

}  // namespace lockstep::ptx
