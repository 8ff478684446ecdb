#include "cli/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "util/error.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

bool is_list_name(std::string_view name) { return name.starts_with("kernelslist"); }

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code missing;
  return fs::is_regular_file(a, missing) && fs::equivalent(a, b, missing);
}

bool is_file_of_trace(const std::string& file, const std::string& trace) {
  if (is_same_file(file, trace)) return true;
  std::error_code missing;
  if (!fs::is_regular_file(file, missing)) return false;
  fs::path folder = trace;
  if (!fs::is_directory(folder, missing)) {
    if (!is_list_name(folder.filename().string())) return false;
    folder = folder_of(folder);
  }
  const std::string name = fs::path(file).filename().string();
  return (is_list_name(name) || name.find(".trace") != std::string::npos) &&
         fs::equivalent(folder_of(file), folder, missing);
}

bool is_file_of_results(const std::string& file, const std::string& folder) {
  static constexpr std::string_view kFiles[] = {"stats.json", "stats.csv",    "config.ini",   "system.ini",
                                                "host.json",  "profile.json", "intervals.csv"};
  return std::ranges::any_of(
      kFiles, [&](std::string_view name) { return is_same_file(file, fmt::format("{}/{}", folder, name)); });
}

void refuse_overwriting(std::string_view option, const std::string& file, bool is_input) {
  if (!is_input) return;
  throw UserError(
      fmt::format("{}: {} is a file that is read here; expected the name of another", option, file));
}

}  // namespace lockstep::cli
