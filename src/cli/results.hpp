// The result folder of a run, kept up to date while it runs.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "stats/report.hpp"

namespace lockstep::cli {

/// Writes the result files now and then during a run, so that a kill loses little, and once at its end.
/// Does nothing when the folder's name is empty.
class ResultFolder {
 public:
  /// Makes the folder and writes config.ini, so that a folder that cannot be written fails before the run.
  /// `system_ini`: of several devices, for system.ini; config.ini is the first device's.
  ResultFolder(std::string directory, const std::string& resolved_ini, const std::string& system_ini = "");
  using Clock = std::chrono::steady_clock;
  /// As above, but the first update() that is written is one `first` from now or later.
  ResultFolder(std::string directory, const std::string& resolved_ini, const std::string& system_ini,
               Clock::duration first);

  /// Adds to a report what the engine does not know.
  using Complete = std::function<void(stats::RunReport&, stats::HostReport&)>;

  /// Takes the report so far; its finished kernels only ever grow. Writes it, marked partial, not before the
  /// run is a quarter of a second old, at most every two seconds and for at most a twentieth of its time. A
  /// failure (a full disk) is warned of once and tried again the next time; what is there stays.
  void update(const stats::RunReport& report, const Complete& complete);

  /// The run broke off with an error: keeps the kernels that were finished, marked partial. Never throws.
  void abandon(const Complete& complete) noexcept;

  /// There are no results: takes back what was written at the run's start.
  void withdraw();

  /// The end of the run. Throws UserError when it cannot be written.
  void finish(const stats::RunReport& report, const stats::HostReport& host, const std::string& dump);

 private:
  void append(const stats::RunReport& report);
  void write_partial(const Complete& complete, const char* reason);

  std::string directory_;
  stats::RunReport so_far_;
  bool any_ = false;  // so_far_ holds a report
  Clock::time_point next_;
  bool warned_ = false;
};

}  // namespace lockstep::cli
