#include "correlate/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace lockstep::correlate {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 22> kTimes{{{"ns", 1},
                                       {"nsecond", 1},
                                       {"nanosecond", 1},
                                       {"us", 1e3},
                                       {"usecond", 1e3},
                                       {"microsecond", 1e3},
                                       {"\xc2\xb5s", 1e3},
                                       {"\xce\xbcs", 1e3},
                                       {"ms", 1e6},
                                       {"msecond", 1e6},
                                       {"millisecond", 1e6},
                                       {"s", 1e9},
                                       {"sec", 1e9},
                                       {"second", 1e9},
                                       {"nseconds", 1},
                                       {"useconds", 1e3},
                                       {"mseconds", 1e6},
                                       {"seconds", 1e9},
                                       {"nanoseconds", 1},
                                       {"microseconds", 1e3},
                                       {"milliseconds", 1e6},
                                       {"", 1}}};
constexpr std::array<std::string_view, 8> kCounted{"byte", "b",     "hz",      "sector",
                                                   "inst", "cycle", "request", "warp"};
constexpr std::array<Unit, 5> kPrefixes{{{"K", 1e3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}}};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// "1,234,567.8" without its separators; nullopt where a group has not three digits.
std::optional<std::string> without_separators(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of(".eE"), text.size());
  if (text.find(',') == std::string_view::npos) return std::string(text);
  std::string digits;
  std::string_view whole = text.substr(0, end);
  for (bool first = true;; first = false) {
    const std::size_t comma = whole.find(',');
    const std::string_view group = whole.substr(0, comma);
    const std::size_t sign = first && group.starts_with('-') ? 1 : 0;
    const std::size_t size = group.size() - sign;
    if (first ? size < 1 || size > 3 : size != 3) return std::nullopt;
    digits += group;
    if (comma == std::string_view::npos) break;
    whole.remove_prefix(comma + 1);
  }
  return digits + std::string(text.substr(end));
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  const auto digits = without_separators(trimmed(text));
  if (!digits || digits->empty()) return std::nullopt;
  double value = 0;
  const char* const last = digits->data() + digits->size();
  const auto [end, error] = std::from_chars(digits->data(), last, value);
  if (error != std::errc{} || end != last || !std::isfinite(value)) return std::nullopt;
  return value;
}

double unit_factor(std::string_view unit) {
  unit = trimmed(unit);
  for (const Unit& time : kTimes)
    if (time.name == unit) return time.factor;
  const auto counted = [](std::string_view word) {
    std::string name = lower(word);
    if (name.size() > 1 && name.ends_with('s')) name.pop_back();
    return std::ranges::find(kCounted, name) != kCounted.end();
  };
  if (counted(unit)) return 1;
  for (const Unit& prefix : kPrefixes)
    if (unit.starts_with(prefix.name) && counted(unit.substr(1))) return prefix.factor;
  return 1;
}

}  // namespace lockstep::correlate
