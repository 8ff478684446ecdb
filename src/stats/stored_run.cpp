// Reads stats.json.
#include "stats/stored_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unordered_map>

#include "stats/files.hpp"
#include "stats/names.hpp"
#include "stats/repeated_key.hpp"
#include "stats/text.hpp"
#include "util/error.hpp"

namespace lockstep::stats {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned kMaxDepth = 16;

std::uint64_t line_of_byte(const std::string& text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return 1 + static_cast<std::uint64_t>(std::count(text.begin(), end, '\n'));
}

/// The first byte at which more than kMaxBrackets are open: copies of such a tree would use up the stack.
std::size_t too_deep(const std::string& text) {
  constexpr unsigned kMaxBrackets = 64;
  unsigned open = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (c == '\\' && in_string) ++i;
    if (in_string) continue;
    if ((c == '[' || c == '{') && ++open > kMaxBrackets) return i;
    if ((c == ']' || c == '}') && open > 0) --open;
  }
  return std::string::npos;
}

/// Reads a text up to the place at which it is no JSON. A number beyond the range of a double has a place
/// here, too.
class FirstFault final : public nlohmann::json_sax<Json> {
 public:
  std::size_t byte = 0;  // from 1 on
  std::string found;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(Json::number_integer_t) override { return true; }
  bool number_unsigned(Json::number_unsigned_t) override { return true; }
  bool number_float(Json::number_float_t, const Json::string_t&) override { return true; }
  bool string(Json::string_t&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(Json::string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string& last, const Json::exception&) override {
    byte = position;
    found = last;
    return false;
  }
};

[[noreturn]] void fail_to_parse(const std::string& file, const std::string& text) {
  constexpr std::size_t kShown = 40;
  FirstFault fault;
  Json::sax_parse(text, &fault);
  std::string what = "the file ends too early";
  if (fault.byte <= text.size()) {
    const std::string_view read = fault.found;
    what = fmt::format("found '{}'", printable(read.substr(read.size() - std::min(kShown, read.size()))));
  }
  throw InputError(file, line_of_byte(text, fault.byte == 0 ? 0 : fault.byte - 1),
                   fmt::format("byte {}: not valid JSON: {}", fault.byte, what));
}

Json parse_file(const std::string& file) {
  const std::string text = read_file(file);
  if (const std::size_t byte = too_deep(text); byte != std::string::npos)
    throw InputError(file, line_of_byte(text, byte), fmt::format("byte {}: nested too deeply", byte + 1));
  Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded()) fail_to_parse(file, text);
  if (const auto key = repeated_key(text))
    throw InputError(file, 0, fmt::format("\"{}\" is there twice, expected each key once", printable(*key)));
  return root;
}

/// Numbers must keep every digit: whole numbers of 64 bits, or small enough decimals.
void check_number(const std::string& file, const std::string& path, const Json& value) {
  if (!value.is_number_float() || std::abs(value.get<double>()) < 1.8e19) return;
  throw InputError(file, 0, fmt::format("\"{}\" is {}, more than 64 bits", path, value.dump()));
}

void flatten(const std::string& file, const std::string& path, const Json& value, unsigned depth,
             std::vector<std::pair<std::string, Json>>& out) {
  if (depth > kMaxDepth) throw InputError(file, 0, fmt::format("\"{}\" is nested too deeply", path));
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      flatten(file, path.empty() ? key : fmt::format("{}.{}", path, key), child, depth + 1, out);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      flatten(file, fmt::format("{}[{}]", path, i), value[i], depth + 1, out);
    }
  } else {
    check_number(file, path, value);
    out.emplace_back(path, value);
  }
}

const Json& need(const std::string& file, const Json& object, const char* key, Json::value_t type) {
  const auto found = object.find(key);
  if (found == object.end() || found->type() != type) {
    throw InputError(file, 0,
                     fmt::format("found no \"{}\" of type {}, expected a stats.json of lockstep", key,
                                 Json(type).type_name()));
  }
  return *found;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? printable(found->get<std::string>()) : "?";
}

