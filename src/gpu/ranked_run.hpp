// A run of which each rank simulates some of the devices.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/rank_map.hpp"
#include "gpu/system.hpp"
#include "ranks/group.hpp"
#include "sim/border.hpp"
#include "sim/engine.hpp"
#include "sim/rank_channels.hpp"
#include "stats/report.hpp"

namespace lockstep::gpu {

/// All ranks have the whole list of commands and the host, whose state is the same in each of them: it is
/// notified of every CTA and copy, on whichever rank. Ranks synchronise at the same simulated times; global
/// decisions (that all is done, that the run is to end) are made there, or at cuts, which are the same for
/// all.
class RankedRun final : public sim::Border {
 public:
  /// After the system is made. `interrupted`: this rank is asked to end the run; may be null.
  RankedRun(ranks::Group& group, const RankMap& map, sim::Engine& engine, System& system,
            std::function<bool()> interrupted);

  void window_ended(std::vector<Time>& next) override { channels_.take_out(next); }
  [[nodiscard]] Time meet(Time now, std::vector<Time>& next) override;

  /// As agreed at the last meeting: nothing is under way in any rank.
  [[nodiscard]] bool quiescent() const { return quiescent_; }
  /// Likewise: NICs, hosts and command processors have nothing to do in any rank.
  [[nodiscard]] bool networks_idle() const { return networks_idle_; }
  /// Likewise: some rank was asked to end the run.
  [[nodiscard]] bool interrupted() const { return stop_; }
  [[nodiscard]] bool is_first() const { return group_->rank() == 0; }

  // At cuts, by all ranks.
  /// Each rank's text, for the first; nothing for others.
  [[nodiscard]] std::vector<std::string> gather(std::string mine) { return group_->gather(std::move(mine)); }
  [[nodiscard]] std::uint64_t sum(std::uint64_t mine) { return group_->sum(mine); }
  [[nodiscard]] std::uint64_t synchronisations() const { return synchronisations_; }

 private:
  void join_distances();

  ranks::Group* group_;
  System* system_;
  std::function<bool()> asked_;
  sim::RankChannels channels_;
  bool quiescent_ = false, networks_idle_ = false, stop_ = false;
  std::uint64_t synchronisations_ = 0;
};

/// What each rank's host did, at the end, for the first rank. `own`: what the group does not know.
[[nodiscard]] std::vector<stats::HostReport::Rank> gather_hosts(ranks::Group& group,
                                                                stats::HostReport::Rank own);

/// Throws UserError where the ranks do not simulate the same thing: `what` has a line "NAME: TEXT" for each
/// of the things that must be the same.
void check_same(ranks::Group& group, const std::string& what);

}  // namespace lockstep::gpu
