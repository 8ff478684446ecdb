#include "ptx/lexer.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <limits>

#include "ptx/parser.hpp"

namespace lockstep::ptx {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 30;

enum : std::uint8_t { kWordStart = 1, kWord = 2, kDigit = 4, kHex = 8 };

/// Sorts of characters by code. Identifiers: [A-Za-z_$%][A-Za-z0-9_$]*.
constexpr std::array<std::uint8_t, 256> kSorts = [] {
  std::array<std::uint8_t, 256> sorts{};
  for (unsigned c = 'a'; c <= 'z'; ++c) sorts[c] = kWordStart | kWord;
  for (unsigned c = 'A'; c <= 'Z'; ++c) sorts[c] = kWordStart | kWord;
  for (unsigned c = '0'; c <= '9'; ++c) sorts[c] = kWord | kDigit | kHex;
  for (unsigned c = 'a'; c <= 'f'; ++c) sorts[c] |= kHex;
  for (unsigned c = 'A'; c <= 'F'; ++c) sorts[c] |= kHex;
  sorts['_'] = sorts['$'] = kWordStart | kWord;
  sorts['%'] = kWordStart;
  return sorts;
}();

bool is(char c, std::uint8_t sort) { return (kSorts[static_cast<unsigned char>(c)] & sort) != 0; }

unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 99;
}

}  // namespace

std::string quote(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, 40)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > 40 ? "...'" : "'");
}

Lexer::Lexer(std::string_view text, std::string name)
    : text_(text.substr(0, text.find('\0'))), name_(std::move(name)) {
  if (text_.size() > kMaxBytes) fail({1, 1}, "the text has more than 1 GiB");
  advance();
}

void Lexer::fail(Place place, const std::string& message) const { throw ParseError(name_, place, message); }

std::string Lexer::shown() const {
  switch (token_.kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kDotted:
      return quote("." + std::string(token_.text.substr(0, 60)));
    case TokenKind::kString:
      return "the string " + quote(token_.text);
    default:
      return quote(token_.text);
  }
}

void Lexer::unexpected(std::string_view what) const {
  fail(fmt::format("found {}; expected {}", shown(), what));
}

void Lexer::skip_block_comment() {
  const Place begin{line_, static_cast<std::uint32_t>(next_ - line_start_ + 1)};
  for (next_ += 2; next_ < text_.size(); ++next_) {
    if (text_[next_] == '\n') {
      ++line_;
      line_start_ = next_ + 1;
    } else if (text_[next_] == '*' && at(next_ + 1) == '/') {
      next_ += 2;
      return;
    }
  }
  fail(begin, "this comment does not end");
}

