// From a GPU model's name or a file, and the options, to a checked configuration; and back to text.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "config/checks.hpp"
#include "config/config.hpp"
#include "config/gpu_models.hpp"
#include "config/ini.hpp"
#include "config/override_error.hpp"
#include "config/suggest.hpp"
#include "config/system_config.hpp"
#include "config/value.hpp"
#include "util/error.hpp"

namespace lockstep::config {
namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> names_of(std::span<const BundledConfig> list) {
  std::vector<std::string_view> names;
  for (const BundledConfig& p : list) names.push_back(p.name);
  return names;
}

/// The error for a name that might have been meant as a system's, too.
std::string unknown_machine(const std::string& name) {
  std::vector<std::string_view> names = names_of(gpu_models());
  const std::vector<std::string_view> of_systems = names_of(systems());
  if (is_system(name))
    return fmt::format("'{}' is a system, expected a GPU model ({}) or a file", name, list_of(names));
  const std::string gpus = list_of(names);
  names.insert(names.end(), of_systems.begin(), of_systems.end());
  return fmt::format("'{}' is neither a GPU model ({}), a system ({}) nor a file{}", printable(name), gpus,
                     list_of(of_systems), suggestion(name, names));
}

bool is_gpu_model(std::string_view name) {
  for (const BundledConfig& p : gpu_models()) {
    if (p.name == name) return true;
  }
  return false;
}

/// Follows includes depth first, so that a file comes after the files that it includes.
class Loader {
 public:
  void gpu_model(const std::string& name) { load("configs/" + name + ".ini", *embedded_ini(name), {}); }

  void file(const std::string& path) {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(path, error);
    enter(error ? path : canonical.string(), path,
          [&] { load(path, read_text_file(path), fs::path(path).parent_path()); });
  }

  std::vector<Assignment> take() { return std::move(assignments_); }

 private:
  static constexpr std::size_t kDeepest = 16;

  /// `identity`: the same for the same file, whatever path was used.
  template <class Work>
  void enter(const std::string& identity, const std::string& name, Work work) {
    for (const std::string& outer : open_) {
      if (outer == identity) throw UserError(fmt::format("'{}' includes itself", printable(name)));
    }
    if (open_.size() == kDeepest) throw UserError(fmt::format("includes nest deeper than {}", kDeepest));
    open_.push_back(identity);
    work();
    open_.pop_back();
  }

  void load(const std::string& name, std::string_view text, const fs::path& folder) {
    IniText ini = parse_ini(text, name);
    reject_duplicates(ini);
    for (const Assignment& include : ini.includes) follow(include, folder);
    for (Assignment& a : ini.assignments) assignments_.push_back(std::move(a));
  }

  void follow(const Assignment& include, const fs::path& folder) {
    try {
      if (const auto text = embedded_ini(include.value)) {
        const std::string name = "configs/" + include.value + ".ini";
        return enter("<" + name + ">", name, [&] { load(name, *text, {}); });
      }
      const fs::path path = folder / include.value;
      std::error_code error;
      if (!fs::exists(path, error)) throw UserError("include: " + unknown_gpu(include.value));
      file(path.string());
    } catch (const InputError&) {
      throw;
    } catch (const UserError& e) {
      throw InputError(include.file, include.line, e.what());
    }
  }

  static void reject_duplicates(const IniText& ini) {
    std::map<std::string, std::uint64_t> lines;
    for (const Assignment& a : ini.assignments) {
      const Match match = find(a.key);
      const std::string& key = match.parameter ? match.parameter->key : a.key;
      const auto [first, is_new] = lines.emplace(key, a.line);
      if (!is_new)
        throw InputError(
            a.file, a.line,
            fmt::format("duplicate key '{}', first set at line {}", printable(a.key), first->second));
    }
  }

