// A stats.json as values by name.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::stats {

/// What can be compared as one: the whole run, a kernel, a copy, the intervals.
struct Section {
  std::string key;    // the same in other runs
  std::string title;  // "kernel 2 _Z3addPf"
  std::string label;  // the same for people, with a readable name
  std::vector<std::pair<std::string, nlohmann::ordered_json>> values;  // by path: "l1.hits"
};

struct StoredRun {
  std::string file;
  std::string identity;  // GPU, configuration, trace and version, for people
  std::string gpu;
  std::map<std::string, std::string> overrides;
  std::vector<Section> sections;
};

/// The file that `path` means: a stats.json, or that of a folder.
[[nodiscard]] std::string stats_file(const std::string& path);

/// The whole file, of a schema that this program reads. `path`: as above.
/// Throws UserError / InputError.
[[nodiscard]] nlohmann::ordered_json read_stats(const std::string& path);

/// `path` as above. Throws UserError / InputError.
[[nodiscard]] StoredRun load_run(const std::string& path);

}  // namespace lockstep::stats
