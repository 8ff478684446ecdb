// PTX text -> tokens, one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/instruction.hpp"

namespace lockstep::ptx {

enum class TokenKind : std::uint8_t { kEnd, kIdentifier, kDotted, kInteger, kFloat, kString, kPunctuation };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Literal literal = Literal::kSigned;  // numbers
  std::string_view text;               // kDotted: without the dot; kString: without the quotes
  std::uint64_t bits = 0;              // numbers: value or pattern
  Place place;

  [[nodiscard]] bool is(std::string_view punctuation) const {
    return kind == TokenKind::kPunctuation && text == punctuation;
  }
  [[nodiscard]] bool is_dotted(std::string_view word) const {
    return kind == TokenKind::kDotted && text == word;
  }
};

/// Holds one token in hand (`token()`). All failures are ParseError.
class Lexer {
 public:
  /// `text` must outlive the lexer and every token. A zero byte ends it.
  Lexer(std::string_view text, std::string name);

  [[nodiscard]] const Token& token() const { return token_; }
  void advance();
  /// The token in hand, and steps to the next.
  Token take();

  bool accept(std::string_view punctuation);
  bool accept_dotted(std::string_view word);
  void expect(std::string_view punctuation);
  Token expect(TokenKind kind, std::string_view what);
  /// The integer in hand; negative ones, and those above `limit`, fail.
  std::uint64_t expect_integer(std::string_view what, std::uint64_t limit);

  /// True when the text goes on with `c` after the token in hand and white space.
  [[nodiscard]] bool followed_by(char c);
  /// With an identifier in hand: it and the dotted words that touch it, as text ("ld.global.f32"); steps past
  /// them.
  std::string_view take_dotted_run();
  /// With a dotted word in hand that begins with a digit: reads it again as a decimal number (".5").
  void reread_as_number();

  [[noreturn]] void fail(const std::string& message) const { fail(token_.place, message); }
  [[noreturn]] void fail(Place at, const std::string& message) const;
  /// "found X; expected WHAT"
  [[noreturn]] void unexpected(std::string_view what) const;
  /// The token in hand, for messages: quoted, cut to a readable length, control characters shown as '?'.
  [[nodiscard]] std::string shown() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void skip_space();
  void skip_block_comment();
  void scan_word();
  void scan_number();
  void scan_integer(std::string_view digits, unsigned base);
  void scan_radix(std::string_view digits, unsigned base);
  void scan_float_pattern(std::size_t digits, Literal literal);
  void scan_decimal_float();
  void scan_string();
  void scan_punctuation();
  void set(TokenKind kind, std::size_t length);
  [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  [[nodiscard]] std::size_t dotted_end(std::size_t from) const;

  std::string_view text_;
  std::string name_;
  std::size_t next_ = 0;   // just behind the token in hand
  std::size_t start_ = 0;  // of the token in hand
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  Token token_;
};

/// `text` in quotes for messages, at most 40 characters of it, control characters as '?'.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace lockstep::ptx