  std::vector<std::string> open_;
  std::vector<Assignment> assignments_;
};

std::vector<Assignment> load_all(const std::string& name_or_file) {
  Loader loader;
  std::error_code error;
  if (is_gpu_model(name_or_file)) {
    loader.gpu_model(name_or_file);
  } else if (fs::exists(name_or_file, error)) {
    loader.file(name_or_file);
  } else {
    throw UserError(unknown_machine(name_or_file));
  }
  return loader.take();
}

/// Sets one key; returns the canonical one. Throws UserError without a place.
std::string set_key(GpuConfig& config, std::string_view key, std::string_view value) {
  const Match match = find(key);
  if (!match.parameter)
    throw UserError(fmt::format("unknown key '{}'{}", printable(key), suggestion_for_key(key)));
  set_value(*match.parameter, config, value, match.scale);
  return match.parameter->key;
}

/// Every key with its default, which is v100's value.
Origins make_default_origins() {
  Origins origins;
  for (const Parameter& p : schema()) origins[p.key] = {Origin::Kind::kDefault, "default", ""};
  for (const Assignment& a : load_all(std::string(gpu_models()[0].name)))
    origins[find(a.key).parameter->key].note = a.note;
  return origins;
}

const Origins& default_origins() {
  static const Origins origins = make_default_origins();
  return origins;
}

/// Returns the canonical key.
std::string apply(GpuConfig& to, const Assignment& a) {
  try {
    return set_key(to, a.key, a.value);
  } catch (const UserError& e) {
    throw InputError(a.file, a.line, e.what());
  }
}

std::string apply_override(GpuConfig& to, const std::string& option) {
  const std::size_t equals = option.find('=');
  try {
    if (equals == std::string::npos) throw UserError("expected KEY=VALUE");
    const std::string_view key = trimmed(std::string_view(option).substr(0, equals));
    return set_key(to, key, std::string_view(option).substr(equals + 1));
  } catch (const UserError& e) {
    throw OverrideError(fmt::format("--set '{}': {}", printable(option), e.what()));
  }
}

GpuConfig from_files(const std::string& name_or_file) {
  GpuConfig config;
  for (const Assignment& a : load_all(name_or_file)) apply(config, a);
  return config;
}

/// Read once per process: a run needs its model several times, and small runs are short.
GpuConfig gpu_model_config(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, GpuConfig> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(name);
  return found != known.end() ? found->second : known.emplace(name, from_files(name)).first->second;
}

void check(const Resolved& resolved) {
  const auto broken = first_inconsistency(resolved.config);
  if (!broken) return;
  std::string values;
  for (const std::string_view key : broken->keys) {
    values += fmt::format("{}{} = {} ({})", values.empty() ? "" : ", ", key,
                          value_with_unit(*find(key).parameter, resolved.config),
                          resolved.origins.find(key)->second.place);
  }
  throw UserError(fmt::format("inconsistent configuration: {}: {}", broken->message, values));
}

}  // namespace

std::string unknown_gpu(const std::string& name) {
  const std::vector<std::string_view> gpus = names_of(gpu_models());
  return fmt::format("'{}' is neither a GPU model ({}) nor a file{}", printable(name), list_of(gpus),
                     suggestion(name, gpus));
}

std::vector<std::string> gpu_model_names() {
  std::vector<std::string> names;
  for (const BundledConfig& p : gpu_models()) names.emplace_back(p.name);
  return names;
}

Resolved resolve_with_origins(const std::string& name_or_file, const std::vector<Assignment>& assignments,
                              const std::vector<std::string>& overrides) {
  Resolved resolved{{}, default_origins()};
  const auto set = [&resolved](const Assignment& a, Origin::Kind kind) {
    resolved.origins[apply(resolved.config, a)] = {kind, fmt::format("{}:{}", a.file, a.line), a.note};
  };
  for (const Assignment& a : load_all(name_or_file)) set(a, Origin::Kind::kFile);
  for (const Assignment& a : assignments) set(a, Origin::Kind::kAssignment);
  for (const std::string& option : overrides)
    resolved.origins[apply_override(resolved.config, option)] = {Origin::Kind::kOption, "--set", ""};
  check(resolved);
  return resolved;
}

GpuConfig resolve(const std::string& name_or_file, const std::vector<std::string>& overrides) {
  return resolve(name_or_file, {}, overrides);
}

GpuConfig resolve(const std::string& name_or_file, const std::vector<Assignment>& assignments,
                  const std::vector<std::string>& overrides) {
  GpuConfig config = is_gpu_model(name_or_file) ? gpu_model_config(name_or_file) : from_files(name_or_file);
  for (const Assignment& a : assignments) apply(config, a);
  for (const std::string& option : overrides) apply_override(config, option);
  if (!first_inconsistency(config)) return config;
  return resolve_with_origins(name_or_file, assignments, overrides).config;  // throws, knowing the origins
}

std::string to_ini(const GpuConfig& config) {
  std::string out;
  std::string_view group;
  for (const Parameter& p : schema()) {
    const std::string_view own = group_of(p.key);
    if (own != group) out += fmt::format("{}[{}]\n", group.empty() ? "" : "\n", own);
    group = own;
    out +=
        fmt::format("{} = {}\n", std::string_view(p.key).substr(own.size() + 1), value_with_unit(p, config));
  }
  return out;
}

std::uint64_t hash(const GpuConfig& config) {
  constexpr std::uint64_t kOffset = 0xcbf29ce484222325, kPrime = 0x100000001b3;
  std::map<std::string, std::string> values;  // by key, so that the schema's order does not matter
  for (const Parameter& p : schema()) values[p.key] = value_text(p, config);
  std::uint64_t h = kOffset;
  for (const auto& [key, value] : values) {
    for (const char c : fmt::format("{}={}\n", key, value)) h = (h ^ static_cast<unsigned char>(c)) * kPrime;
  }
  return h;
}

}  // namespace lockstep::config
