// The files of a result folder.
#include <vector>

#include "stats/files.hpp"
#include "stats/report.hpp"

namespace lockstep::stats {

void write_outputs(const std::string& directory, const RunReport& report, const HostReport& host) {
  make_folder(directory);
  std::vector<NamedContent> files{{"stats.csv", to_csv(report)}};
  if (report.intervals.empty()) {
    remove_file(directory + "/intervals.csv");
  } else {
    files.push_back({"intervals.csv", intervals_csv(report)});
  }
  if (report.has_profile()) {
    files.push_back({"profile.json", profile_json(report)});
  } else {
    remove_file(directory + "/profile.json");
  }
  files.push_back({"host.json", to_json(host)});
  // Last: who finds a complete stats.json finds the rest.
  files.push_back({"stats.json", to_json(report)});
  write_files(directory, files);
}

}  // namespace lockstep::stats
