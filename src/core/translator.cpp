#include "core/translator.hpp"

#include <fmt/format.h>

#include <iterator>
#include <stdexcept>
#include <utility>

namespace lockstep::core {
namespace {

constexpr std::size_t kReports = 256;
constexpr uvm::Allocation kNothing;

std::uint64_t page_number(uvm::Place place) { return place.tree * uvm::kPagesPerTree + place.page; }

}  // namespace

Translator::Translator(const config::GpuConfig& config, icnt::Fabric& fabric,
                       const uvm::AddressSpace* managed, std::uint32_t sm)
    : fabric_(&fabric),
      managed_(managed),
      sm_(sm),
      request_latency_(config.uvm.request_latency),
      touch_interval_(config.uvm.touch_interval),
      shootdown_cycles_(config.uvm.shootdown == uvm::ShootdownScope::kAll ? config.uvm.l1_flush
                                                                          : config.uvm.l1_shootdown),
      merge_(config.uvm.merge_misses),
      forget_all_(config.uvm.shootdown == uvm::ShootdownScope::kAll),
      acknowledge_(!config.uvm.early_reuse),
      blocking_(config.uvm.blocking_misses),
      tlb_({config.uvm.l1_tlb_entries, config.uvm.l1_tlb_entries},
           {config.uvm.l1_tlb_large_entries, config.uvm.l1_tlb_large_entries}),
      miss_latency_(config.tlb.miss_latency),
      blocks_(config.tlb.pages),
      last_(&kNothing),
      replies_(sim::inbox_span(config.uvm.reply_latency)),
      reports_(kReports) {}

bool Translator::look_up(Cycle now, uvm::Place place, bool write) {
  ++counters_.accesses;
  if (!tlb_.lookup(place)) {
    ++counters_.misses;
    if (!limits_.empty()) limits_.erase(page_number(place));
    return false;
  }
  ++counters_.hits;
  const Limits limits = limits_of(page_number(place));
  if (limits.remote || (limits.read_only && write)) return false;
  report(now, place, write);
  return true;
}

/// Replacement and dirty pages live in the GMMU: uses of a page are reported to it now and then, the first
/// write at once.
void Translator::report(Cycle now, uvm::Place place, bool write) {
  Report& last = reports_[page_number(place) % kReports];
  const bool known = last.page == page_number(place) && now - last.at < touch_interval_;
  if (known && (last.write || !write)) return;
  last = {page_number(place), now, write || (known && last.write)};
  icnt::TranslationRequest request;
  request.kind = icnt::TranslationRequest::Kind::kAccessed;
  request.tree = place.tree;
  request.page = static_cast<std::uint16_t>(place.page);
  request.write = write;
  send(now, request);
}

bool Translator::park(Cycle now, const ParkedLine& line) {
  ++waiting_;
  const uvm::Allocation* a = managed_ ? managed_->find(line.access.line) : nullptr;
  if (!a) {
    ask_block(now, line);
    return false;
  }
  const uvm::Place place = managed_->place_in(*a, line.access.line);
  if (const Limits limits = limits_of(page_number(place)); limits.remote) {
    remote_.push_back(line);
    remote_.back().place = limits.place;
  } else {
    ask(now, line, place);
  }
  return true;
}

void Translator::ask_block(Cycle now, const ParkedLine& line) {
  const std::uint64_t block = KnownBlocks::block_of(line.access.line);
  const auto asked = std::ranges::find(blocks_asked_, block, &AskedBlock::block);
  if (asked != blocks_asked_.end()) return asked->lines.push_back(line);
  blocks_asked_.push_back({now + miss_latency_, block, {line}});
}

void Translator::receive_blocks(Cycle now) {
  while (!blocks_asked_.empty() && blocks_asked_.front().ready <= now) {
    const AskedBlock& known = blocks_asked_.front();
    blocks_.add(known.block);
    for (const ParkedLine& line : known.lines) {
      Work work;
      work.line = line;
      work.managed = false;
      work_.push_back(work);
    }
    blocks_asked_.pop_front();
  }
}

std::uint32_t Translator::take_wait(uvm::Place place, const ParkedLine& line) {
  std::uint32_t token = static_cast<std::uint32_t>(waits_.size());
  if (free_waits_.empty()) {
    waits_.emplace_back();
  } else {
    token = free_waits_.back();
    free_waits_.pop_back();
  }
  waits_[token].place = place;
  waits_[token].lines.assign(1, line);
  return token;
}

/// For the page's translation, unless that is asked for already.
void Translator::ask(Cycle now, const ParkedLine& line, uvm::Place place) {
  const auto asked = merge_ ? asked_.find(page_number(place)) : asked_.end();
  if (asked != asked_.end()) {
    ++counters_.merged;
    waits_[asked->second].lines.push_back(line);
    return;
  }
  const std::uint32_t token = take_wait(place, line);
  waits_[token].merges = merge_;
  if (merge_) asked_[page_number(place)] = token;
  icnt::TranslationRequest request;
  request.kind = icnt::TranslationRequest::Kind::kMiss;
  request.tree = place.tree;
  request.page = static_cast<std::uint16_t>(place.page);
  request.write = line.write;
  request.token = token;
  send(now, request);
}

icnt::Request Translator::take_remote() {
  const ParkedLine line = remote_.front();
  remote_.pop_front();
  const std::uint32_t token = take_wait(managed_->place(line.access.line), line);
  waits_[token].merges = false;
  if (token >> icnt::kRemoteTokenBits) throw std::logic_error("too many lines of an SM wait");
  icnt::Request request;
  request.line = line.access.line;
  const bool on_host = line.place == uvm::kHostPlace;
  request.tag = icnt::remote_tag(on_host ? sm_ : line.place, token);
  request.reply_to = on_host ? fabric_->reply_to_copy_engine() : fabric_->reply_to_sm(sm_);
  request.kind = !line.returns_data ? icnt::AccessKind::kRemoteWrite
                 : line.write       ? icnt::AccessKind::kRemoteAtomic
                                    : icnt::AccessKind::kRemoteRead;
  request.sectors = line.access.sectors;
  request.kernel = line.operation.kernel;
  if (on_host) return request;
  request.bytes = line.bytes;
  request.operations = std::min<std::uint8_t>(line.access.operations, 128);
  return request;
}

std::optional<ParkedLine> Translator::take_prefetch() {
  const ParkedLine line = remote_.front();
  if (line.bulk != icnt::AccessKind::kPrefetch && line.operation.kind != LineKind::kPrefetch)
    return std::nullopt;
  remote_.pop_front();
  return line;
}

ParkedLine Translator::remote_done(std::uint32_t token) {
  const ParkedLine line = waits_[token].lines.front();
  waits_[token].lines.clear();
  free_waits_.push_back(token);
  --waiting_;
  ++(line.place == uvm::kHostPlace ? counters_.remote_lines : counters_.peer_lines);
  return line;
}

void Translator::receive(Cycle now) {
  receive_blocks(now);
  replies_.drain(now, [&](std::uint32_t, const icnt::TranslationReply& reply) {
    using Kind = icnt::TranslationReply::Kind;
    if (reply.kind == Kind::kLinkBusy || reply.kind == Kind::kLinkIdle) {
      link_busy_ = reply.kind == Kind::kLinkBusy;
      return;
    }
    if (reply.kind != Kind::kShootdown) return take_reply(now, reply);
    forget(reply);
    Work work;
    work.kind = Work::Kind::kShootdown;
    work.shootdown = reply;
    work_.push_back(work);
  });
}

void Translator::take_reply(Cycle now, const icnt::TranslationReply& reply) {
  using Kind = icnt::TranslationReply::Kind;
  const uvm::Place place = waits_[reply.token].place;
  const std::vector<ParkedLine> lines = std::exchange(waits_[reply.token].lines, {});
  const std::uint64_t page = page_number(place);
  if (waits_[reply.token].merges) asked_.erase(page);
  free_waits_.push_back(reply.token);
  set_limits(page, {reply.kind == Kind::kRemote, reply.read_only, reply.place});
  if (reply.kind == Kind::kRemote) add_tlb_entry(place, uvm::Granule::kPage);
  for (const ParkedLine& line : lines) {
    Work work;
    work.line = line;
    work.place = place;
    work.granule = reply.granule;
    if (reply.kind == Kind::kRemote) {
      remote_.push_back(line);
      remote_.back().place = reply.place;
    } else if (reply.read_only && line.write) {
      ask(now, line, place);
    } else {
      work_.push_back(work);
    }
  }
}

void Translator::set_limits(std::uint64_t page, Limits limits) {
  if (limits.remote || limits.read_only) {
    limits_[page] = limits;
  } else if (!limits_.empty()) {
    limits_.erase(page);
  }
}

void Translator::add_tlb_entry(uvm::Place place, uvm::Granule granule) {
  if (tlb_.lookup(place)) return;
  ++counters_.inserts;
  counters_.evictions += tlb_.insert(place, granule) ? 1 : 0;
}

void Translator::line_done() {
  --waiting_;
  if (work_.front().managed) {
    ++counters_.replays;
    add_tlb_entry(work_.front().place, work_.front().granule);
  }
  work_.pop_front();
}

/// Entries may have come back with lines whose translation came before the shootdown.
void Translator::forget(const icnt::TranslationReply& s) {
  counters_.shot_down += forget_all_ ? tlb_.clear() : tlb_.invalidate(s.tree, s.first, s.pages);
  if (limits_.empty()) return;
  for (std::uint32_t page = s.first; page < std::uint32_t{s.first} + s.pages; ++page)
    limits_.erase(page_number({s.tree, page}));
}

void Translator::finish_shootdown(Cycle now) {
  const icnt::TranslationReply s = work_.front().shootdown;
  work_.pop_front();
  forget(s);
  if (!acknowledge_) return;
  icnt::TranslationRequest request;
  request.kind = icnt::TranslationRequest::Kind::kForgotten;
  request.token = s.token;
  send(now + shootdown_cycles_, request);
}

void Translator::dump(std::string& out) const {
  if (quiescent()) return;
  fmt::format_to(std::back_inserter(out),
                 "  translation: {} lines wait for a page or the host, {} steps in turn\n", waiting_,
                 work_.size());
}

}  // namespace lockstep::core
