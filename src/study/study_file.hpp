// A study: what is simulated (workloads) on what (axes of configurations), as a TOML file says it.
// docs/studies/sweep.md describes the format for users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::study {

/// What a run is started with, apart from its workload. If several apply, later values override earlier ones.
struct Settings {
  std::string config;                                    // GPU or system, as -c; empty: not given here
  std::vector<std::pair<std::string, std::string>> set;  // parameters, as --set
  std::vector<std::pair<std::string, std::string>>
      options;  // of `lockstep run`, without "--"; "true": a flag
  /// Takes over the values of `later`.
  void merge(const Settings& later);
};

struct Workload {
  std::string name;
  std::vector<std::string> trace;    // the arguments of `lockstep run` that name it; empty: a program
  std::vector<std::string> program;  // the program and its arguments
  std::vector<std::string> inputs;   // files that the program reads
  Settings settings;
  std::uint64_t line = 0;
};

/// One value of an axis.
struct AxisPoint {
  std::string label;
  bool numeric = false;  // the label is a number
  Settings settings;
  std::uint64_t line = 0;
};

struct Axis {
  std::string name;
  std::vector<AxisPoint> points;  // at least one; labels differ
  std::uint64_t line = 0;
};

/// "column = value" for axes, by name and label.
using Where = std::vector<std::pair<std::string, std::string>>;

/// A column `speedup`: the value of column `of` in the baseline run, divided by the run's own. The baseline
/// is the run with the labels of `against` and otherwise those of the run.
struct Speedup {
  std::string of = "elapsed_ns";
  Where against;
};

struct Figure {
  enum class Kind : std::uint8_t { kLines, kBars, kHeatMap, kPareto } kind = Kind::kLines;
  std::string name;  // of the file, without ".svg"
  std::string title;
  std::string x, y;                         // columns. Heat map: both are axes, and `value` is what is shown
  std::string value;                        // heat map
  std::string series;                       // a line, or a colour, for each value of this axis; empty: one
  bool x_higher = false, y_higher = false;  // Pareto: more of it is better
  Where where;                              // only these runs
  std::uint64_t line = 0;
};

struct Study {
  std::string file, title;
  unsigned threads = 1;              // of each run
  unsigned jobs = 0;                 // runs side by side; 0: as many as the cores allow
  Settings settings;                 // of all runs
  std::vector<std::string> columns;  // that the printed table shows beside axes and state
  std::vector<Workload> workloads;   // at least one; names differ
  std::vector<Axis> axes;
  std::optional<Speedup> speedup;
  std::vector<Figure> figures;
};

/// The column of tables and figures that names the workload; no axis may have this name.
inline constexpr std::string_view kWorkloadColumn = "workload";

/// Throws UserError / InputError "FILE:LINE: ...": unknown keys, wrong types, empty lists, names that are
/// used twice, and figures that refer to something that does not exist. What depends on a run's options (keys
/// of configurations, traces) is checked by the caller that starts the runs.
[[nodiscard]] Study read_study(const std::string& file);
[[nodiscard]] Study parse_study(std::string_view text, const std::string& file);

}  // namespace lockstep::study
