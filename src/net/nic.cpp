#include "net/nic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "net/messages.hpp"

namespace lockstep::net {
namespace {

constexpr std::uint32_t kTargetMark = 0x80000000;  // in tags

}  // namespace

Nic::Nic(link::EndpointWiring wiring, const config::SystemConfig& system, const News& news)
    : port_(std::move(wiring)),
      clock_(system.devices.front().clock.core_khz),
      target_(port_, clock_.cycles(system.network.nic.process_ps), system.endpoints(),
              system.network.nic.operations, kTargetMark),
      operations_(port_, system, clock_),
      devices_(system.first_host()),
      from_(news),
      news_(news.span),
      own_(operations_, clock_) {}

void Nic::serve(QueuePair& pair) {
  pair.nic = port_.links().node();
  pair.doorbell = doorbells_of(port_.links().node()) + doors_.size() * kLineBytes;
  doors_.push_back({&pair, 0});
}

Cycle Nic::advance(Cycle from, Cycle to) {
  if (from_.network) news_.gather(*from_.network, from_.agent, from);
  port_.links().gather(from);
  Cycle now = std::max(from, next_event(from == 0 ? 0 : from - 1));
  while (now < to) {
    tick(now);
    now = next_event(now);
  }
  return std::max(now, to);
}

void Nic::tick(Cycle now) {
  news_.drain(now, [&](std::uint32_t, const AgentNews& news) { own_.receive(now, news); });
  port_.links().drain(now, [&](const link::Message& message) { take(now, message); });
  while (!port_.own().empty()) {
    const link::Message message = port_.own().front();
    port_.own().pop();
    take(now, message);
  }
  target_.tick(now);
  operations_.tick(now);
  port_.links().tick(now);
}

void Nic::take(Cycle now, const link::Message& message) {
  if (!message.is_reply) {
    const Address doorbells = doorbells_of(port_.links().node());
    if (message.access.line >= doorbells && message.access.line < doorbells + kDoorbellBytes)
      return take_doorbell(now, message);
    return message.from < devices_ ? own_.ring(now, message.from, message.access)
                                   : target_.accept(now, message);
  }
  if (message.access.tag & kTargetMark) return target_.replied(message);
  operations_.replied(now, message);
}

void Nic::take_doorbell(Cycle now, const link::Message& message) {
  const std::uint64_t door = (message.access.line - doorbells_of(port_.links().node())) / kLineBytes;
  link::Message reply;
  reply.access = message.access;
  reply.is_reply = true;
  port_.send(message.from, reply);
  Door& rung = doors_[door];
  operations_.ring(now, *rung.pair, rung.rung++);
}

Cycle Nic::next_event(Cycle now) const {
  if (!port_.own().empty()) return now + 1;
  return std::max(std::min({news_.next_arrival(), port_.links().next_event(now), target_.next_event(),
                            operations_.next_event(now)}),
                  now + 1);
}

void Nic::dump(std::string& out) const {
  fmt::format_to(std::back_inserter(out), "NIC: {} requests of other NICs under way\n", target_.under_way());
  operations_.dump(out);
  own_.dump(out);
}

}  // namespace lockstep::net
