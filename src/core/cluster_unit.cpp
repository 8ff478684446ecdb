#include "core/cluster_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "trace/mbarrier_words.hpp"
#include "util/bits.hpp"

namespace lockstep::core {

using MessageKind = icnt::ClusterMessage::Kind;

void ClusterUnit::join(unsigned cta, std::uint8_t kernel, const icnt::ClusterPlace& place) {
  if (cta >= members_.size()) members_.resize(cta + std::size_t{1});
  members_[cta] = {kernel, place};
}

icnt::ClusterMessage ClusterUnit::message(MessageKind kind, unsigned cta, std::uint32_t rank) const {
  const Member& member = members_[cta];
  icnt::ClusterMessage message;
  message.kind = kind;
  message.kernel = member.kernel;
  message.from = member.place.rank;
  message.to = static_cast<std::uint8_t>(rank);
  message.cluster = member.place.number;
  return message;
}

std::uint32_t ClusterUnit::take_entry(std::uint32_t handle) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(pending_.size()));
    pending_.emplace_back();
  }
  const std::uint32_t tag = free_.back();
  free_.pop_back();
  pending_[tag] = {0, handle, 0};
  return tag;
}

bool ClusterUnit::access(Cycle now, const MioOperation& op, Cycle& data_free) {
  const icnt::ClusterPlace& place = members_[op.cta].place;
  shares_.split(op, place.rank, place.ranks);
  if (shares_.ordinary(place.rank)) return false;
  const bool replies = op.op_class == trace::OpClass::kLoad || op.op_class == trace::OpClass::kAtomic;
  const std::uint32_t tag = replies ? take_entry(op.handle) : 0;
  stats::SmCounters& counters = (*counters_)[op.kernel];
  ++counters.shared_instructions;
  unsigned wavefronts = 1;
  for (const ClusterShare& share : shares_.all()) {
    if (share.rank != place.rank) {
      send_share(now, op, share, tag);
      continue;
    }
    wavefronts = share.wavefronts;
    counters.shared_wavefronts += wavefronts;
    if (share.mbarrier == 0) continue;
    icnt::ClusterMessage own = message(MessageKind::kSignal, op.cta, share.rank);
    own.mbarrier = share.mbarrier;
    own.events = bit_count(share.lanes);
    news_.push_back(own);
  }
  data_free = now + wavefronts;
  if (!replies) {
    results_->emit(MioEvent::Kind::kResult, op.handle);
    return true;
  }
  Pending& entry = pending_[tag];
  entry.ready = now + shared_rest_ + wavefronts - 1;
  return true;
}

unsigned ClusterUnit::wavefronts() const {
  unsigned sum = 0;
  for (const ClusterShare& share : shares_.all()) sum += share.wavefronts;
  return sum;
}

void ClusterUnit::send_share(Cycle now, const MioOperation& op, const ClusterShare& share,
                             std::uint32_t tag) {
  const bool load = op.op_class == trace::OpClass::kLoad, atomic = op.op_class == trace::OpClass::kAtomic;
  icnt::ClusterMessage request = message(MessageKind::kAccess, op.cta, share.rank);
  request.wavefronts = share.wavefronts;
  request.replies = load || atomic;
  request.bytes = load ? std::uint16_t{0} : share.bytes;
  request.reply_bytes = request.replies ? share.bytes : std::uint16_t{0};
  request.tag = tag;
  request.mbarrier = share.mbarrier;
  request.events = share.mbarrier != 0 ? bit_count(share.lanes) : 0;
  if (request.replies) ++pending_[tag].replies;
  port_.send(ClusterPort::kRequests, now, members_[op.cta].place.sms[share.rank], request);
}

void ClusterUnit::copy(const MioOperation& op) {
  std::array<Address, kWarpSize> words{};
  trace::expand_addresses(op.form, op.mask, op.words, words.data());
  Copy copy;
  copy.handle = op.handle;
  copy.left = static_cast<std::uint32_t>(words[1] >> 32);
  copy.mbarrier = trace::mbarrier_of(words[0]);
  copy.events = static_cast<std::uint32_t>(words[1]);
  const icnt::ClusterPlace& place = members_[op.cta].place;
  copy.ranks = static_cast<std::uint16_t>(trace::targets_of(words[0]) & ((1u << place.ranks) - 1));
  copy.cta = op.cta;
  copies_.push(copy);
}

