// Whose memory addresses are, as a program's commands say it.
#include "gpu/plan.hpp"

namespace lockstep::gpu {
namespace {

/// Places all lines that the queue touches.
void place_queue(const trace::Command& c, const config::SystemConfig& system, mem::Apertures& apertures) {
  const Address first = line_of(c.address);
  const std::uint64_t bytes = line_of(c.address + c.bytes + kLineBytes - 1) - first;
  std::uint16_t doorbell = mem::Apertures::kPlain;
  if (config::traits(system.network.node.design).queues_on_host) {
    const auto host = static_cast<std::uint16_t>(system.host_of(c.device));
    apertures.place(first, bytes, host);
    apertures.place(line_of(c.source), kLineBytes, host);
  } else if (system.served_by(config::NetDesignTraits::Server::kNic)) {
    doorbell = static_cast<std::uint16_t>(system.nic_of(c.device));
  } else if (system.cores() > 0 && system.network.command_processor.lock_lines != 0) {
    const config::CommandProcessorGroup& core = system.network.command_processor;
    doorbell = mem::Apertures::kLocks;
    apertures.set_locking({core.lock_lines > 1, core.exclusive_locks != 0, core.unlocked_ways,
                           std::uint64_t{core.lock_watchdog_us} * 1'000'000});
  }
  apertures.ring(first, bytes, doorbell);
}

}  // namespace

void place(const trace::Command& c, const config::SystemConfig& system, mem::Apertures& apertures) {
  using Kind = trace::Command::Kind;
  if (c.kind == Kind::kNetQueue && system.nics > 0) place_queue(c, system, apertures);
  if (c.kind == Kind::kPlace) apertures.place(c.address, c.bytes, c.device);
  if (c.kind == Kind::kMulticast) apertures.multicast(c.address, c.bytes, c.device, c.source);
}

}  // namespace lockstep::gpu
