#include "net/command_processor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace lockstep::net {

CommandProcessorCore::CommandProcessorCore(const config::GpuConfig& gpu, const config::NetworkConfig& config,
                                           icnt::Fabric& fabric, const mem::AddressMap& map,
                                           std::uint8_t kernel, const AgentNetwork& news, const Place& place,
                                           QueuePair& pair)
    : network_(&news),
      place_(place),
      memory_bytes_(config::core_memory_bytes(config)),
      news_(place.news_span),
      port_(gpu, config.command_processor, fabric, map, place.number, kernel),
      thread_(port_, config.service,
              InstructionCosts(Clock(gpu.clock.core_khz), config.command_processor.khz,
                               config.command_processor.milli_ipc),
              Clock(gpu.clock.core_khz)) {
  thread_.add_pair(pair);
}

Cycle CommandProcessorCore::advance(Cycle from, Cycle to) {
  news_.gather(*network_, place_.agent, from);
  port_.gather(from);
  Cycle now = std::max(from, next_event(from == 0 ? 0 : from - 1));
  while (now < to) {
    tick(now);
    now = next_event(now);
  }
  return std::max(now, to);
}

void CommandProcessorCore::tick(Cycle now) {
  news_.drain(now, [&](std::uint32_t, const AgentNews& news) { receive(now, news); });
  port_.receive(now, [&](bool again) {
    thread_.poll_replied(again);
    thread_.replied();
  });
  port_.take_noticed([&](const Watched& what, bool has) { thread_.noticed(now, what, has); });
  thread_.tick(now);
  port_.send(now);
}

void CommandProcessorCore::receive(Cycle now, const AgentNews& news) {
  switch (news.kind) {
    case AgentNews::Kind::kMemory:
      thread_.disturb(now);
      port_.share(news.address + place_.cores * memory_bytes_);
      return port_.give_memory(news.address + place_.number * memory_bytes_);
    case AgentNews::Kind::kQueue:
      return thread_.add_queue(news);
    case AgentNews::Kind::kOperation:
      return thread_.add_operation(now, news);
    case AgentNews::Kind::kTask:  // of hosts alone
      return;
  }
}

Cycle CommandProcessorCore::next_event(Cycle now) const {
  return std::max(std::min({news_.next_arrival(), port_.next_event(now), thread_.next_event(now)}), now + 1);
}

void CommandProcessorCore::dump(std::string& out) const {
  fmt::format_to(std::back_inserter(out), "command processor, core {}:\n", place_.number);
  thread_.dump(out);
}

}  // namespace lockstep::net
