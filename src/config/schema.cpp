// Collects the rows and looks them up.
#include "config/schema.hpp"

#include <array>
#include <map>

#include "config/suggest.hpp"

namespace lockstep::config {
namespace {

constexpr Suffix kKilohertz[] = {{"kHz"}, {"MHz", 1000}, {"GHz", 1000000}};
constexpr Suffix kBytes[] = {{"B"}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}};
constexpr Suffix kKibibytes[] = {{"KiB"}, {"MiB", 1024}, {"B", 1, 1024}};
constexpr Suffix kPicoseconds[] = {{"ps"}, {"ns", 1000}, {"us", 1000000}};
constexpr Suffix kNanoseconds[] = {{"ns"}, {"us", 1000}, {"ps", 1, 1000}};
constexpr Suffix kCycles[] = {{"cycles"}};
constexpr Suffix kMilliCycles[] = {{"cycles", 1000}};
constexpr Suffix kBytesPerSecond[] = {
    {"B/s"}, {"kB/s", 1000}, {"MB/s", 1000000}, {"GB/s", 1000000000}, {"TB/s", 1000000000000}};
constexpr Suffix kMillivolts[] = {{"mV"}, {"V", 1000}};
constexpr Suffix kMicrowatts[] = {{"uW"}, {"mW", 1000}, {"W", 1000000}};
constexpr Suffix kFemtojoules[] = {{"fJ"}, {"pJ", 1000}, {"nJ", 1000000}};

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
    {"mV", kMillivolts},
    {"uW", kMicrowatts},
    {"fJ", kFemtojoules},
}};

Rows all_rows() {
  Rows all;
  for (Rows& part : std::vector<Rows>{machine_rows(), pipe_rows(), memory_rows(), dram_rows(), host_rows(),
                                      energy_rows(), uvm_rows()}) {
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

std::string suggestion_for_key(std::string_view key) {
  std::vector<std::string_view> keys;  // in the schema's order: among equals, the first is suggested
  for (const Parameter& p : schema()) keys.push_back(p.key);
  for (const Parameter& p : schema()) {
    for (const Alias& alias : p.aliases) keys.push_back(alias.key);
  }
  return key_suggestion(key, keys);
}

}  // namespace lockstep::config