void ClusterUnit::signal(Cycle now, unsigned cta, std::uint32_t rank, std::uint32_t mbarrier,
                         std::uint32_t events, std::uint32_t filled) {
  icnt::ClusterMessage news = message(MessageKind::kSignal, cta, rank);
  news.mbarrier = mbarrier;
  news.events = events;
  news.filled = filled;
  port_.send(ClusterPort::kRequests, now, members_[cta].place.sms[rank], news);
}

void ClusterUnit::broadcast(Cycle now, unsigned cta, MessageKind kind, std::uint32_t phase) {
  const icnt::ClusterPlace& place = members_[cta].place;
  for (std::uint32_t rank = 0; rank < place.ranks; ++rank) {
    if (rank == place.rank) continue;
    icnt::ClusterMessage news = message(kind, cta, rank);
    news.events = phase;
    port_.send(ClusterPort::kRequests, now, place.sms[rank], news);
  }
}

void ClusterUnit::receive(Cycle now, Cycle& data_free) {
  port_.receive(now, [&](std::uint32_t sm, const icnt::ClusterMessage& message) {
    switch (message.kind) {
      case MessageKind::kReply:
        return take_reply(now, message.tag);
      case MessageKind::kAccess:
      case MessageKind::kData:
        serve(now, sm, message, data_free);
        break;
      case MessageKind::kSignal:
        if (message.filled > 0) crossbar_->fill(now, message.filled);
        break;
      default:
        news_.push_back(message);
        return;
    }
    if (message.mbarrier != 0) news_.push_back(message);
  });
}

void ClusterUnit::serve(Cycle now, std::uint32_t sm, const icnt::ClusterMessage& request, Cycle& data_free) {
  const Cycle begin = std::max(now, data_free);
  data_free = begin + request.wavefronts;
  (*counters_)[request.kernel].shared_wavefronts += request.wavefronts;
  if (!request.replies) return;
  icnt::ClusterMessage reply;
  reply.kind = MessageKind::kReply;
  reply.kernel = request.kernel;
  reply.tag = request.tag;
  reply.bytes = request.reply_bytes;
  port_.send(ClusterPort::kReplies, data_free - 1, sm, reply);
}

void ClusterUnit::take_reply(Cycle now, std::uint32_t tag) {
  Pending& entry = pending_[tag];
  if (--entry.replies > 0) return;
  results_->add(now, std::max(now + shared_rest_ + port_.rest(), entry.ready), entry.handle);
  free_.push_back(tag);
}

void ClusterUnit::send(Cycle now, Cycle& data_free) {
  port_.tick(now);
  if (!copies_.empty() && !port_.has_data(ClusterPort::kCopies)) send_chunk(now, data_free);
}

/// A line at a time, so that what comes meanwhile need not wait for the whole copy.
void ClusterUnit::send_chunk(Cycle now, Cycle& data_free) {
  Copy& copy = copies_.front();
  const std::uint32_t bytes = std::min(copy.left, std::uint32_t{kLineBytes});
  copy.left -= bytes;
  data_free = std::max(data_free, now) + 1;
  for (const unsigned rank : bits_of(copy.ranks)) {
    icnt::ClusterMessage chunk = message(MessageKind::kData, copy.cta, rank);
    chunk.bytes = static_cast<std::uint16_t>(bytes);
    if (copy.left == 0) {
      chunk.mbarrier = copy.mbarrier;
      chunk.events = copy.events;
    }
    port_.send(ClusterPort::kCopies, now, members_[copy.cta].place.sms[rank], chunk);
  }
  if (copy.left > 0) return;
  results_->emit(MioEvent::Kind::kResult, copy.handle);
  copies_.pop();
}

Cycle ClusterUnit::next_event(Cycle now) const {
  const Cycle next = port_.next_event(now);
  return copies_.empty() || port_.has_data(ClusterPort::kCopies) ? next : now + 1;
}

void ClusterUnit::dump(std::string& out) const {
  if (idle()) return;
  fmt::format_to(std::back_inserter(out),
                 ", messages of the cluster {}, accesses that wait for other SMs {}, copies to them {}",
                 port_.queued(), pending_.size() - free_.size(), copies_.size());
}

}  // namespace lockstep::core
