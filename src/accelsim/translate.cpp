#include "accelsim/translate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "accelsim/context.hpp"
#include "accelsim/table.hpp"
#include "config/value.hpp"
#include "util/error.hpp"

namespace lockstep::accelsim {
namespace {

using config::printable;

const IgnoredOption* find_ignored(std::string_view option) {
  static const std::map<std::string_view, const IgnoredOption*> index = [] {
    std::map<std::string_view, const IgnoredOption*> all;
    for (const IgnoredOption& row : ignored_options()) all.emplace(row.option, &row);
    for (const IgnoredOption& row : ignored_booksim_keys()) all.emplace(row.option, &row);
    return all;
  }();
  const auto at = index.find(option);
  return at == index.end() ? nullptr : at->second;
}

bool has_rule(std::string_view option) {
  static const std::set<std::string_view> index = [] {
    std::set<std::string_view> all;
    for (const Rule& rule : rules()) {
      for (const Input& input : rule.inputs) all.insert(input.option);
    }
    return all;
  }();
  return index.count(option) > 0;
}

void apply_rules(Context& context) {
  for (const Rule& rule : rules()) {
    std::vector<std::string_view> inputs;
    for (const Input& input : rule.inputs) inputs.push_back(input.option);
    if (std::none_of(inputs.begin(), inputs.end(), [&](auto option) { return context.has(option); }))
      continue;
    context.begin(std::move(inputs));
    rule.apply(context);
  }
}

Ignored ignored(const IgnoredOption& row, const Option& option, const Context& context) {
  Ignored entry{option, std::string(row.reason), false};
  if (option.name[0] != '-' && context.text(kNetworkMode) != "1") {
    entry.reason = fmt::format("BookSim is not used but with {} 1", kNetworkMode);
  } else if (!row.modelled.empty() && option.value != row.modelled) {
    entry.reason += fmt::format("; {} is not modelled", printable(option.value));
    entry.differs = true;
  }
  return entry;
}

/// Puts the option into one of the three lists.
void classify(const Option& option, const Context& context, Translation& to) {
  if (has_rule(option.name)) {
    if (context.used(option.name)) return to.mapped.push_back(option);
    const auto reason = context.unused().find(option.name);
    return to.ignored.push_back(
        {option, reason == context.unused().end() ? "no effect beside the other options" : reason->second,
         false});
  }
  const IgnoredOption* row = find_ignored(option.name);
  if (!row) return to.unknown.push_back(option);
  to.ignored.push_back(ignored(*row, option, context));
}

unsigned capability_part(const std::vector<Option>& options, std::string_view name) {
  unsigned value = 0;
  std::string_view text = default_of(name);
  for (const Option& option : options) {
    if (option.name == name) text = option.value;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr unsigned kMaxVersion = 1000;
  return error == std::errc{} && end == text.data() + text.size() && value <= kMaxVersion ? value : 0;
}

}  // namespace

std::string base_gpu_model(const std::vector<Option>& options) {
  constexpr std::string_view kMajor = "-gpgpu_compute_capability_major";
  const bool named =
      std::any_of(options.begin(), options.end(), [&](const Option& o) { return o.name == kMajor; });
  if (!named) return "v100";
  const unsigned wanted =
      capability_part(options, kMajor) * 10 + capability_part(options, "-gpgpu_compute_capability_minor");
  std::string best = "v100";
  unsigned best_arch = 0;
  for (const std::string& name : config::gpu_model_names()) {
    const unsigned arch = config::resolve(name).gpu.arch;
    if (arch > wanted || arch <= best_arch) continue;
    best = name;
    best_arch = arch;
  }
  return best;
}

Translation translate(const std::vector<Option>& options, const std::string& base) {
  Translation result;
  result.base = base.empty() ? base_gpu_model(options) : base;
  std::map<std::string, const Option*> last;  // as in Accel-Sim, the last one counts
  for (const Option& option : options) last[option.name] = &option;
  std::vector<const Option*> given;
  given.reserve(last.size());
  for (const auto& [name, option] : last) given.push_back(option);
  Context context(config::resolve(result.base), given);
  apply_rules(context);
  result.assignments = context.assignments();
  for (const Option& option : options) {
    const Option* winner = last[option.name];
    const bool known = has_rule(option.name) || find_ignored(option.name);
    if (&option != winner && known) {
      result.ignored.push_back(
          {option, fmt::format("given again at {}:{}", winner->file, winner->line), false});
    } else {
      classify(option, context, result);
    }
  }
  return result;
}

void require_known(const Translation& translation) {
  if (translation.unknown.empty()) return;
  const Option& first = translation.unknown.front();
  const std::size_t others = translation.unknown.size() - 1;
  throw InputError(first.file, first.line,
                   fmt::format("unknown Accel-Sim option '{}'{}", printable(first.name),
                               others ? fmt::format(" and {} more", others) : ""));
}

config::Resolved resolve_with_origins(const Translation& translation,
                                      const std::vector<std::string>& overrides) {
  return config::resolve_with_origins(translation.base, translation.assignments, overrides);
}

config::GpuConfig resolve(const Translation& translation, const std::vector<std::string>& overrides) {
  return resolve_with_origins(translation, overrides).config;
}

}  // namespace lockstep::accelsim
