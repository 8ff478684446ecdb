// `lockstep correlate`: matched values as tables and figures.
#pragma once

#include <string>
#include <vector>

#include "correlate/errors.hpp"
#include "correlate/match.hpp"

namespace lockstep::correlate {

struct Group {
  std::string counter, program;  // program: empty where all are together
  Errors errors;
};

struct Correlation {
  Matched matched;
  std::vector<std::string> unknown;  // metrics of profilers without a counterpart, sorted
  std::vector<Group> by_counter;     // in the order of names
  std::vector<Group> by_program;     // by counter, then in the order of the programs; empty for one program
};

/// Groups the pairs.
[[nodiscard]] Correlation correlate(Matched matched, std::vector<std::string> unknown);

/// Readable tables. `all_pairs`: also a line for each pair.
[[nodiscard]] std::string to_text(const Correlation& correlation, bool all_pairs);
/// {"schema":1,"by_counter":[...],"by_program":[...],"pairs":[...],"unmatched":[...],"unknown_metrics":[...]}.
[[nodiscard]] std::string to_json(const Correlation& correlation);
/// program,kernel,launch,instances,counter,hardware,simulated,error; one row per pair.
[[nodiscard]] std::string to_csv(const Correlation& correlation);

/// The counter's pairs, measured against simulated on logarithmic axes, a colour for each program.
[[nodiscard]] std::string scatter_plot(const Correlation& correlation, const std::string& counter);

}  // namespace lockstep::correlate
