// Notifications from the host's program to the agents of its devices, and back.
#pragma once

#include <cstdint>
#include <vector>

#include "net/messages.hpp"
#include "sim/clock.hpp"

namespace lockstep::net {

/// The sender's side; times are the engine's. News of a queue goes to the agent whose number is that of the
/// queue modulo the number of the device's agents; news of a device's memory goes to all of them.
class NewsPost {
 public:
  struct Agent {
    std::uint32_t destination = 0;  // in the network
    sim::ClockRatio to_cycles;      // of the agent's domain
  };
  NewsPost(AgentNetwork& network, Time latency, std::vector<std::vector<Agent>> agents_of_device)
      : network_(&network), latency_(latency), agents_(std::move(agents_of_device)) {}

  void send(Time now, const AgentNews& news) const {
    const std::vector<Agent>& agents = agents_[news.device];
    if (news.kind == AgentNews::Kind::kTask) return post(now, agents.front(), news);
    if (news.kind == AgentNews::Kind::kMemory) {
      for (const Agent& agent : agents) post(now, agent, news);
      return;
    }
    const std::uint32_t queue = news.kind == AgentNews::Kind::kQueue ? news.queue : news.operation.queue;
    post(now, agents[queue % agents.size()], news);
  }

 private:
  void post(Time now, const Agent& agent, const AgentNews& news) const {
    network_->send(0, agent.destination, agent.to_cycles.ceil(now + latency_), news);
  }

  AgentNetwork* network_;
  Time latency_;
  std::vector<std::vector<Agent>> agents_;
};

}  // namespace lockstep::net
