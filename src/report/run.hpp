// A result folder of `lockstep run -o` or `exec -o` as the report reads it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/gpu_config.hpp"
#include "report/profile_file.hpp"

namespace lockstep::report {

/// Numbers and texts by path, such as "l1.hits".
class Values {
 public:
  /// `where`: file and object, for errors.
  Values(std::string where, const nlohmann::ordered_json& object);

  /// Throws UserError if there is none, or if it has another type.
  [[nodiscard]] double number(std::string_view path) const;
  [[nodiscard]] std::string text(std::string_view path) const;
  [[nodiscard]] bool has(std::string_view path) const { return values_.find(path) != values_.end(); }
  /// 0 if there is none.
  [[nodiscard]] double number_if_any(std::string_view path) const { return has(path) ? number(path) : 0; }
  [[nodiscard]] const std::string& where() const { return where_; }
  /// All paths, in order.
  [[nodiscard]] std::vector<std::string> paths() const;

 private:
  std::string where_;
  std::map<std::string, nlohmann::ordered_json, std::less<>> values_;
};

struct Kernel {
  std::string name;   // readable, at most 60 characters
  std::string title;  // "kernel 3 sgemm"
  Values values;
  std::size_t index = 0;  // in stats.json
};

struct Intervals {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
  /// Index of a column; throws UserError if there is none.
  [[nodiscard]] std::size_t column(std::string_view name) const;
  std::string file;
};

struct Run {
  std::string folder;    // as given
  std::string identity;  // GPU, configuration, trace and version
  config::GpuConfig machine;
  std::vector<Kernel> kernels;
  std::vector<Values> copies;
  Values whole;  // core_khz, total_cycles, total.* and so on
  Intervals intervals;
  std::vector<Values> managed;  // by device; empty without managed memory
  std::vector<Values> links;
  std::vector<std::string> remarks;
  bool partial = false;
  std::string partial_reason;
  std::optional<Profile> profile;

  [[nodiscard]] const LaunchProfile* profile_of(const Kernel& kernel) const;
};

/// Throws UserError / InputError naming the file and what was expected: if the folder lacks stats.json or
/// config.ini of one run, or has files of another program or of a version of lockstep that is too old.
[[nodiscard]] Run load(const std::string& folder);

}  // namespace lockstep::report
