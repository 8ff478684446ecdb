#include "core/peer_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "util/bits.hpp"
#include "util/error.hpp"

namespace lockstep::core {

PeerPort::Lane::Lane(icnt::Fabric& fabric, std::uint32_t lane)
    : asked(*fabric.request, *fabric.request_credit, fabric.peer_responder(lane),
            fabric.slice_request_eject()),
      replies(*fabric.reply, *fabric.reply_credit, fabric.peer_responder(lane), fabric.slice_reply_port()),
      served(*fabric.request, *fabric.request_credit, fabric.peer_requester(lane), fabric.sm_request_port()),
      remote_replies(*fabric.reply, *fabric.reply_credit, fabric.peer_requester(lane),
                     fabric.sm_reply_eject()) {}

PeerPort::PeerPort(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map,
                   std::uint8_t kernel, PeerWiring wiring)
    : fabric_(&fabric),
      map_(&map),
      wiring_(std::move(wiring)),
      kernel_(kernel),
      command_cycles_(sim::cycles_of_ps(config.host.command_latency_ps, config.clock.core_khz)),
      data_cycles_(sim::cycles_of_ps(config.host.data_latency_ps, config.clock.core_khz)),
      core_to_l2_(config.clock.core_khz, config.clock.l2_khz),
      l2_to_core_(config.clock.l2_khz, config.clock.core_khz),
      commands_(sim::inbox_span(command_cycles_)),
      orders_(wiring_.directory.span),
      inbox_(wiring_.span),
      copies_(wiring_.devices, wiring_.copy_lines),
      counters_(kernel + 1u) {
  lanes_.reserve(wiring_.lanes);
  for (std::uint32_t i = 0; i < wiring_.lanes; ++i) lanes_.emplace_back(fabric, i);
}

Cycle PeerPort::advance(Cycle from, Cycle to) {
  commands_.gather(*fabric_->copy_command, 1, from);
  wiring_.incoming.gather(inbox_, from);
  if (const DirectoryLink& d = wiring_.directory) orders_.gather(*d.down, d.index, from);
  const Cycle edge = core_to_l2_.ceil(from);
  for (Lane& lane : lanes_) {
    lane.asked.gather(edge);
    lane.replies.gather(edge);
    lane.served.gather(from);
    lane.remote_replies.gather(from);
    lane.due = next_of(lane, from == 0 ? 0 : from - 1);
  }
  Cycle now = std::max(from, next_event(from == 0 ? 0 : from - 1));
  while (now < to) {
    tick(now);
    now = next_event(now);
  }
  return std::max(now, to);
}

void PeerPort::tick(Cycle now) {
  take_commands(now);  // 1. copies that the host or the directory wants
  take_messages(now);  // 2. what has come over the links
  for (Cycle edge = core_to_l2_.ceil(now); edge < core_to_l2_.ceil(now + 1); ++edge)
    for (Lane& lane : lanes_)
      if (lane.due <= now) exchange_with_sms(lane, edge, now);  // 3. outward
  read_for_copies(now);                                         // 4. lines to be copied
  for (Lane& lane : lanes_)
    if (lane.due <= now) exchange_with_slices(lane, now);  // 5. inward
  for (link::Wire& wire : wiring_.wires) wire.tick(now);   // 6. the links
  for (Lane& lane : lanes_)
    if (lane.due <= now) lane.due = next_of(lane, now);
}

void PeerPort::take_commands(Cycle now) {
  commands_.drain(now, [&](std::uint32_t, const icnt::CopyCommand& copy) {
    const std::uint16_t to = map_->owner(copy.address);
    if (to >= wiring_.devices)
      throw UserError(fmt::format("device {} copies to {:#x}, which is not a device's memory", wiring_.device,
                                  copy.address));
    copies_.add(copy, to, now - command_cycles_);
  });
  orders_.drain(now, [&](std::uint32_t, const uvm::DirectoryCommand& order) { copies_.add(order); });
}

void PeerPort::take_messages(Cycle now) {
  inbox_.drain(now, [&](std::uint32_t, const link::Message& message) {
    if (message.is_reply) return take_reply(now, message.access);
    icnt::Request request = message.access;
    if (message.targets != 0) request.line = map_->apertures().place_of(request.line, wiring_.device);
    request.tag = served_.add(
        {0, request.tag, message.from, message.via(), 0, request.sectors, false, message.targets != 0});
    const std::uint32_t lane = map_->lane(request.line);
    request.reply_to = fabric_->peer_requester(lane);
    request.kernel = kernel_;
    lanes_[lane].serve(now, request);
  });
}

/// To whom it was that asked.
void PeerPort::take_reply(Cycle now, const icnt::Request& reply) {
  Asked& a = asked_.at(reply.tag);
  a.missing = static_cast<SectorMask>(icnt::is_read(a.kind) ? a.missing & ~reply.sectors : 0);
  if (a.copy) {
    if (const auto done = copies_.written(a.to, now + data_cycles_)) copied(*done, now);
    --copy_lines_asked_;
  } else if (a.managed != 0) {
    const auto kind =
        icnt::reply_carries_data(a.kind) ? icnt::AccessKind::kRemoteData : icnt::AccessKind::kRemoteDone;
    if (a.missing == 0)
      lanes_[map_->lane(a.line)].reply(now, {a.reply_to, {a.line, a.tag, kind, a.managed, a.kernel}});
  } else {
    lanes_[map_->lane(a.line)].reply(
        now, {a.reply_to, {a.line, a.tag, a.kind, reply.sectors, a.kernel, reply.again}});
  }
  if (a.missing == 0) asked_.free(reply.tag);
}

void PeerPort::copied(const PeerCopies::Done& done, Cycle now) {
  if (!done.ordered) return fabric_->copy_done->send(1, 0, done.copy.end, done.copy);
  uvm::DirectoryRequest request;
  request.kind = uvm::DirectoryRequest::Kind::kCopied;
  request.id = done.copy.index;
  request.tree = done.tree;
  wiring_.directory.send(now, request);
}

/// Requests in, replies out: what a slice would do.
void PeerPort::exchange_with_sms(Lane& lane, Cycle edge, Cycle now) {
  lane.asked.tick(
      edge, may_ask(),
      [&](const icnt::Request& r) { return flits(icnt::carries_data(r.kind) ? bit_count(r.sectors) : 0); },
      [&](const icnt::Request& r) { accept(now, r); });
  for (; !lane.to_reply.empty() && !lane.replies.full(); lane.to_reply.pop()) {
    const Reply& next = lane.to_reply.front();
    const unsigned sectors = icnt::reply_carries_data(next.reply.kind) ? bit_count(next.reply.sectors) : 0;
    lane.replies.push(edge, next.to, flits(sectors), next.reply);
    stats::IcntCounters& counters = counters_[next.reply.kernel];
    ++counters.replies;
    counters.flits += flits(sectors);
  }
  lane.replies.tick(edge);
  counters_[kernel_].stall_cycles += lane.replies.take_stall_cycles();
}

/// Towards the other device it is an access like any other.
void PeerPort::accept_managed(const icnt::Request& request) {
  using Kind = icnt::AccessKind;
  const auto owner = static_cast<std::uint16_t>(icnt::sm_of_remote(request.tag));
  icnt::Request access = request;
  access.tag = icnt::token_of_remote(request.tag);
  access.kind = request.kind == Kind::kRemoteRead     ? Kind::kLoad
                : request.kind == Kind::kRemoteAtomic ? Kind::kAtomic
                : request.operations > 0              ? Kind::kReduction
                                                      : Kind::kStore;
  Asked asked = asked_of(access, owner);
  asked.managed = request.sectors;
  ask(asked, access);
}

void PeerPort::accept(Cycle now, const icnt::Request& request) {
  if (icnt::is_remote(request.kind)) return accept_managed(request);
  const std::uint16_t owner = map_->owner(request.line);
  if (owner == mem::Apertures::kMulticast) return ask_all(request);
  if (owner == wiring_.device) return ring(now, request);
  if (owner >= wiring_.first_nic && request.reply_to < fabric_->core_requester(0))
    throw UserError(fmt::format("a kernel of device {} accesses {:#x}, where NICs have their doorbells",
                                wiring_.device, request.line));
  ask(asked_of(request, owner), request);
}

/// The store of a status word in a NIC's own queue.
void PeerPort::ring(Cycle now, const icnt::Request& request) {
  link::Message message;
  message.access = request;
  message.access.tag = 0;
  send(map_->doorbell(request.line), kRequests, message);
  lanes_[map_->lane(request.line)].reply(
      now, {request.reply_to, {request.line, request.tag, request.kind, request.sectors, request.kernel}});
}

/// Multicast: what a load reads is the sum of what its devices have there.
void PeerPort::ask_all(const icnt::Request& request) {
  using Kind = icnt::AccessKind;
  if (request.kind != Kind::kLoad && request.kind != Kind::kStore && request.kind != Kind::kReduction)
    throw UserError(
        fmt::format("device {}: an access to multicast memory at {:#x} that is no load, store or reduction",
                    wiring_.device, request.line));
  const std::uint64_t devices = map_->apertures().team(request.line);
  const PeerWiring::Multicast& by = multicast_switch(devices, request.line);
  link::Message message;
  message.access = request;
  message.access.tag = asked_.add(asked_of(request, 0));
  message.from = wiring_.device;
  message.targets = devices;
  message.set_via(by.number);
  message.set_bytes(wiring_.framing[by.wire].request(request.kind, request.sectors));
  wiring_.wires[by.wire].push(kRequests, message);
}

const PeerWiring::Multicast& PeerPort::multicast_switch(std::uint64_t devices, Address line) const {
  const auto can = [&](const PeerWiring::Multicast& by) { return (devices & ~by.devices) == 0; };
  auto left = static_cast<std::uint64_t>(std::ranges::count_if(wiring_.multicast, can));
  if (left == 0)
    throw UserError(fmt::format(
        "device {} uses multicast memory at {:#x}; expected a switch with 'multicast = true' that "
        "has links to it and to all devices whose memory that is",
        wiring_.device, line));
  left = line / kLineBytes % left;
  return *std::ranges::find_if(wiring_.multicast,
                               [&](const PeerWiring::Multicast& by) { return can(by) && left-- == 0; });
}

void PeerPort::ask(const Asked& asked, const icnt::Request& request) {
  link::Message message;
  message.access = request;
  message.access.tag = asked_.add(asked);
  if (message.access.kind == icnt::AccessKind::kAwait)
    message.access.set_rate(0, 0);  // links count each poll
  send(asked.to, kRequests, message);
}

void PeerPort::send(std::uint16_t to, Queue queue, link::Message message) {
  const std::uint32_t wire = wiring_.wire_to[to];
  if (wire == PeerWiring::kNoWire)
    throw UserError(fmt::format("device {} accesses the memory of device {}, and no link leads there",
                                wiring_.device, to));
  message.from = wiring_.device;
  message.to = to;
  message.is_reply = queue == kReplies;
  const link::Framing& framing = wiring_.framing[wire];
  const icnt::Request& access = message.access;
  message.set_bytes(message.is_reply ? framing.reply(access.kind, access.sectors)
                                     : framing.request(access.kind, access.sectors));
  wiring_.wires[wire].push(queue, message);
}

/// Requests out, replies in: what an SM would do.
void PeerPort::exchange_with_slices(Lane& lane, Cycle now) {
  lane.remote_replies.tick(
      now, true,
      [&](const icnt::Reply& r) {
        return flits(icnt::reply_carries_data(r.kind) ? bit_count(r.sectors) : 0);
      },
      [&](const icnt::Reply& r) { accept_local(r); });
  stats::IcntCounters& counters = counters_[kernel_];
  for (; !lane.to_serve.empty() && !lane.served.full(); lane.to_serve.pop()) {
    const icnt::Request& r = lane.to_serve.front();
    lane.served.push(now, map_->home_slice(r.line),
                     flits(icnt::carries_data(r.kind) ? bit_count(r.sectors) : 0), r);
    ++counters.requests;
  }
  lane.served.tick(now);
  counters.flits += lane.served.take_flits();
  counters.stall_cycles += lane.served.take_stall_cycles();
}

void PeerPort::accept_local(const icnt::Reply& reply) {
  Served& served = served_.at(reply.tag);
  served.missing = static_cast<SectorMask>(icnt::is_read(reply.kind) ? served.missing & ~reply.sectors : 0);
  if (!served.copy) {
    send_reply(served, reply);
  } else if (served.missing == 0) {
    icnt::Request request;
    request.line = served.destination;
    request.kind = icnt::AccessKind::kCopy;
    request.sectors = served.sectors;
    for (unsigned s = 0; s < kSectorsPerLine; ++s)
      if (served.sectors >> s & 1) request.bytes[s] = 0xffffffff;
    Asked asked = asked_of(request, served.device);
    asked.copy = true;
    ++copy_lines_asked_;
    ask(asked, request);
  }
  if (served.missing == 0) served_.free(reply.tag);
}

/// To the device that has asked, or the switch that has asked for it.
void PeerPort::send_reply(const Served& served, const icnt::Reply& reply) {
  link::Message message;
  message.access.line = reply.line;
  message.access.kind = reply.kind;
  message.access.sectors = reply.sectors;
  message.access.again = reply.again;
  message.access.tag = served.tag;
  if (!served.multicast) return send(served.device, kReplies, message);
  const auto by = std::ranges::find(wiring_.multicast, served.via, &PeerWiring::Multicast::number);
  message.from = wiring_.device;
  message.is_reply = true;
  message.targets = std::uint64_t{1} << wiring_.device;
  message.set_via(served.via);
  message.set_bytes(wiring_.framing[by->wire].reply(reply.kind, reply.sectors));
  wiring_.wires[by->wire].push(kReplies, message);
}

/// Copies yield to what other devices want.
bool PeerPort::may_read() const {
  if (!copies_.has_line()) return false;
  std::size_t waiting = 0;
  for (const Lane& lane : lanes_) waiting += lane.to_serve.size();
  return waiting < lanes_.size();
}

/// As many lines as the lanes take in a cycle.
void PeerPort::read_for_copies(Cycle now) {
  while (may_read()) {
    const PeerCopies::Line line = *copies_.next_line();
    const std::uint32_t lane = map_->lane(line.source);
    icnt::Request request;
    request.line = line.source;
    request.kind = line.leaves ? icnt::AccessKind::kEvict : icnt::AccessKind::kCopyRead;
    request.sectors = line.sectors;
    request.kernel = kernel_;
    request.reply_to = fabric_->peer_requester(lane);
    request.tag = served_.add({line.destination, 0, line.to, 0, line.sectors, line.sectors, true, false});
    lanes_[lane].serve(now, request);
  }
}

/// When something may happen in the lane, after `now`; with a full table too early.
Cycle PeerPort::next_of(const Lane& lane, Cycle now) const {
  if (!lane.to_reply.empty() && !lane.replies.full()) return now + 1;
  if (!lane.to_serve.empty() && !lane.served.full()) return now + 1;
  const Cycle edge = core_to_l2_.ceil(now + 1) - 1;  // the last L2 edge that is done
  const Cycle l2 = std::min(lane.asked.next_event(edge, true), lane.replies.next_event(edge));
  const Cycle core = std::min(lane.served.next_event(now), lane.remote_replies.next_event(now, true));
  return std::max(std::min(core, l2_to_core_.floor(l2)), now + 1);
}

/// After `now`.
Cycle PeerPort::next_event(Cycle now) const {
  Cycle next = std::min({commands_.next_arrival(), orders_.next_arrival(), inbox_.next_arrival()});
  for (const Lane& lane : lanes_) next = std::min(next, lane.due);
  if (may_read()) return now + 1;
  for (const link::Wire& wire : wiring_.wires) next = std::min(next, wire.next_event(now));
  return std::max(next, now + 1);
}

void PeerPort::take_counters(std::uint8_t kernel, stats::KernelCounters& total) {
  if (kernel < counters_.size()) stats::add(total.icnt, std::exchange(counters_[kernel], {}));
}

bool PeerPort::quiescent() const {
  const auto idle = [](const Lane& lane) {
    return lane.asked.pending() == 0 && lane.replies.empty() && lane.served.empty() &&
           lane.remote_replies.pending() == 0 && lane.to_serve.empty() && lane.to_reply.empty() &&
           lane.served.credits_missing() == 0 && lane.replies.credits_missing() == 0;
  };
  const auto sent = [](const link::Wire& wire) { return wire.waiting() == 0; };
  return commands_.size() == 0 && orders_.size() == 0 && inbox_.size() == 0 && asked_.used() == 0 &&
         served_.used() == 0 && copies_.idle() && std::all_of(lanes_.begin(), lanes_.end(), idle) &&
         std::all_of(wiring_.wires.begin(), wiring_.wires.end(), sent);
}

void PeerPort::dump(std::string& out) const {
  fmt::format_to(std::back_inserter(out),
                 "peer port: {} accesses to other devices under way, {} for others\n", asked_.used(),
                 served_.used());
  copies_.dump(out);
}

}  // namespace lockstep::core
