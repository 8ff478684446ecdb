#include "sampling/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <set>

#include "util/error.hpp"

namespace lockstep::sampling {
namespace {

template <class Number>
bool parse(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

double share(std::string_view name, std::string_view text, double low, double high) {
  std::string_view digits = text;
  const bool percent = digits.ends_with('%');
  if (percent) digits.remove_suffix(1);
  double value = 0;
  const bool number = parse(digits, value);
  if (percent) value /= 100;
  if (!number || !(value >= low && value <= high))
    throw UserError(
        fmt::format("--sample: {} is '{}', expected {}% to {}%", name, text, low * 100, high * 100));
  return value;
}

std::uint64_t whole(std::string_view name, std::string_view text, std::uint64_t high) {
  std::uint64_t value = 0;
  if (!parse(text, value) || value > high)
    throw UserError(fmt::format("--sample: {} is '{}', expected a whole number up to {}", name, text, high));
  return value;
}

void set(Options& options, std::string_view name, std::string_view value) {
  constexpr std::uint32_t kMaxWarmUps = 1000;
  if (name == "error") {
    options.error = share(name, value, 0.001, 0.5);
  } else if (name == "confidence") {
    options.confidence = share(name, value, 0.5, 0.999);
  } else if (name == "seed") {
    options.seed = whole(name, value, std::numeric_limits<std::uint64_t>::max());
  } else if (name == "warm-up") {
    options.warm_up = static_cast<std::uint32_t>(whole(name, value, kMaxWarmUps));
  } else {
    throw UserError(fmt::format("--sample: found '{}', expected error, confidence, seed or warm-up", name));
  }
}

}  // namespace

Options parse_options(std::string_view text) {
  Options options;
  std::set<std::string_view> seen;
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const auto equals = part.find('=');
    if (equals == std::string_view::npos)
      throw UserError(
          fmt::format("--sample: found '{}', expected NAME=VALUE, such as error=2%,confidence=95%", part));
    const std::string_view name = part.substr(0, equals);
    set(options, name, part.substr(equals + 1));
    if (!seen.insert(name).second) throw UserError(fmt::format("--sample: {} is given twice", name));
    if (comma == std::string_view::npos) return options;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace lockstep::sampling
