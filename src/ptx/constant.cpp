#include "ptx/constant.hpp"

#include <bit>
#include <limits>

#include "util/types.hpp"

namespace lockstep::ptx {
namespace {

constexpr unsigned kMaxExpressionNesting = 64;
constexpr int kTermPrecedence = 10;

struct Operator {
  std::string_view text;
  int precedence;
};
constexpr Operator kOperators[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},  {"==", 6},
                                   {"!=", 6}, {"<", 7},  {"<=", 7}, {">", 7},  {">=", 7}, {"<<", 8},
                                   {">>", 8}, {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

double value_of(Constant c) {
  switch (c.literal) {
    case Literal::kFloat32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(c.bits));
    case Literal::kFloat64:
      return std::bit_cast<double>(c.bits);
    case Literal::kUnsigned:
      return static_cast<double>(c.bits);
    default:
      return static_cast<double>(c.as_signed());
  }
}

Constant from(double value) { return {Literal::kFloat64, std::bit_cast<std::uint64_t>(value)}; }
Constant from(bool value) { return {Literal::kSigned, value}; }
bool is_true(Constant c) { return c.is_float() ? value_of(c) != 0 : c.bits != 0; }

template <class T>
bool compare(std::string_view op, T a, T b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  return a >= b;
}

bool is_comparison(std::string_view op) {
  return op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=";
}

/// The ISA does not define counts of 64 and more; ptxas uses their low six bits.
std::uint64_t shift(std::string_view op, Constant a, std::uint64_t count) {
  const std::uint64_t by = count % 64;
  if (op == "<<") return a.bits << by;
  if (a.literal == Literal::kUnsigned) return a.bits >> by;
  return static_cast<std::uint64_t>(a.as_signed() >> by);
}

class Expression {
 public:
  explicit Expression(Lexer& lexer) : lexer_(lexer) {}

  Constant conditional() {
    const Level level(*this);
    const Constant condition = binary(1);
    if (!lexer_.accept("?")) return condition;
    const Constant yes = conditional();
    lexer_.expect(":");
    const Constant no = conditional();
    return is_true(condition) ? yes : no;
  }

  Constant binary(int least) {
    Constant left = unary();
    for (;;) {
      const Operator* const op = in_hand();
      if (!op || op->precedence < least) return left;
      const Place at = lexer_.token().place;
      lexer_.advance();
      const Level level(*this);
      left = apply(op->text, left, binary(op->precedence + 1), at);
    }
  }

 private:
  /// Counts how deep the recursion is.
  struct Level {
    explicit Level(Expression& e) : expression(e) {
      if (++e.nesting_ > kMaxExpressionNesting)
        e.lexer_.fail("this constant expression is nested too deeply (64 levels)");
    }
    ~Level() { --expression.nesting_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Expression& expression;
  };

  [[nodiscard]] const Operator* in_hand() const {
    if (lexer_.token().kind != TokenKind::kPunctuation) return nullptr;
    for (const Operator& op : kOperators) {
      if (op.text == lexer_.token().text) return &op;
    }
    return nullptr;
  }

  Constant unary() {
    const Token token = lexer_.token();
    for (const std::string_view op : {"-", "+", "~", "!"}) {
      if (!token.is(op)) continue;
      lexer_.advance();
      const Level level(*this);
      return apply(op, unary(), token.place);
    }
    return primary();
  }

  Constant primary() {
    if (lexer_.token().kind == TokenKind::kDotted && lexer_.token().text[0] >= '0' &&
        lexer_.token().text[0] <= '9')
      lexer_.reread_as_number();
    if (lexer_.accept("(")) {
      if (lexer_.token().kind == TokenKind::kDotted) return cast();
      const Constant inner = conditional();
      lexer_.expect(")");
      return inner;
    }
    const Token token = lexer_.token();
    if (token.kind == TokenKind::kIdentifier && token.text == "WARP_SZ") {
      lexer_.advance();
      return {Literal::kSigned, kWarpSize};
    }
    if (token.kind != TokenKind::kInteger && token.kind != TokenKind::kFloat) lexer_.unexpected("a constant");
    lexer_.advance();
    return {token.literal, token.bits};
  }

