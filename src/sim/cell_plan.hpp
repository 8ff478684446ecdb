// How domains are divided into cells, and how long windows between cells may be.
#pragma once

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
  /// Domains between cells, such as a network's switches. They are advanced by a part of a window ahead of
  /// the cells, and by the rest after them, so that it may be as long as a message's way over them.
  static constexpr std::uint32_t kHub = 0xfffffffe;

  std::vector<std::uint32_t> cell_of;        // by domain: 0, 1, ..., or one of these
  std::vector<const NetworkBase*> at_times;  // which carry nothing in a window at whose beginning ...
  std::function<bool()> in_use;              // ... this is false; null: they may always
  /// Without kCommon and kHub.
  [[nodiscard]] std::uint32_t cells() const;
};

/// The plan's cells are those of the division, then that of the common domains, then the hub; both may have
/// no domains.
class CellPlan {
 public:
  /// Networks that are not within a cell: from one to another, to the hub, from it.
  enum Outside : std::uint32_t { kDirect, kToHub, kFromHub, kOutsides };

  CellPlan() = default;  // without cells: every network is kDirect
  /// Every network has declared its latency. `window`: EngineOptions::window.
  CellPlan(CellDivision division, std::vector<NetworkBase*> networks, Time window);

  [[nodiscard]] bool empty() const { return domains_.empty(); }
  [[nodiscard]] std::uint32_t cells() const { return static_cast<std::uint32_t>(domains_.size()); }
  [[nodiscard]] std::uint32_t hub() const { return cells() - 1; }
  [[nodiscard]] const std::vector<DomainId>& domains_of(std::uint32_t cell) const { return domains_[cell]; }
  /// Of the network with this index: the cell that it is within, or cells() + one of Outside.
  [[nodiscard]] std::uint32_t group_of(std::uint32_t network) const {
    return empty() ? std::uint32_t{kDirect} : groups_[network];
  }

  /// The next window. The hub is advanced to `hub_to` first: what it then hands on is all that can arrive in
  /// a cell before `to`, and what cells send in the window arrives there later.
  struct Window {
    Time hub_to, to;
  };
  /// At `now`, when domains are due at `next`; at most to `limit`.
  [[nodiscard]] Window window(Time now, Time limit, std::span<const Time> next) const;

 private:
  /// The time after which a message that a domain causes may come into another cell, or to the hub; kNever if
  /// none can. `calm`: while networks used at times carry nothing.
  template <class T>
  struct Exits {
    T all, calm, to_hub;
  };
  [[nodiscard]] std::uint32_t place(DomainId d) const;
  [[nodiscard]] std::uint32_t place(const NetworkBase& network) const;
  [[nodiscard]] bool is(std::uint32_t network, Outside kind) const;
  template <class Leads>
  [[nodiscard]] std::vector<Time> exits(Leads&& leads) const;
  void note_exits(Time window);

  CellDivision division_;
  std::vector<NetworkBase*> networks_;
  std::vector<std::vector<DomainId>> domains_;  // by cell
  std::vector<std::uint32_t> groups_;           // by network
  Exits<std::vector<Time>> exits_;              // by domain
  Time hub_exit_ = kNever;                      // from the hub to the next cell
  Exits<Time> after_hub_{};                     // the shortest from there
};

}  // namespace lockstep::sim
