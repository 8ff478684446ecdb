// `lockstep compare`: runs side by side, per kernel and counter.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lockstep::stats {

struct CompareOptions {
  double tolerance = 0;  // difference from the first run's value, as a share of the larger of the two
  bool json = false;     // all differences as JSON instead of text for people
};

struct ComparedRun {
  std::string path;                               // of a stats.json, or of the folder that it is in
  std::map<std::string, std::string> parameters;  // the whole configuration; empty where it is not known
};

/// The most runs that can be compared at once: each has a letter.
inline constexpr std::size_t kMaxCompared = 26;

/// Text of the comparison of 2 to kMaxCompared runs with the first of them; `different` says whether any
/// value of another is outside the tolerance. Parameters are shown where they differ: from the configurations
/// where all are known, else from the overrides that the runs name. Throws UserError.
[[nodiscard]] std::string compare(const std::vector<ComparedRun>& runs, const CompareOptions& options,
                                  bool& different);

}  // namespace lockstep::stats
