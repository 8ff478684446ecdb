#include "core/copy_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "sim/clock.hpp"
#include "util/bits.hpp"

namespace lockstep::core {
namespace {

constexpr std::uint32_t kMigration = 4;  // in a request's tag, beside direction and page parity

/// The part [begin, begin + bytes) of one line, as sectors and bytes of them.
void fill_masks(Address begin, std::uint64_t bytes, icnt::Request& request) {
  const auto offset = static_cast<unsigned>(begin % kLineBytes);
  for (unsigned s = 0; s < kSectorsPerLine; ++s) {
    const unsigned low = std::max(offset, s * kSectorBytes);
    const auto high = std::min(static_cast<unsigned>(offset + bytes), (s + 1) * kSectorBytes);
    if (low >= high) continue;
    request.sectors = static_cast<SectorMask>(request.sectors | 1u << s);
    const std::uint64_t ones = (std::uint64_t{1} << (high - low)) - 1;
    request.bytes[s] = static_cast<std::uint32_t>(ones << (low - s * kSectorBytes));
  }
}

}  // namespace

CopyEngine::CopyEngine(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map,
                       std::uint8_t kernel)
    : fabric_(&fabric),
      map_(&map),
      byte_to_cycle_(config.host.bytes_per_second, config.clock.core_khz * 1000),
      command_cycles_(sim::cycles_of_ps(config.host.command_latency_ps, config.clock.core_khz)),
      data_cycles_(sim::cycles_of_ps(config.host.data_latency_ps, config.clock.core_khz)),
      page_bytes_(config.host.page_bytes),
      out_bytes_(config.icnt.sm_out_bytes),
      in_bytes_(config.icnt.sm_in_bytes),
      warms_l2_(config.host.warms_l2 && config.launch.cache_control == config::CacheControl::kNone),
      reply_to_(fabric.reply_to_copy_engine()),
      kernel_(kernel),
      commands_(sim::inbox_span(command_cycles_)),
      requests_(*fabric.request, *fabric.request_credit, fabric.numbering().sms, fabric.sm_request_port()),
      replies_(*fabric.reply, *fabric.reply_credit, fabric.numbering().sms, fabric.sm_reply_eject()),
      device_copies_(config) {
  lanes_[1].direction = uvm::Direction::kToDevice;
}

void CopyEngine::gather(Cycle from) {
  commands_.gather(*fabric_->copy_command, 0, from);
  requests_.gather(from);
  replies_.gather(from);
}

Cycle CopyEngine::advance(Cycle from, Cycle to) {
  gather(from);
  Cycle now = std::max(from, next_event(from));
  while (now < to) {
    tick(now);
    now = std::max(now + 1, next_event(now + 1));
  }
  return now;
}

void CopyEngine::tick(Cycle now) {
  commands_.drain(now, [&](std::uint32_t, const icnt::CopyCommand& copy) {
    if (copy.path != icnt::CopyCommand::Path::kLink) return device_copies_.add(copy, now - command_cycles_);
    lanes_[copy.to_device].waiting.push_back({copy, now});
  });
  while (const auto done = device_copies_.take(now))
    fabric_->copy_done->send(0, 0, now + data_cycles_, {done->index, done->start, now + data_cycles_});
  replies_.tick(
      now, true,
      [&](const icnt::Reply& r) {
        return icnt::Fabric::flits(icnt::reply_carries_data(r.kind) ? bit_count(r.sectors) : 0, in_bytes_);
      },
      [&](const icnt::Reply& r) { accept(r); });
  send_remote_replies(now);
  for (unsigned direction = 0; direction < 2; ++direction) {
    run(now, direction);
    if (migrations_[direction].busy) send_migration(now, direction);
  }
  requests_.tick(now);
  counters_.flits += requests_.take_flits();
  counters_.stall_cycles += requests_.take_stall_cycles();
  if (link_) tell_link();
}

void CopyEngine::tell_link() {
  for (const Lane& lane : lanes_) {
    const bool sent = lane.sent == lane.copy.bytes;
    link_->say(lane.direction,
               uvm::HostLink::Copies{lane.busy, !lane.waiting.empty(), sent ? end_of_link(lane) : kNever});
  }
}

void CopyEngine::accept(const icnt::Reply& reply) {
  if (icnt::is_remote(reply.kind)) return remote_asked_.push_back(reply);
  const unsigned direction = reply.tag >> 1 & 1;
  std::uint32_t& owed =
      reply.tag & kMigration ? migrations_[direction].owed : lanes_[direction].owed[reply.tag & 1];
  const std::uint32_t replied = icnt::is_read(reply.kind) ? bit_count(reply.sectors) : 1;
  if (owed < replied) throw std::logic_error("copy engine: an unexpected reply");
  owed -= replied;
}

void CopyEngine::run(Cycle now, unsigned direction) {
  Lane& lane = lanes_[direction];
  for (;;) {
    if (!lane.busy) {
      if (lane.waiting.empty() || must_wait(lane)) return;
      begin(now, lane);
    }
    send_lines(now, direction);
    const bool complete = lane.owed[0] == 0 && lane.owed[1] == 0;
    if (lane.sent < lane.copy.bytes || !complete || end_of_link(lane) > now) return;
    finish(now, lane);
  }
}

void CopyEngine::begin(Cycle now, Lane& lane) {
  const Command command = lane.waiting.front();
  lane.waiting.pop_front();
  lane.busy = true;
  if (link_) link_->page_begins(lane.direction);
  lane.copy = command.copy;
  lane.origin = now;
  lane.reported_start = std::max(command.arrival - command_cycles_, lane.free_since);
  lane.page = 0;
  lane.sent = warms_l2_ ? 0 : command.copy.bytes;
  set_next_line(lane);
}

void CopyEngine::send_lines(Cycle now, unsigned direction) {
  Lane& lane = lanes_[direction];
  while (lane.sent < lane.copy.bytes && lane.due <= now && !requests_.full())
    if (!send_line(now, direction)) return;
}

/// False when the line belongs to a page that must wait.
bool CopyEngine::send_line(Cycle now, unsigned direction) {
  Lane& lane = lanes_[direction];
  const Address address = lane.copy.address + lane.sent;
  const std::uint64_t page = lane.next_page;
  if (page != lane.page) {
    if (lane.owed[page & 1] > 0) return false;
    if (link_) link_->at_border(lane.direction);
    if (must_wait(lane)) return false;
    if (link_) link_->page_begins(lane.direction);
    lane.origin += now - lane.due;  // the link stood still
    lane.page = page;
  }
  const std::uint64_t bytes = line_bytes(lane);
  icnt::Request request;
  request.line = line_of(address);
  request.tag = direction << 1 | static_cast<std::uint32_t>(page & 1);
  request.reply_to = reply_to_;
  request.kernel = kernel_;
  fill_masks(address, bytes, request);
  const unsigned sectors = bit_count(request.sectors);
  request.kind = lane.copy.to_device ? icnt::AccessKind::kCopy : icnt::AccessKind::kCopyRead;
  if (!lane.copy.to_device) request.bytes = {};
  lane.owed[page & 1] += lane.copy.to_device ? 1 : sectors;
  requests_.push(now, map_->home_slice(request.line),
                 icnt::Fabric::flits(lane.copy.to_device ? sectors : 0, out_bytes_), request);
  ++counters_.requests;
  lane.sent += bytes;
  set_next_line(lane);
  return true;
}

void CopyEngine::finish(Cycle now, Lane& lane) {
  const Cycle end = now + data_cycles_;
  fabric_->copy_done->send(0, 0, end, {lane.copy.index, lane.reported_start, end});
  lane.busy = false;
  lane.free_since = now;
}

std::uint64_t CopyEngine::line_bytes(const Lane& lane) {
  const Address address = lane.copy.address + lane.sent;
  return std::min<std::uint64_t>(lane.copy.bytes - lane.sent, kLineBytes - address % kLineBytes);
}

/// The next line's page and time.
void CopyEngine::set_next_line(Lane& lane) const {
  lane.next_page = (lane.copy.address + lane.sent) / page_bytes_ - lane.copy.address / page_bytes_;
  lane.due = lane.origin + cycles_of(lane.copy.to_device ? lane.sent + line_bytes(lane) : lane.sent);
}

bool CopyEngine::page_may_open(const Lane& lane) const {
  return lane.next_page == lane.page || (lane.owed[lane.next_page & 1] == 0 && !must_wait(lane));
}

// --- Migrations ---

void CopyEngine::migrate(Cycle now, unsigned direction, const Migration& migration) {
  LinesOf& m = migrations_[direction];
  if (m.busy) throw std::logic_error("copy engine: two migrations in one direction");
  m = {migration, true, false, now, 0, 0};
}

/// As those of a copy: a line is off the link (to the device) or asked for (to the host) at its share of the
/// time.
Cycle CopyEngine::due(const LinesOf& m, unsigned direction) {
  const std::uint64_t crossed = m.sent + (direction == 1 ? kLineBytes : 0);
  return m.start + static_cast<Cycle>(static_cast<sim::Wide>(m.what.cycles) * crossed / m.what.bytes);
}

void CopyEngine::send_migration(Cycle now, unsigned direction) {
  LinesOf& m = migrations_[direction];
  for (; m.sent < m.what.bytes && due(m, direction) <= now && !requests_.full(); m.sent += kLineBytes) {
    icnt::Request request;
    request.line = m.what.address + m.sent;
    request.tag = kMigration | direction << 1;
    request.reply_to = reply_to_;
    request.kernel = kernel_;
    request.kind = direction == 1   ? icnt::AccessKind::kCopy
                   : m.what.discard ? icnt::AccessKind::kDiscard
                   : m.what.keep    ? icnt::AccessKind::kCopyRead
                                    : icnt::AccessKind::kEvict;
    fill_masks(request.line, kLineBytes, request);
    const unsigned sectors = direction == 1 ? kSectorsPerLine : 0;
    if (direction == 0) request.bytes = {};
    m.owed += icnt::is_read(request.kind) ? kSectorsPerLine : 1;
    requests_.push(now, map_->home_slice(request.line), icnt::Fabric::flits(sectors, out_bytes_), request);
    ++counters_.requests;
  }
  if (m.sent < m.what.bytes || m.owed > 0) return;
  m.busy = false;
  m.ended = true;
}

/// They have crossed the link already, so they come first.
void CopyEngine::send_remote_replies(Cycle now) {
  for (; !remote_replies_.empty() && !requests_.full(); remote_replies_.pop_front()) {
    const icnt::Request& r = remote_replies_.front();
    const unsigned sectors = icnt::carries_data(r.kind) ? bit_count(r.sectors) : 0;
    requests_.push(now, map_->home_slice(r.line), icnt::Fabric::flits(sectors, out_bytes_), r);
    ++counters_.requests;
  }
}

Cycle CopyEngine::next_event(Cycle now) const {
  Cycle next = std::min({commands_.next_arrival(), replies_.next_event(now - 1, true),
                         requests_.next_event(now - 1), device_copies_.next()});
  if (!remote_asked_.empty() || (!remote_replies_.empty() && !requests_.full())) return now;
  for (const Lane& lane : lanes_) next = std::min(next, next_event(now, lane));
  for (unsigned direction = 0; direction < 2; ++direction) {
    const LinesOf& m = migrations_[direction];
    if (m.ended) return now;
    if (m.busy && m.sent < m.what.bytes && !requests_.full())
      next = std::min(next, std::max(now, due(m, direction)));
  }
  return next;
}

Cycle CopyEngine::next_event(Cycle now, const Lane& lane) const {
  if (!lane.busy) return lane.waiting.empty() || must_wait(lane) ? kNever : now;
  if (lane.sent == lane.copy.bytes) {
    const bool complete = lane.owed[0] == 0 && lane.owed[1] == 0;
    if (end_of_link(lane) > now) return end_of_link(lane);  // the link is free for others
    return complete ? now : kNever;
  }
  if (requests_.full() || !page_may_open(lane)) return kNever;  // the port or a reply wakes it
  return std::max(now, lane.due);
}

void CopyEngine::take_counters(std::uint8_t kernel, stats::KernelCounters& total) {
  if (kernel != kernel_) return;
  stats::add(total.icnt, counters_);
  counters_ = {};
}

bool CopyEngine::quiescent() const {
  for (const Lane& lane : lanes_)
    if (lane.busy || !lane.waiting.empty()) return false;
  for (const LinesOf& m : migrations_)
    if (m.busy || m.ended) return false;
  return device_copies_.idle() && remote_asked_.empty() && remote_replies_.empty() && commands_.size() == 0 &&
         requests_.empty() && replies_.pending() == 0 && requests_.credits_missing() == 0;
}

void CopyEngine::dump(std::string& out) const {
  auto to = std::back_inserter(out);
  fmt::format_to(to, "copy engine: {} requests queued, {} credits away\n", requests_.empty() ? "no" : "some",
                 requests_.credits_missing());
  if (!device_copies_.idle())
    fmt::format_to(to, "  a fill or copy within the device ends at {}\n", device_copies_.next());
  for (const Lane& lane : lanes_) {
    if (!lane.busy) continue;
    fmt::format_to(
        to, "  copy {} device, command {}: {} of {} bytes sent, {} replies owed, {} copies behind it\n",
        lane.copy.to_device ? "to" : "from", lane.copy.index, lane.sent, lane.copy.bytes,
        lane.owed[0] + lane.owed[1], lane.waiting.size());
  }
}

}  // namespace lockstep::core
