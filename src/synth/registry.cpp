#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "synth/kinds.hpp"
#include "synth/synth.hpp"
#include "synth/trace_folder.hpp"
#include "util/error.hpp"

namespace lockstep::synth {
namespace {

/// Every kind, one line each.
constexpr const Kind* kKinds[] = {
    &kStreaming, &kSgemm,   &kRandom, &kChain, &kMixed,        &kPipe,      &kOperands, &kCode,   &kShared,
    &kBarriers,  &kAtomics, &kEmpty,  &kFfma,  &kPointerChase, &kCacheRead, &kL2Read,   &kStream,
};

constexpr OptionSpec kCommon[] = {
    {"compress", "none", "compression of the kernel files", 0, 0, "none|gz|xz|zst"},
    {"tracer-version", "5", "version of the tracer whose format is written", 1, 5},
    {"arch", "70", "compute capability * 10 of the traced GPU; below 70 instructions are 8 bytes apart", 50,
     121},
    {"line-info", "0", "1: each line begins with a source line (tracer version 4 or later)", 0, 1},
};

const OptionSpec* find_option(const Kind& kind, std::string_view name) {
  for (const auto options : {kind.options, common_options()})
    for (const OptionSpec& o : options)
      if (o.name == name) return &o;
  return nullptr;
}

std::string option_list(const Kind& kind) {
  std::string text;
  for (const auto options : {kind.options, common_options()})
    for (const OptionSpec& o : options) text += fmt::format("{}{}", text.empty() ? "" : ", ", o.name);
  return text;
}

std::optional<std::uint64_t> parse(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_choice(std::string_view choices, std::string_view word) {
  while (!choices.empty()) {
    const std::size_t bar = choices.find('|');
    if (choices.substr(0, bar) == word) return true;
    choices = bar == std::string_view::npos ? std::string_view{} : choices.substr(bar + 1);
  }
  return false;
}

void check(const Kind& kind, const OptionSpec& option, std::string_view value) {
  if (!option.choices.empty()) {
    if (is_choice(option.choices, value)) return;
    throw UserError(fmt::format("synth {}: {}: found '{}', expected one of {}", kind.name, option.name, value,
                                option.choices));
  }
  const auto number = parse(value);
  if (number && *number >= option.low && *number <= option.high) return;
  throw UserError(fmt::format("synth {}: {}: found '{}', expected a whole number from {} to {}", kind.name,
                              option.name, value, option.low, option.high));
}

Dialect dialect_of(const SynthOptions& options) {
  Dialect d;
  d.tracer_version = options.number32("tracer-version");
  d.binary_version = options.number32("arch");
  d.line_info = options.number("line-info") != 0;
  const std::string& compress = options.word("compress");
  d.compression = compress == "gz"    ? Compression::kGzip
                  : compress == "xz"  ? Compression::kXz
                  : compress == "zst" ? Compression::kZstd
                                      : Compression::kNone;
  if (d.line_info && d.tracer_version < 4)
    throw UserError(fmt::format("synth: line-info: found 1 with tracer-version {}, expected 4 or later",
                                d.tracer_version));
  return d;
}

}  // namespace

std::span<const Kind* const> kinds() { return kKinds; }

const Kind& find_kind(std::string_view name) {
  std::string names;
  for (const Kind* kind : kKinds) {
    if (kind->name == name) return *kind;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kind->name);
  }
  throw UserError(fmt::format("synth: found kind '{}', expected one of {}", name, names));
}

std::span<const OptionSpec> common_options() { return kCommon; }

SynthOptions::SynthOptions(const Kind& kind, const std::map<std::string, std::string>& given) {
  for (const auto options : {kind.options, common_options()})
    for (const OptionSpec& o : options) values_[std::string(o.name)] = o.default_value;
  for (const auto& [name, value] : given) {
    const OptionSpec* option = find_option(kind, name);
    if (!option)
      throw UserError(
          fmt::format("synth {}: found option '{}', expected one of {}", kind.name, name, option_list(kind)));
    check(kind, *option, value);
    values_[name] = value;
  }
}

std::uint64_t SynthOptions::number(std::string_view name) const { return parse(word(name)).value(); }

std::uint32_t SynthOptions::number32(std::string_view name) const {
  return static_cast<std::uint32_t>(number(name));
}

const std::string& SynthOptions::word(std::string_view name) const {
  const auto it = values_.find(name);
  if (it == values_.end()) throw std::logic_error(fmt::format("kind without option {}", name));
  return it->second;
}

void synthesize(std::string_view kind, const std::map<std::string, std::string>& options,
                const std::string& out_dir) {
  const Kind& found = find_kind(kind);
  const SynthOptions checked(found, options);
  if (found.check) found.check(checked);
  TraceFolder folder(out_dir, dialect_of(checked));
  found.generate(checked, folder);
  folder.close();
}

}  // namespace lockstep::synth
