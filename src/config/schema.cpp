// The rows put together, and looking them up.
#include "config/schema.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace lockstep::config {
namespace {

constexpr Suffix kKilohertz[] = {{"kHz"}, {"MHz", 1000}, {"GHz", 1000000}};
constexpr Suffix kBytes[] = {{"B"}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}};
constexpr Suffix kKibibytes[] = {{"KiB"}, {"MiB", 1024}};
constexpr Suffix kPicoseconds[] = {{"ps"}, {"ns", 1000}, {"us", 1000000}};
constexpr Suffix kNanoseconds[] = {{"ns"}, {"us", 1000}, {"ps", 1, 1000}};
constexpr Suffix kCycles[] = {{"cycles"}};
constexpr Suffix kMilliCycles[] = {{"cycles", 1000}};
constexpr Suffix kBytesPerSecond[] = {{"B/s"}, {"MB/s", 1000000}, {"GB/s", 1000000000}};

constexpr std::array<MeasureInfo, static_cast<unsigned>(Measure::kCount)> kMeasures = {{
    {"", {}},
    {"kHz", kKilohertz},
    {"B", kBytes},
    {"KiB", kKibibytes},
    {"ps", kPicoseconds},
    {"ns", kNanoseconds},
    {"core cycles", kCycles},
    {"1/1000 core cycle", kMilliCycles},
    {"icnt cycles", kCycles},
    {"L2 cycles", kCycles},
    {"DRAM cycles", kCycles},
    {"B/s", kBytesPerSecond},
}};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

Rows all_rows() {
  Rows all;
  for (Rows& part :
       std::vector<Rows>{machine_rows(), pipe_rows(), memory_rows(), dram_rows(), host_rows(), uvm_rows()}) {
    for (Parameter& row : part) all.push_back(std::move(row));
  }
  return all;
}

std::map<std::string_view, Match> make_index() {
  std::map<std::string_view, Match> index;
  for (const Parameter& p : schema()) {
    index[p.key] = {&p, std::nullopt};
    for (const Alias& alias : p.aliases) index[alias.key] = {&p, alias.scale};
  }
  return index;
}

const std::map<std::string_view, Match>& key_index() {
  static const std::map<std::string_view, Match> index = make_index();
  return index;
}

}  // namespace

const MeasureInfo& info(Measure measure) { return kMeasures.at(static_cast<unsigned>(measure)); }

const std::vector<Parameter>& schema() {
  static const std::vector<Parameter> rows = all_rows();
  return rows;
}

std::string_view group_of(std::string_view key) { return key.substr(0, key.rfind('.')); }

Parameter integer(std::string key, Measure measure, std::uint64_t min, std::uint64_t max, std::string help,
                  Binding binding, std::vector<Alias> aliases) {
  return {std::move(key),  Type::kInteger, measure,           min, max, false, {},
          std::move(help), binding,        std::move(aliases)};
}
Parameter power_of_two(std::string key, Measure measure, std::uint64_t min, std::uint64_t max,
                       std::string help, Binding binding) {
  return {std::move(key), Type::kInteger, measure, min, max, true, {}, std::move(help), binding};
}
Parameter flag(std::string key, std::string help, Binding binding) {
  return {std::move(key), Type::kBool, Measure::kNone, 0, 1, false, {}, std::move(help), binding};
}
Parameter choice(std::string key, std::span<const std::string_view> names, std::string help,
                 Binding binding) {
  return {std::move(key), Type::kEnum, Measure::kNone,  0,      names.size() - 1,
          false,          names,       std::move(help), binding};
}
Parameter units(std::string key, std::span<const std::string_view> names, std::string help, Binding binding) {
  return {std::move(key), Type::kUnits, Measure::kNone, 0, 0, false, names, std::move(help), binding};
}
Parameter ascending(std::string key, Measure measure, std::uint64_t min, std::uint64_t max, std::string help,
                    Binding binding) {
  return {std::move(key), Type::kList, measure, min, max, false, {}, std::move(help), binding};
}
Parameter name(std::string key, std::string help, Binding binding) {
  constexpr std::uint64_t kLongest = 64;
  return {std::move(key), Type::kText, Measure::kNone, 1, kLongest, false, {}, std::move(help), binding};
}

Match find(std::string_view key) {
  const auto at = key_index().find(key);
  return at == key_index().end() ? Match{} : at->second;
}

/// Of a candidate that begins with the text, only the rest is missing: nothing is nearer.
std::string suggestion(std::string_view text, std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongest = 64, kShortest = 3;  // nothing longer is a misspelt key
  if (text.size() > kLongest) return "";
  std::size_t best = std::max<std::size_t>(2, text.size() / 3) + 1;
  std::string_view nearest;
  for (const std::string_view candidate : candidates) {
    const bool begins = text.size() >= kShortest && candidate.starts_with(text);
    const std::size_t distance = begins ? 0 : edit_distance(text, candidate);
    if (distance < best) best = distance, nearest = candidate;
  }
  return nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?";
}

std::string suggestion_for_key(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const auto& [name, match] : key_index()) keys.push_back(name);
  return suggestion(key, keys);
}

}  // namespace lockstep::config
