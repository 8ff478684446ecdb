// The part of a slice that deals with the other half of the L2.
#include <fmt/format.h>

#include <iterator>

#include "mem/slice.hpp"
#include "util/bits.hpp"

namespace lockstep::mem {

namespace {

constexpr std::uint32_t kDropCopy = 0xffffffff;  // tag of an unsolicited reply: the line was written
constexpr std::uint32_t kForwardedRequests =
    256;  // writes and atomics of a slice that the other half works on

}  // namespace

Slice::FarPorts::FarPorts(icnt::Fabric& fabric, std::uint32_t slice)
    : out(*fabric.far_request, *fabric.far_request_credit, slice, fabric.slice_far_port()),
      reply_out(*fabric.far_reply, *fabric.far_reply_credit, slice, fabric.slice_far_reply_port()),
      in(*fabric.far_request, *fabric.far_request_credit, slice, fabric.slice_far_eject()),
      reply_in(*fabric.far_reply, *fabric.far_reply_credit, slice, fabric.slice_far_reply_eject()),
      forwarded(kForwardedRequests) {
  for (std::uint32_t i = kForwardedRequests; i-- > 0;) free.push_back(i);
}

/// Writes, atomics and polls of signals are done at home. A copy kept here is written through.
bool Slice::forward(Latch& latch, Cycle now) {
  const icnt::Request& r = latch.request;
  if (far_->out.full() || far_->free.empty()) {
    latch.stall = far_->out.full() ? Stall::kFarPort : Stall::kFill;
    return false;
  }
  const std::uint32_t index = far_->free.back();
  far_->free.pop_back();
  far_->forwarded[index] = {r};
  icnt::Request ask = r;
  ask.tag = index;
  ask.reply_to = static_cast<std::uint16_t>(slice_);
  far_->out.push(now, twin_, request_flits(ask, in_bytes_), ask);
  if (r.kind == icnt::AccessKind::kAwait && r.is_watch()) return true;
  stats::PartitionCounters& c = counters_->mem[r.kernel];
  ++c.far_requests;
  ++c.l2.requests;
  return true;
}

void Slice::accept_far_replies(Cycle now) {
  const auto flits = [this](const icnt::Reply& r) {
    const bool data = r.tag != kDropCopy && (icnt::is_read(r.kind) || r.kind == icnt::AccessKind::kAtomic);
    return icnt::Fabric::flits(data ? bit_count(r.sectors) : 0, in_bytes_);
  };
  far_->reply_in.tick(now, true, flits, [&](const icnt::Reply& r) {
    if (r.tag == kDropCopy) {
      const std::optional<LineIndex> index = tags_.find(tags_.set_of(map_->local_line(r.line)), r.line);
      if (index) tags_[*index].valid = static_cast<SectorMask>(tags_[*index].valid & ~r.sectors);
    } else if (icnt::is_read(r.kind) && r.kind != icnt::AccessKind::kAwait) {
      fill(now, static_cast<std::uint16_t>(r.tag), r.sectors);
    } else {
      icnt::Request& request = far_->forwarded[r.tag].request;
      request.again = r.again;
      pass_on(request, r.sectors, kNear, now);
      if (request.kind == icnt::AccessKind::kAwait) {  // data come sector by sector
        request.sectors = static_cast<SectorMask>(request.sectors & ~r.sectors);
        if (request.sectors != 0) return;
      }
      far_->free.push_back(r.tag);
    }
  });
}

/// Data of the other half: the requester gets them while the copy is written.
void Slice::pass_on(const icnt::Request& r, SectorMask sectors, Origin origin, Cycle now) {
  const bool silent = r.kind == icnt::AccessKind::kAwait && r.is_watch();
  passing_.push(
      {now, {r.line, r.tag, r.kind, sectors, r.kernel, r.again, r.missed, silent}, r.reply_to, origin});
}

void Slice::drop_copies(Line& line, SectorMask sectors, std::uint8_t kernel, Cycle now) {
  const auto gone = static_cast<SectorMask>(line.copied & sectors);
  if (!gone) return;
  line.copied = static_cast<SectorMask>(line.copied & ~gone);
  pipe_.push({now + latency_,
              {line.address, kDropCopy, icnt::AccessKind::kStore, gone, kernel},
              static_cast<std::uint16_t>(twin_),
              kFar});
}

}  // namespace lockstep::mem
