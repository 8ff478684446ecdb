#include "accelsim/context.hpp"

#include <fmt/format.h>

#include <charconv>

#include "accelsim/table.hpp"
#include "config/schema.hpp"
#include "config/value.hpp"
#include "util/error.hpp"

namespace lockstep::accelsim {
namespace {

using config::printable;

constexpr std::uint64_t kMaxNumber = 1'000'000'000'000;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    parts.emplace_back(config::trimmed(text.substr(at, end - at)));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

bool parse_number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value <= kMaxNumber;
}

}  // namespace

Context::Context(config::GpuConfig base, const std::vector<const Option*>& given) : config_(std::move(base)) {
  for (const Option* option : given) given_[option->name] = option;
}

std::string_view Context::text(std::string_view option) const {
  const auto at = given_.find(option);
  return at == given_.end() ? default_of(option) : std::string_view(at->second->value);
}

void Context::fail(std::string_view option, const std::string& message) const {
  const auto at = given_.find(option);
  if (at == given_.end()) throw UserError(fmt::format("{} (default): {}", option, message));
  throw InputError(at->second->file, at->second->line,
                   fmt::format("{} {}: {}", option, printable(at->second->value), message));
}

std::uint64_t Context::number(std::string_view option) const {
  std::uint64_t value = 0;
  if (!parse_number(text(option), value))
    fail(option, fmt::format("expected a whole number up to {}", kMaxNumber));
  return value;
}

std::vector<std::string> Context::parts(std::string_view option, char separator, std::size_t least,
                                        std::size_t most, std::string_view form) const {
  std::vector<std::string> all = split(text(option), separator);
  if (all.size() < least || all.size() > most) fail(option, fmt::format("expected {}", form));
  return all;
}

std::vector<std::uint64_t> Context::numbers(std::string_view option, char separator, std::size_t least,
                                            std::size_t most, std::string_view form) const {
  std::vector<std::uint64_t> values;
  for (const std::string& part : parts(option, separator, least, most, form)) {
    values.push_back(0);
    if (!parse_number(part, values.back()))
      fail(option, fmt::format("'{}' is not a whole number; expected {}", printable(part), form));
  }
  return values;
}

const Option* Context::place_of(std::initializer_list<std::string_view> from) const {
  std::vector<std::string_view> options(from);
  options.insert(options.end(), inputs_.begin(), inputs_.end());
  for (const std::string_view name : options) {
    const auto at = given_.find(name);
    if (at != given_.end()) return at->second;
  }
  return nullptr;
}

void Context::set(std::string_view key, const std::string& value,
                  std::initializer_list<std::string_view> from) {
  const config::Match match = config::find(key);
  const Option* place = place_of(from);
  if (!match.parameter || !place) throw std::logic_error(fmt::format("accelsim: rule of '{}'", key));
  std::string note;
  for (const std::string_view name : from) {
    if (has(name)) {
      note += fmt::format("{}{} {}", note.empty() ? "" : ", ", name, printable(text(name)));
    } else {
      note += fmt::format("{}{} {} (default)", note.empty() ? "" : ", ", name, default_of(name));
    }
    used_.emplace(name);
  }
  try {
    config::set_value(*match.parameter, config_, value, match.scale);
  } catch (const UserError& e) {
    throw InputError(place->file, place->line, fmt::format("{}: {}", note, e.what()));
  }
  assignments_.push_back({match.parameter->key, value, std::move(note), place->file, place->line});
}

void Context::unused(std::string_view option, std::string reason) {
  if (has(option)) unused_[std::string(option)] = std::move(reason);
}

std::uint64_t scaled(std::uint64_t value, std::uint64_t numerator, std::uint64_t denominator) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{value} * numerator;
  return static_cast<std::uint64_t>((product + denominator / 2) / denominator);
}

}  // namespace lockstep::accelsim
