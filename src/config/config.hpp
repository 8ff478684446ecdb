// Reading, checking and explaining configurations. The schema is the one list of parameters; files, --set,
// `lockstep config`, docs/config.md and the hash all come from it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/gpu_config.hpp"
#include "config/ini.hpp"
#include "config/origin.hpp"

namespace lockstep::config {

/// Names of the GPU models compiled into the program, in listing order.
[[nodiscard]] std::vector<std::string> gpu_model_names();

/// `name_or_file`: a GPU model's name, or an INI file (which may `include =` another file or a model).
/// `assignments`, each with its place, are applied after the file; `overrides`, the texts of --set
/// ("key=value"), last. Throws UserError/InputError: unknown key with "did you mean", wrong unit, out of
/// range, inconsistent values (naming the keys that disagree).
[[nodiscard]] Resolved resolve_with_origins(const std::string& name_or_file,
                                            const std::vector<Assignment>& assignments = {},
                                            const std::vector<std::string>& overrides = {});
/// The same, without the origins.
[[nodiscard]] GpuConfig resolve(const std::string& name_or_file,
                                const std::vector<std::string>& overrides = {});
[[nodiscard]] GpuConfig resolve(const std::string& name_or_file, const std::vector<Assignment>& assignments,
                                const std::vector<std::string>& overrides);

/// The error for a GPU name that is neither a model nor a file: lists the models, and suggests one.
[[nodiscard]] std::string unknown_gpu(const std::string& name);

/// Every key with its resolved value, as an INI text that resolve() reads back to the same configuration.
[[nodiscard]] std::string to_ini(const GpuConfig& config);

/// The keys whose values differ from those of the GPU model called `gpu.name`, with their values and units;
/// by key. Empty for a configuration with a name of its own. Depends on values only: the result is the same
/// for --set, a file that includes the model, and a resolved config.ini.
[[nodiscard]] std::map<std::string, std::string> overrides(const GpuConfig& config);

/// FNV-1a over the canonical "key=value" lines: depends on values only, not on files or order.
[[nodiscard]] std::uint64_t hash(const GpuConfig& config);

/// Help for one key or group, or for all ("" = all): name, type, unit, range, default, help, source, place.
[[nodiscard]] std::string explain(const std::string& key_or_group, const Resolved& resolved);

/// docs/config.md, generated.
[[nodiscard]] std::string markdown();

}  // namespace lockstep::config
