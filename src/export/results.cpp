#include "export/results.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "stats/stored_run.hpp"
#include "stats/text.hpp"
#include "util/error.hpp"
#include "util/types.hpp"

namespace lockstep::exporter {
namespace {

using Json = nlohmann::ordered_json;

/// A member of stats.json; T: std::uint64_t, double, bool, std::string or Json (an object or a list).
template <class T>
T member(const std::string& folder, const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  bool right = found != object.end();
  if constexpr (std::is_same_v<T, std::uint64_t>) right = right && found->is_number_unsigned();
  if constexpr (std::is_same_v<T, double>)
    right = right && found->is_number() && found->template get<double>() >= 0;
  if constexpr (std::is_same_v<T, bool>) right = right && found->is_boolean();
  if constexpr (std::is_same_v<T, std::string>) right = right && found->is_string();
  if constexpr (std::is_same_v<T, Json>) right = right && found->is_structured();
  if (!right)
    throw InputError(folder + "/stats.json", 0, fmt::format("\"{}\" is missing or of another type", key));
  return found->template get<T>();
}

std::uint64_t time_ps(const std::string& folder, const Json& object, const char* key) {
  constexpr double kMax = 1e15;  // ps that a double has exactly
  const double ps = member<double>(folder, object, key) * kPsOfNs;
  if (!(ps < kMax)) throw InputError(folder + "/stats.json", 0, fmt::format("\"{}\" is too large", key));
  return static_cast<std::uint64_t>(std::llround(ps));
}

std::uint16_t device_of(const std::string& folder, const Json& object) {
  if (!object.contains("device")) return 0;
  const std::uint64_t device = member<std::uint64_t>(folder, object, "device");
  if (device >= trace::Command::kMaxDevices)
    throw InputError(folder + "/stats.json", 0, fmt::format("found device {}", device));
  return static_cast<std::uint16_t>(device);
}

config::SystemConfig read_system(const std::string& folder, bool linked) {
  if (linked) return config::resolve_system(folder + "/system.ini");
  return config::unlinked_system(config::resolve(folder + "/config.ini"), 1);
}

void check_trace(const std::string& folder, const Json& root, const trace::TraceSet& trace) {
  const Json of = member<Json>(folder, root, "trace");
  const auto hash = member<std::string>(folder, of, "hash");
  if (hash != stats::hex16(trace.content_hash()))
    throw UserError(fmt::format("{}: results of another trace: {} with hash {}; expected {} with hash {}",
                                folder, stats::printable(member<std::string>(folder, of, "name")),
                                stats::printable(hash), stats::printable(trace.name()),
                                stats::hex16(trace.content_hash())));
  if (member<bool>(folder, root, "partial"))
    throw UserError(
        fmt::format("{}: the results are partial ({}); expected those of a run to the trace's end", folder,
                    stats::printable(member<std::string>(folder, root, "partial_reason"))));
}

/// The files with the configuration are to be those that the run has written.
void check_configuration(const std::string& folder, const Json& root, const config::SystemConfig& system) {
  std::vector<std::string> hashes;
  if (root.contains("system")) {
    for (const Json& device : member<Json>(folder, member<Json>(folder, root, "system"), "devices"))
      hashes.push_back(member<std::string>(folder, device, "config_hash"));
  } else {
    hashes.push_back(member<std::string>(folder, root, "config_hash"));
  }
  bool same = hashes.size() == system.devices.size();
  for (std::size_t d = 0; same && d < hashes.size(); ++d)
    same = hashes[d] == stats::hex16(config::hash(system.devices[d]));
  if (!same)
    throw UserError(fmt::format("{}: config.ini or system.ini is not that of the run in stats.json", folder));
}

}  // namespace

Results::Results(std::string folder, const trace::TraceSet& trace) : folder_(std::move(folder)) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder_, error))
    throw UserError(fmt::format("{}: not a folder; expected the results of a run (-o)", folder_));
  const Json root = stats::read_stats(folder_);
  check_trace(folder_, root, trace);
  system_ = read_system(folder_, root.contains("system"));
  check_configuration(folder_, root, system_);
  read_kernels(member<Json>(folder_, root, "kernels"));
  read_copies(member<Json>(folder_, root, "copies"));
}

void Results::read_kernels(const Json& kernels) {
  for (const Json& kernel : kernels)
    kernels_[{device_of(folder_, kernel), member<std::uint64_t>(folder_, kernel, "stream"),
              member<std::uint64_t>(folder_, kernel, "id"), member<std::string>(folder_, kernel, "name")}]
        .push_back(time_ps(folder_, kernel, "elapsed_ns"));
}

void Results::read_copies(const Json& copies) {
  for (const Json& copy : copies)
    copies_[{device_of(folder_, copy), member<std::string>(folder_, copy, "kind"),
             member<std::string>(folder_, copy, "address"), member<std::uint64_t>(folder_, copy, "bytes")}]
        .push_back(time_ps(folder_, copy, "time_ns"));
}

std::uint64_t Results::take_kernel(const trace::KernelHeader& kernel, std::uint16_t device) {
  const auto found = kernels_.find({device, kernel.stream, kernel.id, kernel.name});
  if (found == kernels_.end())
    throw InputError(
        folder_ + "/stats.json", 0,
        fmt::format("lacks a launch of kernel {} ({}) in stream {} of device {}; expected the results "
                    "of a run of all kernels",
                    kernel.id, stats::printable(kernel.name), kernel.stream, device));
  const std::uint64_t time = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) kernels_.erase(found);
  return time;
}

std::uint64_t Results::take_copy(std::string_view kind, std::uint16_t device, Address address,
                                 std::uint64_t bytes) {
  const auto found = copies_.find({device, std::string(kind), stats::hex16(address), bytes});
  if (found == copies_.end())
    throw InputError(folder_ + "/stats.json", 0,
                     fmt::format("lacks a copy ({}) of {} bytes at {} by device {}", kind, bytes,
                                 stats::hex16(address), device));
  const std::uint64_t time = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) copies_.erase(found);
  return time;
}

void Results::check_empty() const {
  if (kernels_.empty() && copies_.empty()) return;
  std::size_t kernels = 0, copies = 0;
  for (const auto& [key, times] : kernels_) kernels += times.size();
  for (const auto& [key, times] : copies_) copies += times.size();
  throw InputError(folder_ + "/stats.json", 0,
                   fmt::format("has {} kernels and {} copies that the recording lacks", kernels, copies));
}

}  // namespace lockstep::exporter
