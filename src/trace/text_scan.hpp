// Scanning of trace text in place: no copies, no locale, no streams. Text always ends with '\n' (TextBuffer
// and TextStream see to that), which none of these functions passes, so they need no end pointer.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace lockstep::trace {

[[nodiscard]] inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
[[nodiscard]] inline bool ends_token(char c) { return is_blank(c) || c == '\n'; }

[[nodiscard]] inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}
[[nodiscard]] inline const char* skip_token(const char* p) {
  while (!ends_token(*p)) ++p;
  return p;
}

namespace detail {
inline constexpr std::array<std::uint8_t, 256> kHexDigit = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(16);
  for (unsigned i = 0; i < 10; ++i) table['0' + i] = static_cast<std::uint8_t>(i);
  for (unsigned i = 0; i < 6; ++i) {
    table['a' + i] = table['A' + i] = static_cast<std::uint8_t>(10 + i);
  }
  return table;
}();
}  // namespace detail

/// Hexadecimal number at `p`, "0x" optional. Returns its end, or null when there is no digit or the value
/// needs more than 64 bits.
[[nodiscard]] inline const char* scan_hex(const char* p, std::uint64_t& value) {
  if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) p += 2;
  const char* const start = p;
  std::uint64_t v = 0;
  for (;; ++p) {
    const std::uint64_t digit = detail::kHexDigit[static_cast<unsigned char>(*p)];
    if (digit > 15) break;
    if (v >> 60 != 0) return nullptr;
    v = v << 4 | digit;
  }
  value = v;
  return p == start ? nullptr : p;
}

/// Decimal number at `p`, without sign. Null as above.
[[nodiscard]] inline const char* scan_decimal(const char* p, std::uint64_t& value) {
  const char* const start = p;
  std::uint64_t v = 0;
  for (;; ++p) {
    const auto digit = static_cast<std::uint64_t>(static_cast<unsigned char>(*p)) - '0';
    if (digit > 9) break;
    if (v > (~std::uint64_t{0} - digit) / 10) return nullptr;
    v = v * 10 + digit;
  }
  value = v;
  return p == start ? nullptr : p;
}

/// Decimal number with optional '-'; unsigned values above INT64_MAX wrap, as printed by "%llu".
[[nodiscard]] inline const char* scan_signed(const char* p, std::int64_t& value) {
  const bool negative = *p == '-';
  std::uint64_t v = 0;
  p = scan_decimal(p + negative, v);
  if (p == nullptr || (negative && v > std::uint64_t{1} << 63)) return nullptr;
  value = static_cast<std::int64_t>(negative ? 0 - v : v);
  return p;
}

/// If the text at `p` is `key`, blanks, '=', blanks: the position behind, else null.
[[nodiscard]] inline const char* scan_key(const char* p, std::string_view key) {
  for (const char c : key) {
    if (*p++ != c) return nullptr;
  }
  p = skip_blanks(p);
  return *p == '=' ? skip_blanks(p + 1) : nullptr;
}

[[nodiscard]] inline bool starts_with(const char* p, std::string_view word) {
  for (const char c : word) {
    if (*p++ != c) return false;
  }
  return true;
}

/// `text` without blanks around it; never without an address, so that the scanners can look at it.
[[nodiscard]] inline std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Fast hash of a short text; the same on every little-endian host.
[[nodiscard]] inline std::uint64_t mix_hash(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15u;
  return a ^ a >> 29;
}
[[nodiscard]] inline std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = text.size();
  const char* p = text.data();
  std::size_t left = text.size();
  for (; left >= 8; p += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    h = mix_hash(h, word);
  }
  std::uint64_t tail = 0;
  std::memcpy(&tail, p, left);
  return mix_hash(h, tail);
}

/// What was found, fit for an error message: unprintable bytes escaped, long text cut.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace lockstep::trace
