// How domains are divided into cells, and how long windows between cells may be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/network.hpp"

namespace lockstep::sim {

/// Which domains one thread is to advance together, and what is known of messages between them.
struct CellDivision {
  /// A domain on whose state at the end of a window others depend (through the controller, or tasks): no
  /// window ends more than EngineOptions::window after it is due.
  static constexpr std::uint32_t kCommon = 0xffffffff;
  /// Domains between all cells, such as a network's switches.
  static constexpr std::uint32_t kHub = 0xfffffffe;

  /// Networks that carry something at times only.
  struct AtTimes {
    std::vector<const NetworkBase*> networks;
    /// Between windows: nothing is sent on them before this time, unless a message that is not under way yet
    /// causes it. kNever if nothing is.
    std::function<Time(Time now)> from;
  };

  std::vector<std::uint32_t> cell_of;  // by domain: 0, 1, ..., or one of these
  /// By cell; 0 where it says nothing. All domains of higher tiers and kHub are the hub of a tier's cells:
  /// they are advanced by a part of a window ahead of the cells, and by the rest after them, so that it may
  /// be as long as a message's way over them. A hub that has cells, those of the next tier, is advanced in
  /// windows of its own, shorter ones.
  std::vector<std::uint32_t> tiers{};
  std::vector<AtTimes> at_times{};

  /// Without kCommon and kHub; of all tiers, or of one.
  [[nodiscard]] std::uint32_t cells() const;
  [[nodiscard]] std::uint32_t cells(std::uint32_t tier) const;
  [[nodiscard]] std::uint32_t tier_of(std::uint32_t cell) const {
    return cell < tiers.size() ? tiers[cell] : 0;
  }
};

/// The plan's cells are those of the division, then that of the common domains, which is of tier 0, then that
/// of kHub, which is beyond the last tier; both may have no domains.
class CellPlan {
 public:
  /// Networks that are not within a cell, of the lowest tier that they touch: from a cell of it to another,
  /// to its hub, from it.
  enum Outside : std::uint32_t { kDirect, kToHub, kFromHub, kOutsides };

  CellPlan() = default;  // without cells: every network is kDirect
  /// Every network has declared its latency. `window`: EngineOptions::window.
  CellPlan(CellDivision division, std::vector<NetworkBase*> networks, Time window);

  [[nodiscard]] bool empty() const { return domains_.empty(); }
  [[nodiscard]] std::uint32_t cells() const { return static_cast<std::uint32_t>(domains_.size()); }
  [[nodiscard]] std::uint32_t hub() const { return cells() - 1; }
  [[nodiscard]] std::uint32_t tiers() const { return static_cast<std::uint32_t>(tiers_.size()); }
  [[nodiscard]] const std::vector<DomainId>& domains_of(std::uint32_t cell) const { return domains_[cell]; }
  [[nodiscard]] const std::vector<std::uint32_t>& cells_of(std::uint32_t tier) const {
    return tiers_[tier].cells;
  }
  /// All of higher tiers.
  [[nodiscard]] const std::vector<DomainId>& hub_of(std::uint32_t tier) const { return tiers_[tier].hub; }
  /// Groups of networks: those of the cells, and those of each kind outside of a tier's cells.
  [[nodiscard]] std::uint32_t groups() const { return cells() + std::max(1u, tiers()) * kOutsides; }
  [[nodiscard]] std::uint32_t group(std::uint32_t tier, Outside kind) const {
    return cells() + tier * kOutsides + kind;
  }
  /// Of the network with this index.
  [[nodiscard]] std::uint32_t group_of(std::uint32_t network) const {
    return empty() ? std::uint32_t{kDirect} : groups_[network];
  }

  /// The next window. The hub is advanced to `hub_to` first: what it then hands on is all that can arrive in
  /// a cell before `to`, and what cells send in the window arrives there later.
  struct Window {
    Time hub_to, to;
  };
  /// Of the tier's cells at `now`, when domains are due at `next`; at most to `limit`.
  [[nodiscard]] Window window(std::uint32_t tier, Time now, Time limit, std::span<const Time> next) const;

 private:
  /// By domain: the shortest time after which a message that it causes may come somewhere; kNever if none
  /// can.
  using Exits = std::vector<Time>;
  struct Tier {
    std::vector<std::uint32_t> cells;
    std::vector<DomainId> hub;
    Exits direct, to_hub;    // into another cell, from a cell into the hub
    Time hub_exit = kNever;  // over the shortest network from the hub to a cell
  };
  /// Ways into another cell over networks that are used at times, all of tier 0.
  struct AtTimes {
    Exits exits;
    Time shortest = kNever;  // of the networks
  };
  [[nodiscard]] std::uint32_t place(DomainId d) const;
  [[nodiscard]] std::uint32_t tier_of_domain(DomainId d) const;
  [[nodiscard]] std::uint32_t place(const NetworkBase& network) const;
  [[nodiscard]] bool is(std::uint32_t network, std::uint32_t tier, Outside kind) const {
    return groups_[network] == group(tier, kind);
  }
  template <class Leads>
  [[nodiscard]] Exits exits(std::uint32_t tier, Leads&& leads) const;
  void note_exits(std::uint32_t tier);
  void note_at_times();
  [[nodiscard]] bool only_at_times(std::uint32_t network) const;
  [[nodiscard]] static Time earliest(const Exits& exits, Time now, Time limit, std::span<const Time> next);

  CellDivision division_;
  std::vector<NetworkBase*> networks_;
  std::vector<std::vector<DomainId>> domains_;  // by cell
  std::vector<std::uint32_t> groups_;           // by network
  std::vector<Tier> tiers_;
  std::vector<AtTimes> at_times_;  // as the division's
};

}  // namespace lockstep::sim
