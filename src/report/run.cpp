#include "report/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "config/config.hpp"
#include "stats/files.hpp"
#include "stats/names.hpp"
#include "stats/stored_run.hpp"
#include "stats/text.hpp"
#include "util/error.hpp"

namespace lockstep::report {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::size_t kNameWidth = 60;

/// Nothing deeper than load_run() has let pass. Of lists only short ones, such as a grid's dimensions: the
/// others stay with those who walk over them.
void flatten(const std::string& path, const Json& value, std::map<std::string, Json, std::less<>>& out) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) flatten(path.empty() ? key : path + "." + key, child, out);
  } else if (value.is_array()) {
    constexpr std::size_t kShort = 3;
    for (std::size_t i = 0; value.size() <= kShort && i < value.size(); ++i)
      if (value[i].is_primitive()) out.emplace(fmt::format("{}[{}]", path, i), value[i]);
  } else {
    out.emplace(path, value);
  }
}

Json parsed(const std::string& file) { return Json::parse(stats::read_file(file)); }

const Json* find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::vector<Kernel> kernels_of(const std::string& file, const Json& root) {
  std::vector<Kernel> kernels;
  std::vector<std::string> names;
  for (const Json& k : root["kernels"]) {
    const Json* name = find(k, "name");
    names.push_back(name && name->is_string() ? stats::printable(name->get<std::string>()) : "?");
  }
  const auto labels = stats::labels_by_name(names, kNameWidth);
  for (std::size_t i = 0; i < names.size(); ++i) {
    Values values(fmt::format("{}: kernel {}", file, i + 1), root["kernels"][i]);
    const std::string& label = labels.at(names[i]);
    std::string title =
        fmt::format("kernel {} {}", static_cast<std::uint64_t>(values.number_if_any("id")), label);
    kernels.push_back({label, std::move(title), std::move(values), i});
  }
  return kernels;
}

Intervals intervals_of(const std::string& file, const Json& root) {
  Intervals intervals;
  intervals.file = file;
  const Json* found = find(root, "intervals");
  if (!found) return intervals;
  const Json* columns = found->is_object() ? find(*found, "columns") : nullptr;
  const Json* rows = found->is_object() ? find(*found, "rows") : nullptr;
  const auto broken = [&] { return InputError(file, 0, "\"intervals\" has no columns and rows of numbers"); };
  if (!columns || !rows || !columns->is_array() || !rows->is_array()) throw broken();
  for (const Json& c : *columns) {
    if (!c.is_string()) throw broken();
    intervals.columns.push_back(c.get<std::string>());
  }
  for (const Json& row : *rows) {
    if (!row.is_array() || row.size() != columns->size()) throw broken();
    std::vector<double>& numbers = intervals.rows.emplace_back();
    for (const Json& v : row) {
      if (!v.is_number()) throw broken();
      numbers.push_back(v.get<double>());
    }
  }
  return intervals;
}

std::vector<Values> list_of(const std::string& file, const Json* list, const char* what) {
  std::vector<Values> all;
  if (!list) return all;
  if (list->is_object()) return {Values(fmt::format("{}: {}", file, what), *list)};
  if (!list->is_array())
    throw InputError(file, 0, fmt::format("\"{}\" is neither a list nor an object", what));
  for (const Json& item : *list) all.emplace_back(fmt::format("{}: {} {}", file, what, all.size() + 1), item);
  return all;
}

std::vector<std::string> texts_of(const Json* list) {
  std::vector<std::string> all;
  if (!list || !list->is_array()) return all;
  for (const Json& item : *list)
    if (item.is_string()) all.push_back(stats::printable(item.get<std::string>()));
  return all;
}

