#include "icnt/fabric.hpp"

#include <algorithm>
#include <tuple>

namespace lockstep::icnt {
namespace {

std::vector<sim::DomainId> ids(std::uint32_t count, const auto& domain_of) {
  std::vector<sim::DomainId> result(count);
  for (std::uint32_t i = 0; i < count; ++i) result[i] = domain_of(i);
  return result;
}

template <class T>
std::unique_ptr<sim::Network<T>> network(const char* name, const std::vector<sim::DomainId>& from,
                                         const std::vector<sim::DomainId>& to, Cycle latency) {
  return std::make_unique<sim::Network<T>>(name, from, to, latency);
}

}  // namespace

Numbering numbering_of(const config::GpuConfig& config, std::uint32_t peer_lanes, std::uint32_t cores) {
  return {config.gpu.sms, config.l2.partitions, config.l2.slices_per_partition, peer_lanes, cores};
}

Fabric::Fabric(const config::GpuConfig& config, bool managed)
    : Fabric(config, 0, numbering_of(config).domains(), managed) {}

Fabric::Fabric(const config::GpuConfig& config, sim::DomainId first, sim::DomainId host, bool managed,
               std::uint32_t peer_lanes, std::uint32_t cores)
    : config_(config), numbering_(numbering_of(config, peer_lanes, cores)) {
  numbering_.first = first;
  numbering_.host_id = host;
  const Numbering& n = numbering_;
  const auto sms = ids(n.sms, [&](std::uint32_t i) { return n.sm(i); });
  const auto slices =
      ids(n.slices(), [&](std::uint32_t i) { return n.partition(i / n.slices_per_partition); });
  auto requesters = sms;
  requesters.push_back(n.copy_engine());
  auto responders = slices;
  std::vector<sim::DomainId> copies{n.copy_engine()};
  if (n.peer_lanes > 0) {
    requesters.insert(requesters.end(), n.peer_lanes, n.peer_port());
    responders.insert(responders.end(), n.peer_lanes, n.peer_port());
    copies.push_back(n.peer_port());
  }
  for (std::uint32_t i = 0; i < n.cores; ++i) requesters.push_back(n.core(i));
  const std::vector<sim::DomainId> dispatcher{n.dispatcher()};

  Cycle latency = add_edge("request (SM to L2 slice) and its credits",
                           core_cycles(config.icnt.request_latency), "crossbar, SM to L2 slice");
  request = network<Request>("request", requesters, responders, latency);
  request_credit = network<Credit>("request credit", responders, requesters, latency);
  latency = add_edge("reply (L2 slice to SM) and its credits", core_cycles(config.icnt.reply_latency),
                     "crossbar, L2 slice to SM");
  reply = network<Reply>("reply", responders, requesters, latency);
  reply_credit = network<Credit>("reply credit", requesters, responders, latency);
  if (config.l2.halves > 1) {
    latency = add_edge("far request and reply (between L2 halves)", core_cycles(config.icnt.far_latency),
                       "link between the two L2 halves");
    far_request = network<Request>("far request", slices, slices, latency);
    far_request_credit = network<Credit>("far request credit", slices, slices, latency);
    far_reply = network<Reply>("far reply", slices, slices, latency);
    far_reply_credit = network<Credit>("far reply credit", slices, slices, latency);
  }
  latency = add_edge("CTA launch (dispatcher to SM)", config.cta_latency(), "CTA state set-up in the SM");
  launch = network<LaunchCta>("CTA launch", dispatcher, sms, latency);
  latency =
      add_edge("CTA done (SM to dispatcher)", config.done_latency(), "path back to the work distributor");
  cta_event = network<CtaEvent>("CTA done", sms, dispatcher, latency);
  const Cycle command = add_edge("copy command", config.core_cycles_of_ps(config.host.command_latency_ps),
                                 "host link, command latency");
  copy_command = network<CopyCommand>("copy command", dispatcher, copies, command);
  const Cycle done =
      add_edge("copy done", config.core_cycles_of_ps(config.host.data_latency_ps), "host link, data latency");
  copy_done = network<CopyDone>("copy done", copies, dispatcher, done);
  if (config.cluster_hop() > 0) {
    latency = add_edge("cluster (SM to SM)", config.cluster_hop(), "network between the SMs of a GPC");
    cluster = network<ClusterMessage>("cluster", sms, sms, latency);
  }
  if (!managed) return;
  const std::vector<sim::DomainId> gmmu{n.gmmu()};
  latency = add_edge("translation request (SM to GMMU)", config.uvm.request_latency, "miss of an SM's TLB");
  translation_request = network<TranslationRequest>("translation request", sms, gmmu, latency);
  latency = add_edge("translation reply (GMMU to SM)", config.uvm.reply_latency, "reply, or shootdown");
  translation_reply = network<TranslationReply>("translation reply", gmmu, sms, latency);
  managed_command = network<uvm::ManagedCommand>("order", dispatcher, gmmu, command);
  managed_done = network<ManagedCommandDone>("order done", gmmu, dispatcher, done);
}

void Fabric::register_with(sim::Engine& engine, bool here) {
  for (sim::NetworkBase* n : std::initializer_list<sim::NetworkBase*>{
           request.get(), request_credit.get(), reply.get(), reply_credit.get(), far_request.get(),
           far_request_credit.get(), far_reply.get(), far_reply_credit.get(), launch.get(), cta_event.get(),
           copy_command.get(), copy_done.get(), translation_request.get(), translation_reply.get(),
           managed_command.get(), managed_done.get(), cluster.get()}) {
    if (!n) continue;
    const bool with_host = n == launch.get() || n == cta_event.get() || n == copy_command.get() ||
                           n == copy_done.get() || n == managed_command.get() || n == managed_done.get();
    here || with_host ? engine.add(*n) : engine.add_elsewhere(*n);
  }
}

Cycle Fabric::longest_window() const {
  return std::min({kInboxWindow, config_.cta_latency() / 2, config_.done_latency()});
}

Cycle Fabric::add_edge(const std::string& name, Cycle latency, const std::string& reason) {
  edges_.push_back({name, latency, reason});
  return latency;
}

Cycle Fabric::core_cycles(Cycle icnt_latency) const {
  return sim::ClockRatio(config_.clock.icnt_khz, config_.clock.core_khz).floor(icnt_latency);
}

ChannelSpec Fabric::channel(std::uint64_t own_khz, std::uint64_t receiver_khz, Cycle icnt_latency) const {
  const std::uint64_t icnt = config_.clock.icnt_khz;
  return {{own_khz, icnt}, {icnt, own_khz}, {icnt, receiver_khz}, icnt_latency};
}

Cycle Fabric::span_of(Cycle icnt_latency, std::uint64_t receiver_khz) const {
  constexpr Cycle kLongestMessage = 64;  // flits
  const sim::ClockRatio from_icnt(config_.clock.icnt_khz, receiver_khz),
      from_core(config_.clock.core_khz, receiver_khz);
  return from_icnt.ceil(icnt_latency + kLongestMessage) + from_core.ceil(longest_window()) + 2;
}

template <class T>
typename InjectionPort<T>::Spec Fabric::injection(std::uint64_t own_khz, std::uint64_t receiver_khz,
                                                  Cycle latency, std::uint32_t credits) const {
  return {channel(own_khz, receiver_khz, latency), config_.icnt.queue_entries, credits,
          span_of(latency, own_khz)};
}

template <class T>
typename EjectionPort<T>::Spec Fabric::ejection(std::uint64_t own_khz, std::uint64_t sender_khz,
                                                Cycle latency) const {
  const ChannelSpec credits = channel(own_khz, sender_khz, latency);
  return {credits.own_to_icnt, credits.icnt_to_own, credits, span_of(latency, own_khz)};
}

InjectionPort<Request>::Spec Fabric::sm_request_port() const {
  const auto& [clock, icnt] = std::tie(config_.clock, config_.icnt);
  auto port = injection<Request>(clock.core_khz, clock.l2_khz, icnt.request_latency, icnt.request_credits);
  port.capacity = icnt.sm_queue_entries;
  return port;
}

InjectionPort<Reply>::Spec Fabric::slice_reply_port() const {
  const auto& [clock, icnt] = std::tie(config_.clock, config_.icnt);
  return injection<Reply>(clock.l2_khz, clock.core_khz, icnt.reply_latency, icnt.reply_credits);
}

InjectionPort<Request>::Spec Fabric::slice_far_port() const {
  const auto& [clock, icnt] = std::tie(config_.clock, config_.icnt);
  return injection<Request>(clock.l2_khz, clock.l2_khz, icnt.far_latency, icnt.far_credits);
}

InjectionPort<Reply>::Spec Fabric::slice_far_reply_port() const {
  const auto& [clock, icnt] = std::tie(config_.clock, config_.icnt);
  return injection<Reply>(clock.l2_khz, clock.l2_khz, icnt.far_latency, icnt.far_credits);
}

EjectionPort<Request>::Spec Fabric::slice_request_eject() const {
  return ejection<Request>(config_.clock.l2_khz, config_.clock.core_khz, config_.icnt.request_latency);
}

EjectionPort<Request>::Spec Fabric::slice_far_eject() const {
  return ejection<Request>(config_.clock.l2_khz, config_.clock.l2_khz, config_.icnt.far_latency);
}

EjectionPort<Reply>::Spec Fabric::sm_reply_eject() const {
  return ejection<Reply>(config_.clock.core_khz, config_.clock.l2_khz, config_.icnt.reply_latency);
}

EjectionPort<Reply>::Spec Fabric::slice_far_reply_eject() const {
  return ejection<Reply>(config_.clock.l2_khz, config_.clock.l2_khz, config_.icnt.far_latency);
}

}  // namespace lockstep::icnt
