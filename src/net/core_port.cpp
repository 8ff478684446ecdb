#include "net/core_port.hpp"

#include <algorithm>

#include "net/span.hpp"

namespace lockstep::net {

using icnt::AccessKind;

CorePort::CorePort(const config::GpuConfig& gpu, const config::CommandProcessorGroup& core,
                   icnt::Fabric& fabric, const mem::AddressMap& map, std::uint32_t number,
                   std::uint8_t kernel)
    : core_(core),
      map_(&map),
      kernel_(kernel),
      reply_to_(fabric.core_requester(number)),
      out_bytes_(gpu.icnt.sm_out_bytes),
      in_bytes_(gpu.icnt.sm_in_bytes),
      requests_(*fabric.request, *fabric.request_credit, reply_to_, fabric.sm_request_port()),
      replies_(*fabric.reply, *fabric.reply_credit, reply_to_, fabric.sm_reply_eject()),
      data_(core.data_bytes, core.data_ways),
      code_(core.code_bytes, core.code_ways),
      elides_(gpu.sync.poll_elision) {}

/// Records have a word of their own after each move: where memory is used again its words have had signals.
void CorePort::move(QueuePair& pair) {
  const Address begin = given_.front();
  given_.pop();
  const auto in_lines = [](std::uint64_t bytes) {
    return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  };
  const std::uint64_t ring = in_lines(pair.entries() * trace::kNetEntryBytes);
  pair.commands = begin;
  pair.records = begin + ring + 4 * moves_++;
  hot_ = begin + 2 * ring;
  cold_ = hot_ + in_lines(core_.hot_bytes);
  text_ = cold_ + in_lines(core_.cold_bytes);
}

/// To the line's slice, or if it is not memory of the device, to the peer port.
void CorePort::issue(CoreAccess what, icnt::Request request, Out::For whom) {
  CoreCounters::Class& of = counters_.l2[static_cast<std::size_t>(what)];
  ++of.accesses;
  if (request.lock == icnt::LineLock::kNone) request.lock = icnt::LineLock::kCore;
  send_later(request, {what, request.sectors, false, whom, {}});
}

void CorePort::send_later(icnt::Request request, const Out& out) {
  request.tag = out_.add(out);
  request.reply_to = reply_to_;
  request.kernel = kernel_;
  to_send_.push(request);
}

/// Reads the entry or record that has the word.
unsigned CorePort::await(CoreAccess what, Address word, std::uint32_t signals, const PollRequest& how) {
  const Address begin = word / trace::kNetEntryBytes * trace::kNetEntryBytes;
  icnt::Request request = read_of(AccessKind::kAwait, begin, trace::kNetEntryBytes);
  request.set_awaited(word, signals);
  if (how.watch != nullptr) {
    request.set_watch();
    send_later(request, {what, request.sectors, false, Out::For::kWatch, *how.watch});
    return 0;
  }
  if (how.before > 0) request.set_polls_before(static_cast<std::uint32_t>(how.before));
  counters_.l2[static_cast<std::size_t>(what)].accesses += how.before;
  data_.empty();
  issue(what, request, how.uncalled ? Out::For::kCount : Out::For::kThread);
  return 1;
}

unsigned CorePort::poll(Cycle, std::uint16_t, Address word, std::uint32_t signals, const PollRequest& how) {
  return await(CoreAccess::kEntry, word, signals, how);
}

unsigned CorePort::poll_record(Cycle, QueuePair& pair, std::uint64_t number, const PollRequest& how) {
  return await(CoreAccess::kRecord, pair.record_address(number), pair.signals(number), how);
}

unsigned CorePort::run_call(Cycle) {
  const std::size_t before = loads_.size();
  touch(text_, core_.call_code_bytes, core_.call_code_lines, true, text_at_);
  touch(hot_, core_.hot_bytes, core_.hot_lines, false, hot_at_);
  touch(cold_, core_.cold_bytes, core_.cold_lines, false, cold_at_);
  const std::size_t missed = loads_.size() - before;
  begin_loads();
  updates_left_ = core_.call_updates;
  if (updates_left_ == 0) return static_cast<unsigned>(missed);
  update(icnt::LineLock::kBegin);
  return static_cast<unsigned>(missed) + 1;
}

void CorePort::update(icnt::LineLock half) {
  icnt::Request request = half == icnt::LineLock::kBegin ? read_of(AccessKind::kLoad, shared_, 4)
                                                         : write_of(AccessKind::kStore, shared_, 4);
  request.lock = half;
  issue(CoreAccess::kUpdate, request);
}

/// `lines` of 64 bytes, on from where the call before stopped, round and round.
void CorePort::touch(Address begin, std::uint64_t bytes, std::uint32_t lines, bool code, std::uint64_t& at) {
  constexpr std::uint64_t kTouched = 64;
  for (std::uint32_t i = 0; i < lines; ++i, at += kTouched) {
    const Address line = line_of(begin + at % bytes);
    ++(code ? counters_.code_lines : counters_.data_lines);
    if (!(code ? code_ : data_).access(line)) loads_.push({line, code});
  }
}

void CorePort::begin_loads() {
  for (; !loads_.empty() && loads_out_ < core_.outstanding; loads_.pop(), ++loads_out_) {
    const Load load = loads_.front();
    issue(load.code ? CoreAccess::kCode : CoreAccess::kData,
          read_of(AccessKind::kLoad, load.line, kLineBytes));
  }
}

unsigned CorePort::store(Cycle, std::uint16_t, Address word) {
  icnt::Request request = write_of(AccessKind::kStore, word, 4);
  request.signals = true;
  issue(CoreAccess::kStore, request);
  return 1;
}

unsigned CorePort::write_command(Cycle, QueuePair& pair, std::uint64_t number) {
  issue(CoreAccess::kCommand,
        write_of(AccessKind::kStore, pair.command_address(number), trace::kNetEntryBytes));
  return 1;
}

unsigned CorePort::ring(Cycle, QueuePair& pair) {
  issue(CoreAccess::kDoorbell, write_of(AccessKind::kStore, pair.doorbell, 8));
  return 0;
}

/// Whether the thread waited for it, and now has all of it.
bool CorePort::complete(const icnt::Reply& reply) {
  Out& out = out_.at(reply.tag);
  const CoreAccess what = out.what;
  if (icnt::is_read(reply.kind) && reply.missed && !out.missed) {
    out.missed = true;
    ++counters_.l2[static_cast<std::size_t>(what)].misses;
  }
  out.missing = static_cast<SectorMask>(icnt::is_read(reply.kind) ? out.missing & ~reply.sectors : 0);
  if (out.missing != 0) return false;
  if (out.whom == Out::For::kWatch) noticed_.push({out.watched, !reply.again});
  const bool waited_for = out.whom == Out::For::kThread;
  out_.free(reply.tag);
  if (!waited_for) return false;
  if (what == CoreAccess::kUpdate) {
    const bool read = icnt::is_read(reply.kind);
    if (read || --updates_left_ > 0) update(read ? icnt::LineLock::kEnd : icnt::LineLock::kBegin);
    return !read && updates_left_ == 0;
  }
  if (what == CoreAccess::kData || what == CoreAccess::kCode) {
    --loads_out_;
    begin_loads();
  }
  return what != CoreAccess::kDoorbell;
}

void CorePort::send(Cycle now) {
  for (; !to_send_.empty() && !requests_.full(); to_send_.pop()) {
    const icnt::Request& request = to_send_.front();
    const unsigned sectors = icnt::carries_data(request.kind) ? bit_count(request.sectors) : 0;
    requests_.push(now, map_->port(request.line, 0), icnt::Fabric::flits(sectors, out_bytes_), request);
  }
  requests_.tick(now);
}

/// After `now`.
Cycle CorePort::next_event(Cycle now) const {
  if (!to_send_.empty() && !requests_.full()) return now + 1;
  return std::max(std::min(requests_.next_event(now), replies_.next_event(now, true)), now + 1);
}

bool CorePort::idle() const {
  return to_send_.empty() && requests_.empty() && replies_.pending() == 0 && out_.used() == 0 &&
         requests_.credits_missing() == 0;
}

}  // namespace lockstep::net
