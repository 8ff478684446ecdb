// --accelsim-config and --accelsim-stats.
#pragma once

#include <boost/program_options.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "accelsim/stats_text.hpp"
#include "config/origin.hpp"
#include "stats/report.hpp"

namespace lockstep::cli {

/// What --accelsim-config gave.
struct AccelsimConfig {
  config::Resolved resolved;
  std::string summary;  // one line
  std::string report;   // the annotated configuration
  std::string unknown;  // a warning; empty when every option is known
};

/// Adds --accelsim-config.
void add_accelsim_option(boost::program_options::options_description& options);

/// nullopt without --accelsim-config. `base`: a GPU or file, or empty for that of the files' compute
/// capability. Throws UserError; with `strict` for an unknown option too.
[[nodiscard]] std::optional<AccelsimConfig> accelsim_config(
    const boost::program_options::variables_map& values, const std::string& base,
    const std::vector<std::string>& overrides, bool strict);

/// Prints the blocks of --accelsim-stats on stdout.
class AccelsimPrinter {
 public:
  explicit AccelsimPrinter(const config::GpuConfig& config);
  /// The kernels that finished since the last call; `report` only ever grows.
  void update(const stats::RunReport& report);
  /// The rest, and the last lines where the run is whole.
  void finish(const stats::RunReport& report);

 private:
  accelsim::StatsText text_;
  std::size_t printed_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace lockstep::cli
