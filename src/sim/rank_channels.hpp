// The channels of a simulation that lead from one process to another: what goes out, what comes in, and how
// early anything can.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine.hpp"

namespace lockstep::sim {

/// A rank: the number of a process among those that simulate one system.
using Rank = std::uint32_t;
/// Place of a domain that every process has, and which does the same in each of them.
inline constexpr Rank kEverywhere = 0xffffffff;

/// A message from a domain of this process leaves the process if its destination belongs to another one or to
/// all; in the latter case it is delivered here as well. Domains that are everywhere send nothing over
/// these channels: each process has the messages of its own copy.
///
/// Messages keep their order: those of one channel that of sending, and the receiving inbox orders them by
/// (arrival, source, order of sending), whenever they are handed in.
class RankChannels {
 public:
  /// After all networks are added. `places`: by domain. `late`: networks that carry nothing before a time
  /// that the caller knows (earliest_arrival()). Throws std::logic_error if a channel between ranks declares
  /// no latency.
  RankChannels(Engine& engine, std::vector<Rank> places, Rank here, Rank ranks,
               const std::vector<const NetworkBase*>& late);

  /// By domain: how long after it is due the first message to another rank that it causes can arrive; kNever
  /// for domains of other ranks, and if there is no path. `calm`: as long as the late networks are silent.
  struct Distances {
    std::vector<Time> all, calm;
  };
  [[nodiscard]] const Distances& own() const { return own_; }
  /// Combines the ranks' distances: the smallest for each domain. Once, before the first earliest_arrival().
  void join(const Distances& other);

  /// Serial, after a window: takes the messages that leave. `next`: domains elsewhere become not due.
  void take_out(std::vector<Time>& next);
  /// No message that has not yet been handed over arrives before this time, given when domains are due
  /// (`next`); takes messages into account that were taken out and not yet acted upon. The late networks are
  /// silent before `late`.
  [[nodiscard]] Time earliest_arrival(Time now, const std::vector<Time>& next, Time late) const;
  /// The messages that were taken out since the last call, by destination rank; empty for this rank.
  [[nodiscard]] std::vector<std::string> hand_over();
  /// Takes in what another rank has handed over. Throws std::logic_error if it does not fit.
  void take_in(std::string_view parcels, Time now, std::vector<Time>& next);

 private:
  struct Exit {
    std::uint32_t network, destination;
    DomainId domain;  // the destination
    Rank to;
  };
  struct Head {
    std::uint32_t network, destination, source, bytes;
    Cycle arrival;
  };
  [[nodiscard]] bool is_own(DomainId d) const { return places_[d] == here_; }
  void find_exits();
  [[nodiscard]] std::vector<Time> distances(const std::vector<const NetworkBase*>& without) const;
  void relax(const NetworkBase& network, std::vector<Time>& distance, bool& changed) const;
  void write(const Exit& exit, std::string& out);

  Engine* engine_;
  std::vector<Rank> places_;
  Rank here_;
  std::vector<Exit> exits_;
  Distances own_, joined_;
  std::vector<std::string> out_;  // by rank
  std::string out_all_;           // to all others
  /// For each destination domain with messages in flight, the earliest arrival.
  struct UnderWay {
    DomainId domain;
    Time arrival;
  };
  std::vector<UnderWay> under_way_;
};

}  // namespace lockstep::sim
