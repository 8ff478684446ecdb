#include "config/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "config/suggest.hpp"
#include "util/error.hpp"
#include "util/size.hpp"

namespace lockstep::config {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::string_view kBlank = " \t\r";
constexpr std::string_view kBoolNames[] = {"false", "true"};

/// "a, b or c"
template <class Range>
std::string alternatives(const Range& names) {
  std::string out;
  const std::size_t count = std::size(names);
  for (std::size_t i = 0; i < count; ++i)
    out.append(i == 0 ? "" : i + 1 == count ? " or " : ", ").append(names[i]);
  return out;
}

std::string suffix_names(const MeasureInfo& measure) {
  std::vector<std::string_view> names;
  for (const Suffix& suffix : measure.suffixes) names.push_back(suffix.text);
  return alternatives(names);
}

[[noreturn]] void fail_number(const Parameter& p, std::string_view text) {
  const MeasureInfo& measure = info(p.measure);
  const std::string units =
      measure.suffixes.empty() ? "" : fmt::format(" with or without unit ({})", suffix_names(measure));
  throw UserError(fmt::format("{} = '{}' is not a number; expected {}{}", p.key, printable(text),
                              expected_text(p), units));
}

/// Whether a user who writes `unit` means `suffix`: sizes have several spellings (util/size.hpp);
/// frequencies, times and cycles differ in case. Rates must be exact, as Gb/s would be bits.
bool means(std::string_view unit, std::string_view suffix) {
  if (unit == suffix) return true;
  if (const SizeUnit* size = find_size_unit(unit)) return size->name == suffix;
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(b);
  };
  return suffix.find('/') == std::string_view::npos && suffix.back() != 'B' &&
         std::equal(unit.begin(), unit.end(), suffix.begin(), suffix.end(), same);
}

/// The size of `unit` in stored units; an empty one means the stored unit, or the alias's.
Suffix suffix_of(const Parameter& p, std::string_view unit, const std::optional<Suffix>& scale) {
  if (unit.empty()) return scale.value_or(Suffix{});
  const MeasureInfo& measure = info(p.measure);
  for (const Suffix& suffix : measure.suffixes) {
    if (means(unit, suffix.text)) return suffix;
  }
  if (measure.suffixes.empty())
    throw UserError(fmt::format("{} takes no unit, found '{}'", p.key, printable(unit)));
  throw UserError(
      fmt::format("{}: unknown unit '{}', expected {}", p.key, printable(unit), suffix_names(measure)));
}

std::uint64_t checked(const Parameter& p, Wide value, std::string_view text) {
  if (value < p.min || value > p.max)
    throw UserError(
        fmt::format("{} = {} is out of range; expected {}", p.key, printable(text), expected_text(p)));
  const auto v = static_cast<std::uint64_t>(value);
  if (p.power_of_two && (v & (v - 1)) != 0)
    throw UserError(
        fmt::format("{} = {} is not a power of two; expected {}", p.key, printable(text), expected_text(p)));
  return v;
}

/// A number in decimal notation, exactly mantissa / 10^decimals.
struct Decimal {
  Wide mantissa = 0;
  unsigned decimals = 0;
  std::size_t length = 0;  // characters read; 0 = not a number
};

Decimal read_decimal(std::string_view text) {
  constexpr unsigned kMaxDigits = 18;  // so that no product below can overflow
  Decimal d;
  unsigned digits = 0;
  bool point = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !point && digits > 0) {
      point = true;
      continue;
    }
    if (text[i] < '0' || text[i] > '9') break;
    if (++digits > kMaxDigits) return {};
    d.mantissa = d.mantissa * 10 + static_cast<unsigned>(text[i] - '0');
    d.decimals += point ? 1 : 0;
  }
  if (digits == 0 || text[i - 1] == '.') return {};
  d.length = i;
  return d;
}

std::uint64_t parse_number(const Parameter& p, std::string_view text, const std::optional<Suffix>& scale) {
  const Decimal number = read_decimal(text);
  if (number.length == 0) fail_number(p, text);
  const std::string_view unit = trimmed(text.substr(number.length));
  if (!unit.empty() && unit.find_first_of("0123456789.,+-") != std::string_view::npos) fail_number(p, text);
  const Suffix suffix = suffix_of(p, unit, scale);
  const Wide scaled = number.mantissa * suffix.numerator;
  Wide divisor = suffix.denominator;
  for (unsigned i = 0; i < number.decimals; ++i) divisor *= 10;
  if (scaled % divisor != 0) {
    const std::string_view stored = info(p.measure).name;
    throw UserError(fmt::format("{} = {} is not a whole number{}{}", p.key, printable(text),
                                stored.empty() ? "" : " of ", stored));
  }
  return checked(p, scaled / divisor, text);
}

std::uint64_t parse_name(const Parameter& p, std::string_view text, std::span<const std::string_view> names) {
  const auto at = std::find(names.begin(), names.end(), text);
  if (at != names.end()) return static_cast<std::uint64_t>(at - names.begin());
  throw UserError(fmt::format("{} = '{}': expected {}{}", p.key, printable(text), alternatives(names),
                              suggestion(text, names)));
}

