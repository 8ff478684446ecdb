// Help for people, made from the schema and from the comments of the products' files.
#include <fmt/format.h>

#include <algorithm>

#include "config/config.hpp"
#include "config/network_fields.hpp"
#include "config/products.hpp"
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

/// The comment behind a value; what is known where there is none.
std::string_view source_text(const Origin& origin) {
  if (!origin.note.empty()) return origin.note;
  return origin.kind == Origin::Kind::kOption ? "set by the user" : "none given";
}

/// Comments and file names may hold anything.
std::string one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return out;
}

std::string place_text(const Origin& origin) {
  if (origin.kind == Origin::Kind::kDefault) return fmt::format("no file: as in {}", products()[0].name);
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

std::string unknown(const std::string& wanted) {
  std::vector<std::string_view> names;
  for (const Parameter& p : schema()) {
    names.push_back(p.key);
    names.push_back(group_of(p.key));
  }
  return fmt::format("no parameter or group '{}'{}", printable(wanted), key_suggestion(wanted, names));
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::string markdown_header() {
  std::string out =
      "# Parameters\n\n"
      "Generated from the schema by `lockstep config --markdown`; do not edit.\n\n"
      "A configuration is a product's name or an INI file: `key = value` lines under `[group]` sections, or "
      "with\n"
      "dotted keys; `;` or `#` starts a comment; `include = NAME` (a product, or a file relative to this "
      "one) stands\n"
      "first. What a file does not set keeps the value of `v100`. `--set key=value` comes last and wins.\n\n"
      "Numbers may carry a unit: `1380 MHz`, `1.38 GHz`, `877000 kHz`; `128 KiB`, `6 MiB`; `1.24 us`, `23840 "
      "ps`;\n"
      "`16 GB/s`; `40 cycles`. Without one they count the unit of the column \"unit\". Of sizes, `64K`, `64 "
      "KB` and "
      "`64 KiB`\n"
      "are the same 65,536 bytes, in whichever case, and `M`, `G` likewise (1024 * 1024, ...); but `GB/s` is "
      "10^9 "
      "bytes a\n"
      "second, as data sheets of links count. `Kb` and `Gb/s` would be bits and are refused.\n\n"
      "| product | |\n|---|---|\n";
  for (const Product& p : products()) out += fmt::format("| `{}` | {} |\n", p.name, p.title);
  return out;
}

std::string markdown_row(const Parameter& p, const std::vector<GpuConfig>& configs) {
  const std::string_view name = std::string_view(p.key).substr(group_of(p.key).size() + 1);
  std::string help = p.help;
  if (!p.aliases.empty()) help += "; also written " + alias_text(p) + " (in MHz)";
  std::string row =
      fmt::format("| `{}` | {} | {} | {} |", name, info(p.measure).name, cell(expected_text(p)), cell(help));
  for (const GpuConfig& config : configs) row += fmt::format(" {} |", value_text(p, config));
  return row + "\n";
}

using Lines = std::vector<std::string>;

Lines source_lines(std::string_view product) {
  const Resolved resolved = resolve_with_origins(std::string(product));
  Lines lines;
  for (const Parameter& p : schema()) {
    const std::string& note = resolved.origins.at(p.key).note;
    if (note.empty()) continue;
    lines.push_back(fmt::format("* `{}` = {}: {}\n", p.key, value_with_unit(p, resolved.config), note));
  }
  return lines;
}

std::string markdown_sources() {
  std::string out = "\n# Sources of the values\n";
  Lines shared;
  for (const Product& product : products()) {
    const Lines lines = source_lines(product.name);
    out += fmt::format("\n## {}\n\n", product.name);
    if (!shared.empty()) out += fmt::format("What is not listed is as in {}.\n\n", products()[0].name);
    for (const std::string& line : lines) {
      if (std::find(shared.begin(), shared.end(), line) == shared.end()) out += line;
    }
    if (shared.empty()) shared = lines;
  }
  return out;
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

std::string markdown() {
  std::string out = markdown_header();
  std::vector<GpuConfig> configs;
  std::string titles = "| key | unit | allowed | meaning |", rule = "|---|---|---|---|";
  for (const Product& p : products()) {
    configs.push_back(resolve(std::string(p.name)));
    titles += fmt::format(" {} |", p.name);
    rule += "---|";
  }
  std::string_view group;
  for (const Parameter& p : schema()) {
    if (group_of(p.key) != group) {
      group = group_of(p.key);
      out += fmt::format("\n## {}\n\n{}\n{}\n", group, titles, rule);
    }
    out += markdown_row(p, configs);
  }
  out +=
      "\n## Systems with NICs\n\nOf a system's file, not of a GPU "
      "([networking-machine.md](networking-machine.md)).\n\n";
  return out + network_markdown() + markdown_sources();
}

}  // namespace lockstep::config
