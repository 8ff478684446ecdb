// The schema: one row for each parameter. INI files, --set, explanations, docs/config.md, the resolved text
// and the hash are all made from these rows; nothing else knows the names of parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/gpu_config.hpp"

namespace lockstep::config {

enum class Type : std::uint8_t { kInteger, kBool, kEnum, kUnits, kList, kText };

/// What an integer counts; it decides the unit suffixes that a value may carry.
enum class Measure : std::uint8_t {
  kNone,
  kKilohertz,
  kBytes,
  kKibibytes,
  kPicoseconds,
  kNanoseconds,
  kCoreCycles,
  kMilliCoreCycles,
  kIcntCycles,
  kL2Cycles,
  kDramCycles,
  kBytesPerSecond,
  kMillivolts,
  kMicrowatts,
  kFemtojoules,
  kCount
};

/// A unit suffix and its size in the stored unit: numerator / denominator.
struct Suffix {
  std::string_view text;
  std::uint64_t numerator = 1, denominator = 1;
};
struct MeasureInfo {
  std::string_view name;  // of the stored unit, as shown: "kHz", "core cycles"; empty = a plain count
  std::span<const Suffix> suffixes;
};
[[nodiscard]] const MeasureInfo& info(Measure measure);

/// Access to the field behind a key. Integers, booleans, enumerations and unit masks use `get` and `set`;
/// lists and texts use the pointer for their type.
struct Binding {
  std::uint64_t (*get)(const GpuConfig&) = nullptr;
  void (*set)(GpuConfig&, std::uint64_t) = nullptr;
  std::vector<std::uint32_t>& (*list)(GpuConfig&) = nullptr;
  std::string& (*text)(GpuConfig&) = nullptr;
};

/// Another spelling of a key; a value without a unit is in multiples of `scale` stored units.
struct Alias {
  std::string_view key;
  Suffix scale;
};

struct Parameter {
  std::string key;
  Type type = Type::kInteger;
  Measure measure = Measure::kNone;
  std::uint64_t min = 0, max = 0;  // integers and list elements, both included
  bool power_of_two = false;
  std::span<const std::string_view> names = {};  // of an enumeration's values or a unit mask's bits
  std::string help;
  Binding binding;
  std::vector<Alias> aliases = {};
};

/// All parameters, in the order of files and documents, grouped.
[[nodiscard]] const std::vector<Parameter>& schema();

/// "l1" of "l1.bytes"; "pipe.fp32" of "pipe.fp32.latency".
[[nodiscard]] std::string_view group_of(std::string_view key);

struct Match {
  const Parameter* parameter = nullptr;
  std::optional<Suffix> scale;  // the unit of a bare number, if an alias was used
};
/// Finds a parameter by key or alias; nullptr if there is none.
[[nodiscard]] Match find(std::string_view key);

/// "; did you mean 'l1.ways'?", or empty if no key or alias is close (suggest.hpp).
[[nodiscard]] std::string suggestion_for_key(std::string_view key);

// --- Rows
// ---------------------------------------------------------------------------------------------------

/// Binds `config.*Group.*Field`, for example number<&GpuConfig::l1, &L1Group::bytes>().
template <auto Group, auto Field>
[[nodiscard]] constexpr Binding number() {
  return {[](const GpuConfig& c) { return static_cast<std::uint64_t>((c.*Group).*Field); },
          [](GpuConfig& c, std::uint64_t v) {
            auto& field = (c.*Group).*Field;
            field = static_cast<std::remove_reference_t<decltype(field)>>(v);
          }};
}
template <auto Group, auto Field>
[[nodiscard]] constexpr Binding list() {
  return {nullptr, nullptr, [](GpuConfig& c) -> std::vector<std::uint32_t>& { return (c.*Group).*Field; }};
}
template <auto Group, auto Field>
[[nodiscard]] constexpr Binding text() {
  return {nullptr, nullptr, nullptr, [](GpuConfig& c) -> std::string& { return (c.*Group).*Field; }};
}

using Rows = std::vector<Parameter>;
[[nodiscard]] Parameter integer(std::string key, Measure measure, std::uint64_t min, std::uint64_t max,
                                std::string help, Binding binding, std::vector<Alias> aliases = {});
[[nodiscard]] Parameter power_of_two(std::string key, Measure measure, std::uint64_t min, std::uint64_t max,
                                     std::string help, Binding binding);
[[nodiscard]] Parameter flag(std::string key, std::string help, Binding binding);
[[nodiscard]] Parameter choice(std::string key, std::span<const std::string_view> names, std::string help,
                               Binding binding);
[[nodiscard]] Parameter units(std::string key, std::span<const std::string_view> names, std::string help,
                              Binding binding);
[[nodiscard]] Parameter ascending(std::string key, Measure measure, std::uint64_t min, std::uint64_t max,
                                  std::string help, Binding binding);
[[nodiscard]] Parameter name(std::string key, std::string help, Binding binding);

[[nodiscard]] Rows machine_rows();  // gpu, clock, sm, frontend, rf
[[nodiscard]] Rows pipe_rows();     // pipe, tensor, mio
[[nodiscard]] Rows memory_rows();   // l1, tlb, sync, icnt, l2
[[nodiscard]] Rows dram_rows();     // dram
[[nodiscard]] Rows host_rows();     // launch, host
[[nodiscard]] Rows energy_rows();   // energy
[[nodiscard]] Rows uvm_rows();      // uvm

}  // namespace lockstep::config
