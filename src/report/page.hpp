// `lockstep report`: a page on where a run's time goes.
#pragma once

#include <string>
#include <vector>

#include "report/run.hpp"

namespace lockstep::report {

/// One HTML file with everything in it, for one run or two side by side. Equal runs give equal bytes.
[[nodiscard]] std::string page(const std::vector<Run>& runs);

/// The bottlenecks for programs: {"runs": [{"folder", "bound", ..., "kernels": [{"id", "name", "bound",
/// "title", "why", "also"}]}]}, one line per kernel.
[[nodiscard]] std::string bottlenecks_json(const std::vector<Run>& runs);

}  // namespace lockstep::report
