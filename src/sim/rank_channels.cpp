#include "sim/rank_channels.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace lockstep::sim {
namespace {

void append(std::string& out, const void* data, std::size_t bytes) {
  out.append(static_cast<const char*>(data), bytes);
}

}  // namespace

RankChannels::RankChannels(Engine& engine, std::vector<Rank> places, Rank here, Rank ranks,
                           const std::vector<const NetworkBase*>& late)
    : engine_(&engine), places_(std::move(places)), here_(here), out_(ranks) {
  if (places_.size() != engine.domains()) throw std::logic_error("not this engine's domains");
  find_exits();
  own_.all = distances({});
  own_.calm = distances(late);
  joined_ = own_;
}

void RankChannels::find_exits() {
  const auto& networks = engine_->networks();
  for (std::uint32_t n = 0; n < networks.size(); ++n) {
    const auto& sources = networks[n]->source_domains();
    if (std::ranges::none_of(sources, [&](DomainId d) { return is_own(d); })) continue;
    const auto& destinations = networks[n]->destination_domains();
    for (std::uint32_t k = 0; k < destinations.size(); ++k) {
      const DomainId domain = destinations[k];
      if (is_own(domain)) continue;
      if (networks[n]->latency() == 0)
        throw std::logic_error("channel '" + networks[n]->name() +
                               "' leads to another rank and declares no latency");
      exits_.push_back({n, k, domain, places_[domain]});
    }
  }
}

/// Shortest ways, where each network is an edge from any of its sources to any of its destinations.
std::vector<Time> RankChannels::distances(const std::vector<const NetworkBase*>& without) const {
  std::vector<Time> distance(engine_->domains(), kNever);
  for (bool changed = true; std::exchange(changed, false);)
    for (const NetworkBase* network : engine_->networks())
      if (std::ranges::find(without, network) == without.end()) relax(*network, distance, changed);
  return distance;
}

void RankChannels::relax(const NetworkBase& network, std::vector<Time>& distance, bool& changed) const {
  Time within = kNever;
  bool leaves = false;
  for (const DomainId d : network.destination_domains()) {
    within = std::min(within, distance[d]);
    leaves = leaves || !is_own(d);
  }
  for (const DomainId s : network.source_domains()) {
    if (!is_own(s) && places_[s] != kEverywhere) continue;
    const Time beyond = is_own(s) && leaves ? 0 : within;
    const Time found = add_times(beyond, network.latency());
    if (found >= distance[s]) continue;
    distance[s] = found;
    changed = true;
  }
}

void RankChannels::join(const Distances& other) {
  const auto least = [](std::vector<Time>& mine, const std::vector<Time>& theirs) {
    if (mine.size() != theirs.size()) throw std::logic_error("not distances of the same domains");
    for (std::size_t d = 0; d < mine.size(); ++d) mine[d] = std::min(mine[d], theirs[d]);
  };
  least(joined_.all, other.all);
  least(joined_.calm, other.calm);
}

void RankChannels::take_out(std::vector<Time>& next) {
  for (const Exit& exit : exits_) {
    write(exit, exit.to == kEverywhere ? out_all_ : out_[exit.to]);
    if (exit.to != kEverywhere) next[exit.domain] = kNever;
  }
}

void RankChannels::write(const Exit& exit, std::string& out) {
  Cycle first = kNever;
  engine_->networks()[exit.network]->write_mail(
      exit.destination, [&](std::uint32_t source, Cycle arrival, std::string_view message) {
        const Head head{exit.network, exit.destination, source, static_cast<std::uint32_t>(message.size()),
                        arrival};
        append(out, &head, sizeof head);
        out += message;
        first = std::min(first, arrival);
      });
  if (first == kNever) return;
  const Time arrival = engine_->clock(exit.domain).to_time.floor(first);
  const auto known = std::ranges::find(under_way_, exit.domain, &UnderWay::domain);
  if (known == under_way_.end()) {
    under_way_.push_back({exit.domain, arrival});
  } else {
    known->arrival = std::min(known->arrival, arrival);
  }
}

Time RankChannels::earliest_arrival(Time now, const std::vector<Time>& next, Time late) const {
  const bool calm = late > now;
  const std::vector<Time>& own = calm ? own_.calm : own_.all;
  const std::vector<Time>& joined = calm ? joined_.calm : joined_.all;
  Time earliest = kNever;
  for (std::size_t d = 0; d < next.size(); ++d)
    if (next[d] != kNever) earliest = std::min(earliest, add_times(std::max(next[d], now), own[d]));
  for (const UnderWay& mail : under_way_)
    earliest = std::min(earliest, add_times(std::max(mail.arrival, now), joined[mail.domain]));
  if (calm && late != kNever)
    earliest = std::min(earliest, add_times(late, *std::ranges::min_element(own_.all)));
  return earliest;
}

std::vector<std::string> RankChannels::hand_over() {
  std::vector<std::string> parcels(out_.size());
  for (std::size_t r = 0; r < out_.size(); ++r) {
    if (r == here_) continue;
    parcels[r] = out_all_ + out_[r];
    out_[r].clear();
  }
  out_all_.clear();
  under_way_.clear();
  return parcels;
}

void RankChannels::take_in(std::string_view parcels, Time now, std::vector<Time>& next) {
  while (!parcels.empty()) {
    Head head;
    if (parcels.size() < sizeof head) throw std::logic_error("a message of another rank is cut short");
    std::memcpy(&head, parcels.data(), sizeof head);
    parcels.remove_prefix(sizeof head);
    if (head.bytes > parcels.size() || head.network >= engine_->networks().size())
      throw std::logic_error("not a message of this system");
    engine_->put_mail(head.network, head.source, head.destination, head.arrival,
                      parcels.substr(0, head.bytes), now, next);
    parcels.remove_prefix(head.bytes);
  }
}

}  // namespace lockstep::sim
