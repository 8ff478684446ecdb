// Help for people, made from the schema and from the comments in the INI files of the GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>

#include "config/config.hpp"
#include "config/gpu_models.hpp"
#include "config/network_fields.hpp"
#include "config/suggest.hpp"
#include "config/value.hpp"
#include "util/error.hpp"

namespace lockstep::config {
namespace {

const GpuConfig& defaults() {
  static const GpuConfig config;
  return config;
}

std::string type_text(const Parameter& p) {
  static constexpr std::string_view kNames[] = {"integer",       "boolean", "name",
                                                "list of units", "list",    "text"};
  std::string text(kNames[static_cast<unsigned>(p.type)]);
  const MeasureInfo& measure = info(p.measure);
  if (!measure.name.empty()) text += ", " + std::string(measure.name);
  return text;
}

std::string alias_text(const Parameter& p) {
  std::string text;
  for (const Alias& alias : p.aliases) text += fmt::format("{}{}", text.empty() ? "" : ", ", alias.key);
  return text;
}

/// The comment behind a value, or else a note on where the value comes from.
std::string_view source_text(const Origin& origin) {
  if (!origin.note.empty()) return origin.note;
  return origin.kind == Origin::Kind::kOption ? "set by the user" : "none given";
}

/// Comments and file names may contain any bytes.
std::string one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return out;
}

std::string place_text(const Origin& origin) {
  if (origin.kind == Origin::Kind::kDefault) return fmt::format("no file: as in {}", gpu_models()[0].name);
  return one_line(origin.place);
}

std::string block(const Parameter& p, const Resolved& resolved) {
  std::string out = fmt::format("{} = {}\n    {}\n    type: {}\n    allowed: {}\n    default: {}\n", p.key,
                                value_with_unit(p, resolved.config), p.help, type_text(p), expected_text(p),
                                value_with_unit(p, defaults()));
  if (!p.aliases.empty()) out += fmt::format("    also written: {} (in MHz)\n", alias_text(p));
  const Origin& origin = resolved.origins.at(p.key);
  return out +
         fmt::format("    source: {}\n    set in: {}\n", one_line(source_text(origin)), place_text(origin));
}

bool belongs(std::string_view key, std::string_view wanted) {
  return wanted.empty() || key == wanted || (key.starts_with(wanted) && key[wanted.size()] == '.');
}

/// Parameters whose names contain the text.
std::vector<std::string_view> containing(std::string_view text) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  std::vector<std::string_view> found;
  for (const Parameter& p : schema()) {
    const std::string_view key = p.key;
    if (std::search(key.begin(), key.end(), text.begin(), text.end(), same) != key.end())
      found.push_back(key);
  }
  return found;
}

/// "; did you mean 'a'?" or "; did you mean one of a, b (and 7 more)?"; "" if no parameter is close.
std::string meant(const std::string& wanted) {
  constexpr std::size_t kShortest = 2, kMaxShown = 8;
  const auto candidates = wanted.size() < kShortest ? std::vector<std::string_view>{} : containing(wanted);
  if (candidates.size() > 1) {
    const std::size_t shown = std::min(candidates.size(), kMaxShown);
    const std::span<const std::string_view> first(candidates.data(), shown);
    const std::string more = fmt::format(" (and {} more)", candidates.size() - shown);
    return fmt::format("; did you mean one of {}{}?", list_of(first), shown < candidates.size() ? more : "");
  }
  if (!candidates.empty()) return suggestion(candidates[0], candidates);
  std::vector<std::string_view> names;
  for (const Parameter& p : schema()) {
    names.push_back(p.key);
    names.push_back(group_of(p.key));
  }
  return key_suggestion(wanted, names);
}

std::string unknown(const std::string& wanted) {
  return fmt::format("no parameter or group '{}'{}", printable(wanted), meant(wanted));
}

}  // namespace

std::string explain(const std::string& key_or_group, const Resolved& resolved) {
  const Match alias = find(key_or_group);
  const std::string wanted = alias.parameter ? alias.parameter->key : key_or_group;
  std::string out;
  for (const Parameter& p : schema()) {
    if (!belongs(p.key, wanted)) continue;
    if (!out.empty()) out.push_back('\n');
    out += block(p, resolved);
  }
  if (out.empty()) throw UserError(unknown(key_or_group));
  return out;
}

}  // namespace lockstep::config
