// What the first rank's report needs from the others.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/feed_set.hpp"
#include "gpu/ranked_run.hpp"
#include "gpu/timeline.hpp"
#include "stats/report.hpp"
#include "util/archive.hpp"

namespace lockstep::gpu {

/// Reports grow alike in all ranks: kernels and samples have the same places in each. A rank has the counters
/// of its own devices; those of others are zero.
class RankReport {
 public:
  explicit RankReport(RankedRun& ranks) : ranks_(&ranks) {}

  /// At a cut, by all ranks: the first one's report and notes come to have what the others' have counted
  /// since the last call, whose unattributed counters are zero then.
  void gather(const System& system, FeedSet& feeds, stats::RunReport& report);
  /// At the end: the traffic of links, what NICs, hosts and command processors have counted, and managed
  /// memory, with what a timeline shows of all these, and what a deadlock's dump says.
  void gather_end(System& system, stats::RunReport& report, std::vector<TimelineEvent>& managed,
                  std::string& dump);

 private:
  [[nodiscard]] std::string news(const System& system, FeedSet& feeds, stats::RunReport& report);
  static void take_links(Archive& theirs, System& system, std::vector<stats::LinkResult>& links);
  static void take_network(Archive& theirs, Networking& networking, stats::NetworkReport& network);
  static void put_managed(Archive& mine, const System& system, std::vector<stats::ManagedReport>& managed,
                          std::vector<TimelineEvent>& events);
  static void take_managed(Archive& theirs, std::vector<stats::ManagedReport>& managed,
                           std::vector<TimelineEvent>& events);
  static void take(const std::string& news, FeedSet& feeds, std::size_t first_interval,
                   stats::RunReport& report);

  RankedRun* ranks_;
  std::size_t kernels_ = 0, intervals_ = 0;  // those of the report that have been gathered
};

}  // namespace lockstep::gpu