  Constant cast() {
    const bool to_unsigned = lexer_.token().text == "u64";
    if (!to_unsigned && lexer_.token().text != "s64") lexer_.unexpected(".s64 or .u64");
    lexer_.advance();
    lexer_.expect(")");
    const Level level(*this);
    const Place at = lexer_.token().place;
    const Constant value = unary();
    if (value.is_float()) lexer_.fail(at, "a cast takes an integer");
    return {to_unsigned ? Literal::kUnsigned : Literal::kSigned, value.bits};
  }

  Constant apply(std::string_view op, Constant a, Place at) {
    if (op == "+") return a;
    if (op == "!") return from(!is_true(a));
    if (a.literal == Literal::kFloat32 && op == "-") return {a.literal, a.bits ^ 0x80000000u};
    if (a.is_float() && op == "-") return from(-value_of(a));
    if (a.is_float()) lexer_.fail(at, "'~' takes an integer");
    if (op == "-") return {a.literal, 0 - a.bits};
    return {Literal::kUnsigned, ~a.bits};  // unlike in C: PTX ISA, "Constant Expression Evaluation Rules"
  }

  Constant apply(std::string_view op, Constant a, Constant b, Place at) {
    if (op == "&&") return from(is_true(a) && is_true(b));
    if (op == "||") return from(is_true(a) || is_true(b));
    if (a.is_float() || b.is_float()) return apply_float(op, value_of(a), value_of(b), at);
    return apply_integer(op, a, b, at);
  }

  Constant apply_float(std::string_view op, double a, double b, Place at) {
    if (is_comparison(op)) return from(compare(op, a, b));
    if (op == "+") return from(a + b);
    if (op == "-") return from(a - b);
    if (op == "*") return from(a * b);
    if (op == "/") return from(a / b);
    lexer_.fail(at, quote(op) + " takes integers");
  }

  Constant apply_integer(std::string_view op, Constant a, Constant b, Place at) {
    if (op == "<<" || op == ">>") return {a.literal, shift(op, a, b.bits)};
    const bool is_unsigned = a.literal == Literal::kUnsigned || b.literal == Literal::kUnsigned;
    const Literal type = is_unsigned ? Literal::kUnsigned : Literal::kSigned;
    if (is_comparison(op))
      return from(is_unsigned ? compare(op, a.bits, b.bits) : compare(op, a.as_signed(), b.as_signed()));
    if (op == "+") return {type, a.bits + b.bits};
    if (op == "-") return {type, a.bits - b.bits};
    if (op == "*") return {type, a.bits * b.bits};
    if (op == "&") return {type, a.bits & b.bits};
    if (op == "|") return {type, a.bits | b.bits};
    if (op == "^") return {type, a.bits ^ b.bits};
    if (b.bits == 0) lexer_.fail(at, "division by zero");
    // Unlike in C the operands of % are .u64 (same rules), and so is the result of ptxas.
    if (op == "%") return {Literal::kUnsigned, a.bits % b.bits};
    return {type, quotient(is_unsigned, a, b)};
  }

  static std::uint64_t quotient(bool is_unsigned, Constant a, Constant b) {
    if (is_unsigned) return a.bits / b.bits;
    if (b.as_signed() == -1) return 0 - a.bits;
    return static_cast<std::uint64_t>(a.as_signed() / b.as_signed());
  }

  Lexer& lexer_;
  unsigned nesting_ = 0;
};

}  // namespace

bool begins_constant(const Lexer& lexer) {
  const Token& t = lexer.token();
  switch (t.kind) {
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return true;
    case TokenKind::kDotted:
      return t.text[0] >= '0' && t.text[0] <= '9';
    case TokenKind::kIdentifier:
      return t.text == "WARP_SZ";
    case TokenKind::kPunctuation:
      return t.is("-") || t.is("+") || t.is("~") || t.is("(");
    default:
      return false;
  }
}

Constant parse_constant(Lexer& lexer) { return Expression(lexer).conditional(); }

Constant parse_term(Lexer& lexer) { return Expression(lexer).binary(kTermPrecedence); }

}  // namespace lockstep::ptx
