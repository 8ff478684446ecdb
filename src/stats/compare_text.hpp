// What a comparison of runs found, and how it is written.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::stats {

struct Comparison {
  struct Run {
    std::string file, identity;
  };
  struct Row {
    std::string name;
    std::vector<nlohmann::ordered_json> values;  // of each run; null where it has no such value
  };
  struct Part {
    std::string title, label;  // of the section, as in Section
    std::string only_in;       // the runs that have the section, "A, C"; empty where all have it
    std::vector<Row> rows;
  };
  std::vector<Run> runs;
  double tolerance = 0;
  std::vector<Row> parameters;  // those that differ
  /// Pairs of a value of a section's first run and of a later run that has the section, too.
  std::size_t compared = 0, different = 0;
  std::vector<Part> parts;  // those with differences
  struct Lone {
    std::string only_in;  // as in Part
    std::size_t sections = 0, values = 0;
  };
  std::vector<Lone> lone;  // what some runs lack
};

/// The run's name in the comparison: "A", "B", ...
[[nodiscard]] inline std::string letter(std::size_t run) {
  return std::string(1, static_cast<char>('A' + run));
}

/// For people: the first differences of the first sections.
[[nodiscard]] std::string as_text(const Comparison& comparison);
/// All of them.
[[nodiscard]] std::string as_json(const Comparison& comparison);

}  // namespace lockstep::stats
