#include "stats/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace lockstep::stats {
namespace {

__extension__ using Wide = unsigned __int128;

std::string wide_digits(Wide value) {
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace

std::uint64_t quotient(std::uint64_t numerator, std::uint64_t scale, std::uint64_t denominator) {
  return denominator == 0 ? 0
                          : static_cast<std::uint64_t>(static_cast<Wide>(numerator) * scale / denominator);
}

std::string fixed_ratio(std::uint64_t numerator, std::uint64_t denominator, unsigned decimals,
                        std::uint64_t scale) {
  std::uint64_t power = 1;
  for (unsigned i = 0; i < decimals; ++i) power *= 10;
  Wide units = 0;
  if (denominator != 0) {
    // Whole part and remainder apart, so that the power of ten cannot overflow.
    const Wide product = static_cast<Wide>(numerator) * scale;
    const Wide whole = product / denominator, rest = product % denominator;
    units = whole * power + (rest * power * 2 + denominator) / (static_cast<Wide>(denominator) * 2);
  }
  std::string text = wide_digits(units);
  if (decimals == 0) return text;
  if (text.size() <= decimals) text.insert(0, decimals + 1 - text.size(), '0');
  text.insert(text.size() - decimals, 1, '.');
  return text;
}

std::string cycles_to_ns(Cycle cycles, std::uint64_t khz) { return fixed_ratio(cycles, khz, 3, 1'000'000); }

std::string hex16(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string scaled(double value) {
  constexpr std::array<const char*, 5> kPrefixes{"", "k", "M", "G", "T"};
  std::size_t i = 0;
  while (value >= 999.5 && i + 1 < kPrefixes.size()) {
    value /= 1000;
    ++i;
  }
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, i == 0 && value == static_cast<int>(value) ? 0 : decimals,
                     kPrefixes[i]);
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c < 0x20 || c > 0x7e) c = '?';  // signed or not, bytes above 0x7f fail one of the two
  }
  return result;
}

std::string json_string(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace lockstep::stats
