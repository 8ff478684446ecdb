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

/// A message of a domain of this process leaves it where its destination is another one's or everybody's; to
/// the latter it goes here as well. Domains that are everywhere send nothing over the cut: each process has
/// what its own one sends.
///
/// Messages keep their order: of one channel the order of sending, and where they arrive the inbox orders
/// them by (arrival, source, order of sending), whenever they come in.
class Cut {
 public:
  /// After all networks are added. `places`: by domain. `late`: networks that carry nothing before a time
  /// which the caller knows of (promise()). Throws std::logic_error where a channel over the cut tells no
  /// latency.
  Cut(const Engine& engine, std::vector<Rank> places, Rank here, Rank ranks,
      const std::vector<const NetworkBase*>& late);

  /// By domain: how long after it is due the first message over the cut that it causes can arrive; kNever of
  /// domains of other ranks, and where no way leads. `calm`: as long as the late networks are silent.
  struct Distances {
    std::vector<Time> all, calm;
  };
  [[nodiscard]] const Distances& own() const { return own_; }
  /// Of all ranks: the smallest of each domain. Once, before the first promise.
  void join(const Distances& other);

  /// Serial, after a window: takes what leaves. `next`: of domains elsewhere nothing is due.
  void take_out(std::vector<Time>& next);
  /// No message that is not handed over yet arrives before this time, `next` being when domains are due;
  /// messages that were taken out and are not acted upon yet are thought of. The late networks are silent
  /// before `late`.
  [[nodiscard]] Time promise(Time now, const std::vector<Time>& next, Time late) const;
  /// What was taken out since, by rank; of the own rank nothing.
  [[nodiscard]] std::vector<std::string> hand_over();
  /// Takes in what another rank has handed over. Throws std::logic_error where it does not fit.
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

  const Engine* engine_;
  std::vector<Rank> places_;
  Rank here_;
  std::vector<Exit> exits_;
  Distances own_, joined_;
  std::vector<std::string> out_;  // by rank
  std::string out_all_;           // to all others
  /// Of each destination domain with messages under way, the earliest arrival.
  struct UnderWay {
    DomainId domain;
    Time arrival;
  };
  std::vector<UnderWay> under_way_;
};

}  // namespace lockstep::sim
