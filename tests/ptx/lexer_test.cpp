// Tokens: random sequences with random white space and comments between them have the kinds, values and
// places with which they were written; and what the parser asks of the token in hand.
#include "ptx/lexer.hpp"

#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ptx/parser.hpp"

namespace lockstep::ptx {
namespace {

struct Expected {
  std::string written, text;  // text: as Token::text
  TokenKind kind = TokenKind::kPunctuation;
  std::uint64_t bits = 0;
  Literal literal = Literal::kSigned;
};

class TokenMaker {
 public:
  explicit TokenMaker(unsigned seed) : random_(seed) {}

  Expected token() {
    switch (below(8)) {
      case 0:
        return word();
      case 1: {
        const std::string text = suffix();
        return {"." + text, text, TokenKind::kDotted};
      }
      case 2:
        return text_in_quotes();
      case 3:
      case 4:
        return integer();
      case 5:
        return pattern();
      case 6:
        return decimal();
      default:
        return punctuation();
    }
  }
  /// At least one character; counts lines and columns.
  std::string space(std::uint32_t& line, std::uint32_t& column) {
    std::string all;
    for (unsigned n = 1 + below(3); n > 0; --n) {
      static const char* const kSpaces[] = {" ",    "\t", "\n", "\r\n", " // 1.5 \"x\n", "/* a, b\n * c */",
                                            "/**/", "\f"};
      all += kSpaces[below(8)];
    }
    for (const char c : all) {
      ++column;
      if (c == '\n') ++line, column = 1;
    }
    return all;
  }
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

 private:
  Expected word() {
    static const char* const kStarts[] = {"a", "Z", "_", "$", "%r", "%$", "x9"};
    std::string text = kStarts[below(7)];
    for (unsigned n = below(6); n > 0; --n) text += "aZ09_$"[below(6)];
    return {text, text, TokenKind::kIdentifier};
  }
  std::string suffix() {
    static const char* const kWords[] = {"global", "v4", "shared::cta", "L2::cache_hint", "2d", "b32"};
    return kWords[below(6)];
  }
  Expected text_in_quotes() {
    static const char* const kTexts[] = {"", "a.cu", "/* no comment */", "a\\\"b", "one, two; {three}"};
    const std::string text = kTexts[below(5)];
    return {"\"" + text + "\"", text, TokenKind::kString};
  }
  Expected integer() {
    const std::uint64_t value = random_() >> below(64);
    static const char* const kFormats[] = {"{}", "0x{:x}", "0X{:X}", "0{:o}", "0b{:b}"};
    const unsigned base = value == 0 ? 0 : below(5);
    std::string text = fmt::format(fmt::runtime(kFormats[base]), value);
    const bool suffix = below(4) == 0;
    if (suffix) text += 'U';
    const bool is_unsigned = suffix || value >> 63 != 0;
    return {text, text, TokenKind::kInteger, value, is_unsigned ? Literal::kUnsigned : Literal::kSigned};
  }
  Expected pattern() {
    const std::uint64_t value = random_();
    if (below(2) == 0) {
      const std::string text = fmt::format("0d{:016x}", value);
      return {text, text, TokenKind::kFloat, value, Literal::kFloat64};
    }
    const std::string text = fmt::format("0F{:08X}", value >> 32);
    return {text, text, TokenKind::kFloat, value >> 32, Literal::kFloat32};
  }
  Expected decimal() {
    const double value = std::ldexp(static_cast<double>(random_() >> 11), static_cast<int>(below(200)) - 100);
    const std::string text = fmt::format("{:.{}e}", value, 17);
    return {text, text, TokenKind::kFloat, std::bit_cast<std::uint64_t>(value), Literal::kFloat64};
  }
  Expected punctuation() {
    static const char* const kMarks[] = {"{", "}",  "(",  ")",  "[",  "]",  ",",  ";",  ":", "@", "!",
                                         "=", "<",  ">",  "+",  "-",  "*",  "%",  "&",  "|", "^", "~",
                                         "?", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    const std::string text = kMarks[below(31)];
    return {text, text, TokenKind::kPunctuation};
  }

  std::mt19937_64 random_;
};

/// What is said where `use` fails, without file and place.
template <class Use>
std::string failure(const std::string& text, Use use) {
  try {
    Lexer lexer(text, "t");
    use(lexer);
  } catch (const ParseError& e) {
    const std::string all = e.what();
    return all.substr(all.find(": ", all.find("column")) + 2);
  }
  return "no error";
}

std::string first_failure(const std::string& text) {
  return failure(text, [](Lexer& lexer) {
    while (lexer.token().kind != TokenKind::kEnd) lexer.advance();
  });
}

}  // namespace

TEST_CASE("ptx lexer: random tokens have the kind, value and place with which they were written") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    TokenMaker make(seed);
    std::string text;
    std::uint32_t line = 1, column = 1;
    std::vector<Expected> expected;
    std::vector<Place> places;
    for (unsigned n = make.below(60); n > 0; --n) {
      text += make.space(line, column);
      expected.push_back(make.token());
      places.push_back({line, column});
      text += expected.back().written;
      column += static_cast<std::uint32_t>(expected.back().written.size());
    }
    text += make.space(line, column);
    Lexer lexer(text, "t");
    for (std::size_t n = 0; n < expected.size(); ++n) {
      const Expected& e = expected[n];
      CAPTURE(e.written);
      const Token token = lexer.take();
      REQUIRE(token.kind == e.kind);
      REQUIRE(token.text == e.text);
      REQUIRE(token.place.line == places[n].line);
      REQUIRE(token.place.column == places[n].column);
      if (e.kind != TokenKind::kInteger && e.kind != TokenKind::kFloat) continue;
      REQUIRE(token.bits == e.bits);
      REQUIRE(token.literal == e.literal);
    }
    REQUIRE(lexer.token().kind == TokenKind::kEnd);
    lexer.advance();
    REQUIRE(lexer.token().kind == TokenKind::kEnd);
    REQUIRE(lexer.token().place.line == line);
  }
}