std::uint64_t parse_units(const Parameter& p, std::string_view text) {
  std::uint64_t mask = 0;
  for (const std::string_view part : split(text, ',')) {
    const std::uint64_t bit = std::uint64_t{1} << parse_name(p, part, p.names);
    if (mask & bit) throw UserError(fmt::format("{} names '{}' twice", p.key, part));
    mask |= bit;
  }
  return mask;
}

std::vector<std::uint32_t> parse_list(const Parameter& p, std::string_view text) {
  constexpr std::size_t kMaxValues = 32;
  std::vector<std::uint32_t> values;
  for (const std::string_view part : split(text, ',')) {
    const std::uint64_t value = parse_number(p, part, std::nullopt);
    if (!values.empty() && value <= values.back())
      throw UserError(fmt::format("{}: {} does not come after {}; expected ascending numbers", p.key, value,
                                  values.back()));
    values.push_back(static_cast<std::uint32_t>(value));
    if (values.size() > kMaxValues)
      throw UserError(fmt::format("{} has more than {} values", p.key, kMaxValues));
  }
  return values;
}

std::string parse_text(const Parameter& p, std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(" _.+-").find(c) != std::string_view::npos;
  };
  if (text.size() < p.min || text.size() > p.max || !std::all_of(text.begin(), text.end(), allowed))
    throw UserError(fmt::format("{} = '{}': expected {}", p.key, printable(text), expected_text(p)));
  return std::string(text);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out.append(out.empty() ? "" : ",").append(part);
  return out;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::uint32_t index_of(std::span<const std::string_view> names, std::string_view text) {
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<std::uint32_t>(i);
    known.append(known.empty() ? "" : ", ").append(names[i]);
  }
  throw UserError(fmt::format("found '{}', expected one of {}", printable(text), known));
}

std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string out;
  for (const char c : text.substr(0, kLongest)) {
    if (c >= ' ' && c <= '~')
      out += c;
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text.size() > kLongest ? out + "..." : out;
}

std::uint64_t number_of(const Parameter& p, std::string_view raw) {
  const std::string_view text = trimmed(raw);
  if (text.empty()) throw UserError(fmt::format("{} has no value; expected {}", p.key, expected_text(p)));
  return parse_number(p, text, std::nullopt);
}

void set_value(const Parameter& p, GpuConfig& config, std::string_view raw,
               const std::optional<Suffix>& scale) {
  const std::string_view text = trimmed(raw);
  if (text.empty()) throw UserError(fmt::format("{} has no value; expected {}", p.key, expected_text(p)));
  switch (p.type) {
    case Type::kInteger:
      return p.binding.set(config, parse_number(p, text, scale));
    case Type::kBool:
      return p.binding.set(config, parse_name(p, text, kBoolNames));
    case Type::kEnum:
      return p.binding.set(config, parse_name(p, text, p.names));
    case Type::kUnits:
      return p.binding.set(config, parse_units(p, text));
    case Type::kList:
      p.binding.list(config) = parse_list(p, text);
      return;
    case Type::kText:
      p.binding.text(config) = parse_text(p, text);
      return;
  }
}

std::string value_text(const Parameter& p, const GpuConfig& config) {
  // The list and text bindings return mutable references; here they are only read.
  auto& readable = const_cast<GpuConfig&>(config);
  std::vector<std::string> parts;
  switch (p.type) {
    case Type::kInteger:
      return std::to_string(p.binding.get(config));
    case Type::kBool:
      return std::string(kBoolNames[p.binding.get(config) != 0]);
    case Type::kEnum:
      return std::string(p.names[p.binding.get(config)]);
    case Type::kUnits:
      for (std::size_t i = 0; i < p.names.size(); ++i) {
        if (p.binding.get(config) >> i & 1) parts.emplace_back(p.names[i]);
      }
      return joined(parts);
    case Type::kList:
      for (const std::uint32_t value : p.binding.list(readable)) parts.push_back(std::to_string(value));
      return joined(parts);
    case Type::kText:
      return p.binding.text(readable);
  }
  return "";
}

bool same_value(const Parameter& p, const GpuConfig& a, const GpuConfig& b) {
  if (p.type == Type::kList || p.type == Type::kText) return value_text(p, a) == value_text(p, b);
  return p.binding.get(a) == p.binding.get(b);
}

std::string value_with_unit(const Parameter& p, const GpuConfig& config) {
  const MeasureInfo& measure = info(p.measure);
  const std::string value = value_text(p, config);
  const bool plain =
      p.type != Type::kInteger || measure.suffixes.empty() || measure.suffixes[0].numerator != 1;
  return plain ? value : fmt::format("{} {}", value, measure.suffixes[0].text);
}

std::string expected_text(const Parameter& p) {
  const MeasureInfo& measure = info(p.measure);
  const std::string unit = measure.name.empty() ? "" : fmt::format(" {}", measure.name);
  switch (p.type) {
    case Type::kInteger:
      return fmt::format("{}{} to {}{}", p.power_of_two ? "a power of two from " : "", p.min, p.max, unit);
    case Type::kBool:
      return "true or false";
    case Type::kEnum:
      return alternatives(p.names);
    case Type::kUnits:
      return "one or more of " + alternatives(p.names) + ", with commas";
    case Type::kList:
      return fmt::format("ascending numbers from {} to {}{}, with commas", p.min, p.max, unit);
    case Type::kText:
      return fmt::format("{} to {} letters, digits, spaces or _.+-", p.min, p.max);
  }
  return "";
}

}  // namespace lockstep::config