config::GpuConfig machine_of(const std::string& folder, const Values& whole) {
  const std::string file = folder + "/config.ini";
  if (!fs::is_regular_file(file))
    throw InputError(file, 0,
                     "no such file; expected the configuration that a run with -o writes beside its results");
  config::GpuConfig machine = config::resolve(file);
  const std::string hash = stats::hex16(config::hash(machine)), expected = whole.text("config_hash");
  if (hash != expected)
    throw InputError(
        file, 0, fmt::format("this is configuration {}, expected that of stats.json, {}", hash, expected));
  return machine;
}

std::optional<Profile> profile_of(const std::string& folder, const Values& whole, std::size_t kernels) {
  const std::string file = folder + "/profile.json";
  if (!fs::is_regular_file(file)) return std::nullopt;
  Profile profile = parse_profile(stats::read_file(file), file);
  if (profile.trace_hash != whole.text("trace.hash") || profile.config_hash != whole.text("config_hash"))
    throw InputError(file, 0, "this is the profile of another run than stats.json is of");
  for (const LaunchProfile& launch : profile.kernels)
    if (launch.kernel >= kernels)
      throw InputError(
          file, 0, fmt::format("found kernel {}, expected one of stats.json's {}", launch.kernel, kernels));
  return profile;
}

}  // namespace

Values::Values(std::string where, const Json& object) : where_(std::move(where)) {
  flatten("", object, values_);
}

double Values::number(std::string_view path) const {
  const auto found = values_.find(path);
  if (found == values_.end())
    throw UserError(fmt::format(
        "{} has no \"{}\": the run is of another version of lockstep; simulate it again", where_, path));
  if (!found->second.is_number())
    throw UserError(fmt::format("{}: \"{}\" is {}, expected a number", where_, path, found->second.dump()));
  const auto number = found->second.get<double>();
  if (number < 0)
    throw UserError(
        fmt::format("{}: \"{}\" is {}, expected a number of 0 or more", where_, path, found->second.dump()));
  return number;
}

std::string Values::text(std::string_view path) const {
  const auto found = values_.find(path);
  if (found == values_.end() || !found->second.is_string())
    throw UserError(fmt::format("{} has no text \"{}\", expected a result of lockstep", where_, path));
  return stats::printable(found->second.get<std::string>());
}

std::vector<std::string> Values::paths() const {
  std::vector<std::string> all;
  for (const auto& [path, value] : values_) all.push_back(path);
  return all;
}

std::size_t Intervals::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end())
    throw InputError(file, 0, fmt::format("\"intervals\" has no column \"{}\"", name));
  return static_cast<std::size_t>(found - columns.begin());
}

const LaunchProfile* Run::profile_of(const Kernel& kernel) const {
  if (!profile) return nullptr;
  const auto found = std::find_if(profile->kernels.begin(), profile->kernels.end(),
                                  [&](const LaunchProfile& p) { return p.kernel == kernel.index; });
  return found == profile->kernels.end() ? nullptr : &*found;
}

Run load(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw UserError(
        fmt::format("{}: no folder; expected one that `lockstep run -o` or `exec -o` has written", folder));
  const stats::StoredRun stored = stats::load_run(folder);  // checks the form
  const Json root = parsed(stored.file);
  Values whole(stored.file, root);
  config::GpuConfig machine = machine_of(folder, whole);
  auto profile = profile_of(folder, whole, root["kernels"].size());
  const Json* system = find(root, "system");
  Run run{folder,
          stored.identity,
          std::move(machine),
          kernels_of(stored.file, root),
          list_of(stored.file, find(root, "copies"), "copies"),
          std::move(whole),
          intervals_of(stored.file, root),
          list_of(stored.file, find(root, "managed"), "managed"),
          list_of(stored.file, system && system->is_object() ? find(*system, "links") : nullptr, "links"),
          texts_of(find(root, "remarks")),
          false,
          "",
          std::move(profile)};
  if (const Json* partial = find(root, "partial"))
    run.partial = partial->is_boolean() && partial->get<bool>();
  if (run.partial && run.whole.has("partial_reason")) run.partial_reason = run.whole.text("partial_reason");
  return run;
}

}  // namespace lockstep::report