TEST_CASE("ptx lexer: where tokens that touch each other end") {
  const auto tokens = [](const std::string& text) {
    std::string all;
    for (Lexer lexer(text, "t"); lexer.token().kind != TokenKind::kEnd; lexer.advance())
      all += (all.empty() ? "" : " ") + std::string(lexer.token().kind == TokenKind::kDotted ? "." : "") +
             std::string(lexer.token().text);
    return all;
  };
  CHECK(tokens("ld.global.v2.u32{%r1,%r2},[%d1+-4];") ==
        "ld .global .v2 .u32 { %r1 , %r2 } , [ %d1 + - 4 ] ;");
  CHECK(tokens("@!%p1 bra L;") == "@ ! %p1 bra L ;");
  CHECK(tokens("%r1%r2") == "%r1 %r2");
  CHECK(tokens("7%3") == "7 % 3");
  CHECK(tokens("a<<2>=b") == "a << 2 >= b");
  CHECK(tokens("x.shared::cluster.y") == "x .shared::cluster .y");
  CHECK(tokens("L:mov") == "L : mov");
  CHECK(tokens("a/b") == "a / b");
  CHECK(tokens("1.5e3 2. 3e-2") == "1.5e3 2. 3e-2");
  CHECK(tokens("a\0b c") == "a");
  CHECK(tokens(std::string("a b\0c", 5)) == "a b");
}

TEST_CASE("ptx lexer: what is no token says why") {
  CHECK(first_failure("a # b") == "'#' begins no PTX token");
  CHECK(first_failure("0b102") == "'0b102' is not a number in base 2");
  CHECK(first_failure("0x") == "'0x' is not a number");
  CHECK(first_failure("0xfg") == "'0xfg' is not a number in base 16");
  CHECK(first_failure("018446744073709551616") == "'018446744073709551616' is not a number in base 8");
  CHECK(first_failure("18446744073709551615") == "no error");
  CHECK(first_failure("18446744073709551616") == "'18446744073709551616' needs more than 64 bits");
  CHECK(first_failure("1e999") == "'1e999' is out of the range of f64");
  CHECK(first_failure("1e5x") == "'1e5x' is not a number");
  CHECK(first_failure("\"a\\\"") == "this string does not end on its line");
  CHECK(first_failure("a /* b\n") == "this comment does not end");
}

TEST_CASE("ptx lexer: what is expected and found") {
  const auto say = [](const std::string& text) {
    return failure(text, [](Lexer& lexer) { lexer.expect(";"); });
  };
  CHECK(say(";") == "no error");
  CHECK(say("mov") == "found 'mov'; expected ';'");
  CHECK(say(".b32") == "found '.b32'; expected ';'");
  CHECK(say("\"x\"") == "found the string 'x'; expected ';'");
  CHECK(say("") == "found the end of the text; expected ';'");
  CHECK(failure("5", [](Lexer& l) { (void)l.expect_integer("a number", 5); }) == "no error");
  CHECK(failure("6", [](Lexer& l) { (void)l.expect_integer("a number", 5); }) ==
        "'6' is above 5, the limit of a number");
  CHECK(failure("-1", [](Lexer& l) { (void)l.expect_integer("a number", 5); }) ==
        "found '-'; expected a number");
  CHECK(failure("7", [](Lexer& l) { (void)l.expect(TokenKind::kString, "a name in quotes"); }) ==
        "found '7'; expected a name in quotes");
}

TEST_CASE("ptx lexer: the token in hand is taken only if it is what is accepted") {
  Lexer lexer("{ .reg ; x", "t");
  CHECK_FALSE(lexer.accept("}"));
  CHECK_FALSE(lexer.accept_dotted("reg"));
  CHECK(lexer.accept("{"));
  CHECK_FALSE(lexer.accept(".reg"));
  CHECK_FALSE(lexer.accept_dotted("re"));
  CHECK(lexer.accept_dotted("reg"));
  CHECK(lexer.followed_by('x'));
  CHECK_FALSE(lexer.followed_by(';'));
  CHECK(lexer.accept(";"));
  CHECK(lexer.token().text == "x");
}

TEST_CASE("ptx lexer: a mnemonic with the words that touch it") {
  const auto run = [](const std::string& text) {
    Lexer lexer(text, "t");
    std::string all(lexer.take_dotted_run());
    return all + "|" + std::string(lexer.token().text);
  };
  CHECK(run("ld.global.u32 %r1") == "ld.global.u32|%r1");
  CHECK(run("ld .global") == "ld|global");
  CHECK(run("atom.shared::cta.add.u32 x") == "atom.shared::cta.add.u32|x");
  CHECK(run("ret;") == "ret|;");
  CHECK(run("bra") == "bra|");
}

TEST_CASE("ptx lexer: quoted text is short and has no control characters") {
  CHECK(quote("abc") == "'abc'");
  CHECK(quote("a\tb\x7f") == "'a?b?'");
  CHECK(quote(std::string(40, 'x')) == "'" + std::string(40, 'x') + "'");
  CHECK(quote(std::string(41, 'x')) == "'" + std::string(40, 'x') + "...'");
}

}  // namespace lockstep::ptx