/// Kernels are identified by id and name, and repeated ones (several contexts) by their occurrence.
void name_kernel(Section& section, const Json& kernel,
                 const std::unordered_map<std::string, std::string>& labels) {
  const auto id = kernel.find("id");
  const std::string before = fmt::format("kernel {} ", id != kernel.end() ? printable(id->dump()) : "?");
  const std::string name = text_of(kernel, "name");
  section.title = before + name;
  section.label = before + labels.at(name);
}

std::unordered_map<std::string, std::string> kernel_labels_of(const Json& kernels) {
  constexpr std::size_t kWidth = 80;
  std::vector<std::string> names;
  for (const Json& kernel : kernels)
    if (kernel.is_object()) names.push_back(text_of(kernel, "name"));
  return labels_by_name(names, kWidth);
}

void add_list(StoredRun& run, const Json& list, const char* what) {
  std::map<std::string, unsigned> seen;
  const bool kernels = std::string_view(what) == "kernel";
  const auto labels = kernel_labels_of(kernels ? list : Json::array());
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object()) throw InputError(run.file, 0, fmt::format("{} {} is no object", what, i));
    Section section;
    section.title = section.label = fmt::format("{} {}", what, i);
    if (kernels) name_kernel(section, list[i], labels);
    const unsigned again = seen[section.title]++;
    section.key = fmt::format("{}/{}", section.title, again);
    if (again > 0) {
      const std::string number = fmt::format(" ({} more of this id before)", again);
      section.title += number;
      section.label += number;
    }
    flatten(run.file, "", list[i], 0, section.values);
    run.sections.push_back(std::move(section));
  }
}

void add_intervals(StoredRun& run, const Json& root) {
  const auto found = root.find("intervals");
  if (found == root.end()) return;
  Section section{"intervals", "intervals", "intervals", {}};
  flatten(run.file, "", *found, 0, section.values);
  run.sections.push_back(std::move(section));
}

}  // namespace

std::string stats_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? path + "/stats.json" : path;
}

Json read_stats(const std::string& path) {
  const std::string file = stats_file(path);
  Json root = parse_file(file);
  if (!root.is_object()) throw InputError(file, 0, "found no object, expected a stats.json of lockstep");
  const Json& schema = need(file, root, "schema", Json::value_t::number_unsigned);
  if (schema != 1u && schema != 2u) {
    throw InputError(file, 0,
                     fmt::format("found schema {}, this program reads schemas 1 and 2", schema.dump()));
  }
  return root;
}

StoredRun load_run(const std::string& path) {
  StoredRun run;
  run.file = stats_file(path);
  const Json root = read_stats(path);
  run.gpu = text_of(root, "gpu");
  if (const auto found = root.find("overrides"); found != root.end() && found->is_object())
    for (const auto& [key, value] : found->items())
      run.overrides[printable(key)] = value.is_string() ? printable(value.get<std::string>()) : "?";
  const Json& trace = need(run.file, root, "trace", Json::value_t::object);
  run.identity =
      fmt::format("{} (configuration {}), trace {} ({}), lockstep {}", run.gpu, text_of(root, "config_hash"),
                  text_of(trace, "name"), text_of(trace, "hash"), text_of(root, "version"));
  const Json& kernels = need(run.file, root, "kernels", Json::value_t::array);
  add_list(run, kernels, "kernel");
  add_list(run, need(run.file, root, "copies", Json::value_t::array), "copy");
  add_intervals(run, root);
  Section total{"total", "total", "total", {}};
  flatten(run.file, "", need(run.file, root, "total", Json::value_t::object), 0, total.values);
  for (const char* key : {"unattributed", "core_khz", "total_cycles", "partial", "partial_reason",
                          "unknown_opcodes", "remarks", "managed", "system", "sampling"}) {
    if (const auto found = root.find(key); found != root.end())
      flatten(run.file, key, *found, 0, total.values);
  }
  run.sections.push_back(std::move(total));
  return run;
}

}  // namespace lockstep::stats
