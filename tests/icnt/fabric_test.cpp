// The channels of every GPU model against its configuration.
#include "icnt/fabric.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "config/config.hpp"

namespace lockstep::icnt {
namespace {

Cycle core_cycles(const config::GpuConfig& c, Cycle icnt_cycles) {
  return icnt_cycles * c.clock.core_khz / c.clock.icnt_khz;
}
/// Rounded up, as a duration.
Cycle cycles_of_ps(const config::GpuConfig& c, std::uint64_t ps) {
  return static_cast<Cycle>(
      std::ceil(static_cast<long double>(ps) * static_cast<long double>(c.clock.core_khz) / 1e9L));
}

}  // namespace

TEST_CASE("each channel of each GPU model has the latency of its configuration, and its ends") {
  for (const std::string& model : config::gpu_model_names()) {
    INFO(model);
    const config::GpuConfig c = config::resolve(model);
    const Fabric f(c, true);
    const std::uint32_t slices = c.l2.partitions * c.l2.slices_per_partition;
    CHECK(f.request->latency() == core_cycles(c, c.icnt.request_latency));
    CHECK(f.request_credit->latency() == f.request->latency());
    CHECK(f.reply->latency() == core_cycles(c, c.icnt.reply_latency));
    CHECK(f.reply_credit->latency() == f.reply->latency());
    CHECK(f.request->sources() == c.gpu.sms + 1);  // and the copy engine
    CHECK(f.request->destinations() == slices);
    CHECK(f.reply->sources() == slices);
    CHECK(f.reply->destinations() == c.gpu.sms + 1);
    CHECK((f.far_request != nullptr) == (c.l2.halves > 1));
    CHECK((f.far_reply != nullptr) == (c.l2.halves > 1));
    if (f.far_request) CHECK(f.far_request->latency() == core_cycles(c, c.icnt.far_latency));
    CHECK(f.launch->latency() == cycles_of_ps(c, c.launch.cta_latency_ps));
    CHECK(f.cta_event->latency() == cycles_of_ps(c, c.launch.done_latency_ps));
    CHECK(f.managed_command->latency() == cycles_of_ps(c, c.host.command_latency_ps));
    CHECK(f.longest_window() <= f.launch->latency() / 2);
    CHECK(f.longest_window() <= f.cta_event->latency());
    CHECK(f.longest_window() >= 1);
  }
}

TEST_CASE("without managed memory there are no channels to the GMMU; edges name every channel once") {
  const config::GpuConfig c = config::resolve("a100");
  CHECK(Fabric(c).translation_request == nullptr);
  CHECK(Fabric(c).managed_command == nullptr);
  std::set<std::string> names;
  const Fabric managed(c, true);
  for (const Edge& e : managed.edges()) {
    CHECK(names.insert(e.name).second);
    CHECK(e.latency > 0);
    CHECK_FALSE(e.reason.empty());
  }
  CHECK(names.size() == 9);
}

TEST_CASE("the domains of a device have consecutive numbers, each its own") {
  const config::GpuConfig c = config::resolve("v100");
  for (const std::uint32_t lanes : {0u, 1u, 4u})
    for (const std::uint32_t cores : {0u, 3u}) {
      Numbering n = numbering_of(c, lanes, cores);
      n.first = 17;
      std::set<sim::DomainId> seen;
      const auto add = [&](sim::DomainId id) { CHECK(seen.insert(id).second); };
      for (std::uint32_t i = 0; i < n.sms; ++i) add(n.sm(i));
      for (std::uint32_t i = 0; i < n.partitions; ++i) add(n.partition(i));
      add(n.copy_engine());
      if (lanes > 0) add(n.peer_port());
      for (std::uint32_t i = 0; i < cores; ++i) add(n.core(i));
      CHECK(seen.size() == n.domains());
      CHECK(*seen.begin() == 17);
      CHECK(*seen.rbegin() == 17 + n.domains() - 1);
    }
}

TEST_CASE("ends of the request and reply networks: SMs, copy engine, peer lanes, cores; slices, lanes") {
  const config::GpuConfig c = config::resolve("v100");
  constexpr std::uint32_t kLanes = 3, kCores = 2;
  const Fabric f(c, 5, 1000, false, kLanes, kCores);
  const Numbering& n = f.numbering();
  const auto& sources = f.request->source_domains();
  REQUIRE(sources.size() == n.sms + 1 + kLanes + kCores);
  CHECK(f.reply->destination_domains() == sources);
  for (std::uint32_t i = 0; i < n.sms; ++i) CHECK(sources[f.reply_to_sm(i)] == n.sm(i));
  CHECK(sources[f.reply_to_copy_engine()] == n.copy_engine());
  for (std::uint32_t i = 0; i < kLanes; ++i) CHECK(sources[f.peer_requester(i)] == n.peer_port());
  for (std::uint32_t i = 0; i < kCores; ++i) CHECK(sources[f.core_requester(i)] == n.core(i));
  const auto& sinks = f.request->destination_domains();
  REQUIRE(sinks.size() == n.slices() + kLanes);
  for (std::uint32_t i = 0; i < n.slices(); ++i) CHECK(sinks[i] == n.partition(i / n.slices_per_partition));
  for (std::uint32_t i = 0; i < kLanes; ++i) CHECK(sinks[f.peer_responder(i)] == n.peer_port());
  CHECK(f.launch->source_domains() == std::vector<sim::DomainId>{1000});
}

TEST_CASE("a message takes as many flits as its data fill, and one without data") {
  for (std::uint32_t link = 8; link <= 1024; link *= 2)
    for (unsigned sectors = 0; sectors <= 4; ++sectors) {
      const double exact = sectors * 32.0 / link;
      CHECK(Fabric::flits(sectors, link) == std::max(1.0, std::ceil(exact)));
    }
}

TEST_CASE("the tag of a line on its way to the host holds SM and handle") {
  for (const std::uint32_t sm : {0u, 1u, 131u, 4095u})
    for (const std::uint32_t token : {0u, 1u, (1u << 20) - 1}) {
      CHECK(sm_of_remote(remote_tag(sm, token)) == sm);
      CHECK(token_of_remote(remote_tag(sm, token)) == token);
    }
}

namespace {

/// Pushes what fills the ports of a source at the end of the longest window, each message as long as any, and
/// takes it at the other end: nothing may fall out of an inbox's calendar.
template <class T>
void check_span(const typename InjectionPort<T>::Spec& from, const typename EjectionPort<T>::Spec& to,
                Cycle window, std::uint64_t source_khz, std::uint64_t sink_khz, std::uint64_t core_khz,
                std::uint32_t flits) {
  sim::Network<T> network("messages", {0}, {1});
  sim::Network<Credit> credits("credits", {1}, {0});
  InjectionPort<T> source(network, credits, 0, from);
  EjectionPort<T> sink(network, credits, 0, to);
  const sim::ClockRatio to_source(core_khz, source_khz), to_sink(core_khz, sink_khz);
  std::uint64_t sent = 0, taken = 0;
  std::vector<Cycle> next(2);
  for (Cycle t = 0; t < 40 * window; t += window) {
    source.gather(to_source.ceil(t));
    for (Cycle k = to_source.ceil(t); k < to_source.ceil(t + window); ++k) {
      for (; t < 20 * window && !source.full(); ++sent) source.push(k, 0, flits, T{});
      source.tick(k);
    }
    sink.gather(to_sink.ceil(t));
    for (Cycle k = to_sink.ceil(t); k < to_sink.ceil(t + window); ++k)
      sink.tick(
          k, true, [&](const T&) { return flits; }, [&](const T&) { ++taken; });
    const std::vector<sim::DomainId> both{0, 1};
    network.flip(both, t + window, next);
    credits.flip(both, t + window, next);
  }
  CHECK(sent > 0);
  const std::uint32_t waiting = from.capacity - source.room();
  CHECK(taken + source.credits_out() + waiting >= sent);
  CHECK(taken <= sent);
}

}  // namespace

TEST_CASE("in the longest window every message and credit of every GPU model finds room in its inbox") {
  for (const std::string& model : config::gpu_model_names()) {
    INFO(model);
    const config::GpuConfig c = config::resolve(model);
    const Fabric f(c);
    const auto [core, l2] = std::pair(c.clock.core_khz, c.clock.l2_khz);
    // No window is longer than a channel; between these two the longest is the shorter one.
    const Cycle window = std::min({f.longest_window(), f.request->latency(), f.reply->latency()});
    const std::uint32_t request = Fabric::flits(4, c.icnt.sm_out_bytes),
                        reply = Fabric::flits(4, c.icnt.slice_out_bytes);
    check_span<Request>(f.sm_request_port(), f.slice_request_eject(), window, core, l2, core, request);
    check_span<Reply>(f.slice_reply_port(), f.sm_reply_eject(), window, l2, core, core, reply);
    if (!f.far_request) continue;
    const Cycle far = std::min(f.longest_window(), f.far_request->latency());
    check_span<Request>(f.slice_far_port(), f.slice_far_eject(), far, l2, l2, core, request);
    check_span<Reply>(f.slice_far_reply_port(), f.slice_far_reply_eject(), far, l2, l2, core, reply);
  }
}

}  // namespace lockstep::icnt
