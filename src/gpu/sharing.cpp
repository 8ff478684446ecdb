#include "gpu/sharing.hpp"

#include <algorithm>

#include "sim/inbox.hpp"

namespace lockstep::gpu {
namespace {

Cycle at_least_one(std::uint64_t picoseconds, std::uint64_t khz) {
  return std::max<Cycle>(sim::cycles_of_ps(picoseconds, khz), 1);
}

/// Cycles of a receiver's clock that a message may be ahead.
Cycle span(Cycle latency, std::uint64_t sender_khz, std::uint64_t receiver_khz) {
  constexpr Cycle kSlack = 8;
  const sim::ClockRatio to_receiver(sender_khz, receiver_khz);
  return to_receiver.ceil(latency + sim::kInboxWindow) + sim::kInboxWindow + kSlack;
}

/// Bit b of [a]: each of the two devices can access the other one's memory.
std::vector<std::uint64_t> reach_of(const config::SystemConfig& system) {
  const auto routes = system.routes();
  const std::size_t devices = system.devices.size();
  std::vector<std::uint64_t> reach(devices);
  for (std::size_t a = 0; a < devices; ++a)
    for (std::size_t b = 0; b < devices; ++b)
      if (a != b && routes[a][b] != config::SystemConfig::kNoEdge &&
          routes[b][a] != config::SystemConfig::kNoEdge)
        reach[a] |= std::uint64_t{1} << b;
  return reach;
}

}  // namespace

Sharing::Sharing(sim::Engine& engine, const config::SystemConfig& system,
                 const std::vector<icnt::Numbering>& numberings, std::uint64_t base_khz)
    : system_(system), base_khz_(base_khz), id_(engine.claim(1)) {
  std::vector<sim::DomainId> parts;
  std::vector<host::DirectoryWay> ways;
  Time up = kNever, longest_span = 0;
  const std::uint64_t own_khz = khz(0);
  const Cycle down = at_least_one(system.devices[0].host.command_latency_ps, own_khz);
  for (std::uint16_t d = 0; d < system.devices.size(); ++d) {
    parts.push_back(numberings[d].gmmu());
    parts.push_back(numberings[d].peer_port());
    for (std::uint32_t part = 0; part < 2; ++part)
      ways.push_back({d * 2u + part, down, sim::ClockRatio(own_khz, khz(d))});
    const Cycle latency = link(d, 0).latency;
    up = std::min(up, sim::ClockRatio(khz(d), base_khz).floor(latency));
    longest_span = std::max(longest_span, span(latency, khz(d), own_khz));
  }
  requests_ = std::make_unique<core::DirectoryRequests>("directory request", parts,
                                                        std::vector<sim::DomainId>{id_}, up);
  orders_ = std::make_unique<core::DirectoryCommands>("directory order", std::vector<sim::DomainId>{id_},
                                                      parts, sim::ClockRatio(own_khz, base_khz).floor(down));
  directory_ = std::make_unique<host::DirectoryDomain>(*requests_, *orders_, std::move(ways),
                                                       reach_of(system), longest_span);
}

core::DirectoryLink Sharing::link(std::uint16_t device, std::uint32_t part) const {
  core::DirectoryLink link;
  link.up = requests_.get();
  link.down = orders_.get();
  link.index = device * 2u + part;
  link.latency = at_least_one(system_.devices[device].host.data_latency_ps, khz(device));
  link.to_directory = sim::ClockRatio(khz(device), khz(0));
  link.span = span(at_least_one(system_.devices[0].host.command_latency_ps, khz(0)), khz(0), khz(device));
  return link;
}

void Sharing::attach(sim::Engine& engine, const RankMap& map, sim::Domain& elsewhere) {
  engine.place(id_, map.is_here(kPlace) ? static_cast<sim::Domain&>(*directory_) : elsewhere,
               sim::DomainKind::kOther, sim::DomainClock(base_khz_, khz(0)));
  engine.add(*requests_);
  engine.add(*orders_);
}

}  // namespace lockstep::gpu
