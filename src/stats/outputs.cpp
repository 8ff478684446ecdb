// The files of a result folder.
#include "stats/files.hpp"
#include "stats/report.hpp"

namespace lockstep::stats {

void write_outputs(const std::string& directory, const RunReport& report, const HostReport& host,
                   const std::string& resolved_ini) {
  make_folder(directory);
  write_file(directory + "/config.ini", resolved_ini);
  write_file(directory + "/stats.csv", to_csv(report));
  if (report.intervals.empty()) {
    remove_file(directory + "/intervals.csv");
  } else {
    write_file(directory + "/intervals.csv", intervals_csv(report));
  }
  write_file(directory + "/host.json", to_json(host));
  // Last: who finds a complete stats.json finds the rest.
  write_file(directory + "/stats.json", to_json(report));
}

}  // namespace lockstep::stats
