// A core of a device's command processor, and the service thread that runs on it.
#pragma once

#include <string>

#include "net/core_port.hpp"
#include "net/messages.hpp"
#include "net/service_thread.hpp"
#include "sim/domain.hpp"
#include "sim/inbox.hpp"

namespace lockstep::net {

/// Domain in core cycles of its device. Serves the queues whose number modulo the number of cores is its own
/// number.
class CommandProcessorCore final : public sim::Domain {
 public:
  struct Place {
    std::uint32_t number = 0;  // of the core
    std::uint32_t agent = 0;   // destination in the network of news
    Cycle news_span = 64;      // cycles that these may be ahead
    std::uint32_t cores = 1;   // of the device
  };
  CommandProcessorCore(const config::GpuConfig& gpu, const config::NetworkConfig& config,
                       icnt::Fabric& fabric, const mem::AddressMap& map, std::uint8_t kernel,
                       const AgentNetwork& news, const Place& place, QueuePair& pair);

  /// Before the run: keeps what its thread does. Not owned.
  void record(OperationLog& log) { thread_.record(log); }

  [[nodiscard]] Cycle advance(Cycle from, Cycle to) override;
  void settle(Cycle) override {}
  void dump(std::string& out) const override;

  [[nodiscard]] bool quiescent() const { return thread_.idle() && port_.idle() && news_.size() == 0; }
  [[nodiscard]] const ServiceThread<CorePort>& program() const { return thread_; }
  [[nodiscard]] const CoreCounters& core() const { return port_.counters(); }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(network_), a.given(place_), a.given(memory_bytes_), news_, port_, thread_);
  }

 private:
  void tick(Cycle now);
  void receive(Cycle now, const AgentNews& news);
  [[nodiscard]] Cycle next_event(Cycle now) const;

  const AgentNetwork* network_;
  Place place_;
  std::uint64_t memory_bytes_;
  sim::Inbox<AgentNews> news_;
  CorePort port_;
  ServiceThread<CorePort> thread_;
};

}  // namespace lockstep::net
