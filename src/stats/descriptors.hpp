// The one table of counters. Statistics files, the summary, `compare`, `lockstep stats` and docs/stats.md all
// come from it: a counter is added by a field in counters.hpp and a row in descriptors.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stats/counters.hpp"

namespace lockstep::stats {

struct Descriptor {
  std::string_view name;  // path in stats.json, "l1.hits"; also the column in stats.csv
  std::string_view unit;
  std::string_view help;
  std::size_t offset;  // bytes from the start of KernelCounters
};

/// All counters in the order of the files. Names with the same group stand together.
[[nodiscard]] std::span<const Descriptor> descriptors();

[[nodiscard]] inline std::uint64_t value(const KernelCounters& counters, const Descriptor& descriptor) {
  return *reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const char*>(&counters) +
                                                 descriptor.offset);
}

/// What stats.json and stats.csv say of a kernel beside its counters.
struct FieldHelp {
  std::string_view name, unit, help;
};
[[nodiscard]] std::span<const FieldHelp> kernel_fields();

/// The key of a reason in "stalls", and the text for people.
[[nodiscard]] std::string_view stall_name(Stall stall);

/// docs/stats.md, generated.
[[nodiscard]] std::string markdown();

/// docs/stats.schema.json, generated: a JSON Schema of stats.json. It describes all that this version writes
/// and requires what is always there; names that it does not have are allowed, as later versions may add
/// some.
[[nodiscard]] std::string json_schema();

/// The statistics that `name` may mean: those whose names start with it ("l1", "stalls.wait"); failing that,
/// those whose names after the group start with it ("short_scoreboard"); failing that too, those that contain
/// it anywhere ("scoreboard"). All for "".
[[nodiscard]] std::vector<FieldHelp> find_statistics(std::string_view name);

/// Lines "name  unit  help" for these; empty if there are none.
[[nodiscard]] std::string explain(std::string_view name);

/// As explain(), as JSON: {"schema":1,"statistics":[{"name":...,"unit":...,"help":...}]}.
[[nodiscard]] std::string descriptors_json(std::string_view name);

}  // namespace lockstep::stats