void Lexer::skip_space() {
  while (next_ < text_.size()) {
    const char c = text_[next_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++next_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++next_;
    } else if (c == '/' && at(next_ + 1) == '/') {
      next_ = std::min(text_.find('\n', next_), text_.size());
    } else if (c == '/' && at(next_ + 1) == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

void Lexer::set(TokenKind kind, std::size_t length) {
  token_.kind = kind;
  token_.text = text_.substr(start_, length);
  next_ = start_ + length;
}

void Lexer::advance() {
  skip_space();
  start_ = next_;
  token_.place = {line_, static_cast<std::uint32_t>(start_ - line_start_ + 1)};
  const char c = at(start_);
  if (start_ == text_.size()) {
    set(TokenKind::kEnd, 0);
  } else if (is(c, kWordStart) && (c != '%' || is(at(start_ + 1), kWordStart))) {
    scan_word();
  } else if (is(c, kDigit)) {
    scan_number();
  } else if (c == '.' && is(at(start_ + 1), kWord)) {
    const std::size_t end = dotted_end(start_);
    set(TokenKind::kDotted, end - start_);
    token_.text.remove_prefix(1);
  } else if (c == '"') {
    scan_string();
  } else {
    scan_punctuation();
  }
}

Token Lexer::take() {
  const Token token = token_;
  advance();
  return token;
}

void Lexer::scan_word() {
  std::size_t end = start_ + 1;
  while (is(at(end), kWord)) ++end;
  set(TokenKind::kIdentifier, end - start_);
}

/// The end of the dotted word whose dot is at `from`: letters, digits, '_', '$' and "::" between them.
std::size_t Lexer::dotted_end(std::size_t from) const {
  std::size_t end = from + 1;
  for (;;) {
    while (is(at(end), kWord)) ++end;
    if (at(end) != ':' || at(end + 1) != ':' || !is(at(end + 2), kWord)) return end;
    end += 2;
  }
}

std::string_view Lexer::take_dotted_run() {
  std::size_t end = start_ + token_.text.size();
  if (at(end) == '.') {  // so nothing behind the word was skipped yet
    while (at(end) == '.' && is(at(end + 1), kWord)) end = dotted_end(end);
    next_ = end;
  }
  const std::string_view run = text_.substr(start_, end - start_);
  advance();
  return run;
}

void Lexer::reread_as_number() { scan_decimal_float(); }

void Lexer::scan_radix(std::string_view digits, unsigned base) {
  token_.bits = 0;
  if (digits.empty()) fail(quote(token_.text) + " is not a number");
  for (const char c : digits) {
    const unsigned digit = digit_value(c);
    if (digit >= base) fail(fmt::format("{} is not a number in base {}", quote(token_.text), base));
    if (token_.bits > (std::numeric_limits<std::uint64_t>::max() - digit) / base)
      fail(quote(token_.text) + " needs more than 64 bits");
    token_.bits = token_.bits * base + digit;
  }
}

void Lexer::scan_integer(std::string_view digits, unsigned base) {
  const bool suffix = digits.ends_with('U') || digits.ends_with('u');
  if (suffix) digits.remove_suffix(1);
  scan_radix(digits, base);
  token_.literal = suffix || token_.bits >> 63 ? Literal::kUnsigned : Literal::kSigned;
}

void Lexer::scan_float_pattern(std::size_t digits, Literal literal) {
  if (token_.text.size() != 2 + digits) {
    fail(fmt::format("{} has {} hexadecimal digits; expected 8 after 0f, 16 after 0d", quote(token_.text),
                     token_.text.size() - 2));
  }
  scan_radix(token_.text.substr(2), 16);
  token_.kind = TokenKind::kFloat;
  token_.literal = literal;
}

void Lexer::scan_number() {
  std::size_t end = start_;
  while (is(at(end), kWord)) ++end;
  set(TokenKind::kInteger, end - start_);
  const std::string_view text = token_.text;
  const char second = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  if (second == 'x' || second == 'X') return scan_integer(text.substr(2), 16);
  if (second == 'f' || second == 'F') return scan_float_pattern(8, Literal::kFloat32);
  if (second == 'd' || second == 'D') return scan_float_pattern(16, Literal::kFloat64);
  if (second == 'b' || second == 'B') return scan_integer(text.substr(2), 2);
  const std::size_t plain = text.find_first_not_of("0123456789");
  const bool exponent = plain != text.npos && (text[plain] == 'e' || text[plain] == 'E');
  const bool fraction = plain == text.npos && at(end) == '.' && !is(at(end + 1), kWordStart);
  if (exponent || fraction) return scan_decimal_float();
  if (second >= '0' && second <= '9') return scan_integer(text.substr(1), 8);
  scan_integer(text, 10);
}

void Lexer::scan_decimal_float() {
  double value = 0;
  const char* const begin = text_.data() + start_;
  const auto result = std::from_chars(begin, text_.data() + text_.size(), value);
  set(TokenKind::kFloat, static_cast<std::size_t>(result.ptr - begin));
  if (result.ec == std::errc::invalid_argument || is(at(next_), kWord)) {
    while (is(at(next_), kWord)) ++next_;
    token_.text = text_.substr(start_, next_ - start_);
    fail(quote(token_.text) + " is not a number");
  }
  if (result.ec == std::errc::result_out_of_range) fail(quote(token_.text) + " is out of the range of f64");
  token_.bits = std::bit_cast<std::uint64_t>(value);
  token_.literal = Literal::kFloat64;
}

void Lexer::scan_string() {
  std::size_t end = start_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
  if (at(end) != '"') fail("this string does not end on its line");
  set(TokenKind::kString, end + 1 - start_);
  token_.text = token_.text.substr(1, token_.text.size() - 2);
}

void Lexer::scan_punctuation() {
  constexpr std::string_view kPairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  const std::string_view two = text_.substr(start_, 2);
  if (std::find(std::begin(kPairs), std::end(kPairs), two) != std::end(kPairs))
    return set(TokenKind::kPunctuation, 2);
  set(TokenKind::kPunctuation, 1);
  constexpr std::string_view kSingle = "{}()[],;:@!=<>+-*/%&|^~?";
  if (kSingle.find(token_.text) == kSingle.npos) fail(quote(token_.text) + " begins no PTX token");
}

bool Lexer::accept(std::string_view punctuation) {
  if (!token_.is(punctuation)) return false;
  advance();
  return true;
}

bool Lexer::accept_dotted(std::string_view word) {
  if (!token_.is_dotted(word)) return false;
  advance();
  return true;
}

void Lexer::expect(std::string_view punctuation) {
  if (!accept(punctuation)) unexpected("'" + std::string(punctuation) + "'");
}

Token Lexer::expect(TokenKind kind, std::string_view what) {
  if (token_.kind != kind) unexpected(what);
  return take();
}

std::uint64_t Lexer::expect_integer(std::string_view what, std::uint64_t limit) {
  if (token_.kind != TokenKind::kInteger) unexpected(what);
  if (token_.bits > limit) fail(fmt::format("{} is above {}, the limit of {}", shown(), limit, what));
  return take().bits;
}

bool Lexer::followed_by(char c) {
  // White space behind a token belongs to no one, so it may be skipped already.
  skip_space();
  return at(next_) == c;
}

}  // namespace lockstep::ptx
