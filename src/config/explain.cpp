// Help for people, made from the schema and from the comments of the products' files.
#include <fmt/format.h>

#include <algorithm>

#include "config/config.hpp"
#include "config/products.hpp"
#include "config/source.hpp"
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

/// Sources of the values that are still the named product's own.
Sources own_sources(const GpuConfig& config) {
  Sources sources = sources_of(config.gpu.name);
  if (sources.empty()) return sources;
  const GpuConfig product = resolve(config.gpu.name);
  std::erase_if(sources, [&](const auto& entry) {
    const Parameter& p = *find(entry.first).parameter;
    return value_text(p, product) != value_text(p, config);
  });
  return sources;
}

std::string block(const Parameter& p, const GpuConfig& config, const Sources& sources) {
  std::string out = fmt::format("{} = {}\n    {}\n    type: {}\n    allowed: {}\n    default: {}\n", p.key,
                                value_with_unit(p, config), p.help, type_text(p), expected_text(p),
                                value_with_unit(p, defaults()));
  if (!p.aliases.empty()) out += fmt::format("    also written: {} (in MHz)\n", alias_text(p));
  const auto source = sources.find(p.key);
  return out + fmt::format("    source: {}\n", source == sources.end() ? "set by the user" : source->second);
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
  return fmt::format("no parameter or group '{}'{}", printable(wanted), suggestion(wanted, names));
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
      "`16 GB/s`; `40 cycles`. Without one they count the unit of the column \"unit\".\n\n"
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
  const GpuConfig config = resolve(std::string(product));
  const Sources sources = sources_of(product);
  Lines lines;
  for (const Parameter& p : schema()) {
    const auto at = sources.find(p.key);
    if (at == sources.end() || at->second.empty()) continue;
    lines.push_back(fmt::format("* `{}` = {}: {}\n", p.key, value_with_unit(p, config), at->second));
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

std::string explain(const std::string& key_or_group, const GpuConfig& config) {
  const Match alias = find(key_or_group);
  const std::string wanted = alias.parameter ? alias.parameter->key : key_or_group;
  const Sources sources = own_sources(config);
  std::string out;
  for (const Parameter& p : schema()) {
    if (!belongs(p.key, wanted)) continue;
    if (!out.empty()) out.push_back('\n');
    out += block(p, config, sources);
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
  return out + markdown_sources();
}

}  // namespace lockstep::config
