#include "core/translator.hpp"

#include <fmt/format.h>

#include <iterator>

namespace lockstep::core {
namespace {

constexpr Cycle kSlack = 1024 + 2;  // an answer may be sent at the end of the longest window
constexpr std::size_t kReports = 256;

std::uint64_t page_number(uvm::Place place) { return place.tree * uvm::kPagesPerTree + place.page; }

}  // namespace

Translator::Translator(const config::GpuConfig& config, icnt::Fabric& fabric,
                       const uvm::AddressSpace& managed, std::uint32_t sm)
    : fabric_(&fabric),
      managed_(&managed),
      sm_(sm),
      request_latency_(config.uvm.request_latency),
      touch_interval_(config.uvm.touch_interval),
      shootdown_cycles_(config.uvm.l1_shootdown),
      merge_(config.uvm.merge_misses),
      forget_all_(config.uvm.shootdown == uvm::ShootdownScope::kAll),
      acknowledge_(!config.uvm.early_reuse),
      tlb_({config.uvm.l1_tlb_entries, config.uvm.l1_tlb_entries},
           {config.uvm.l1_tlb_large_entries, config.uvm.l1_tlb_large_entries}),
      last_(&managed.allocations().front()),
      replies_(config.uvm.reply_latency + kSlack),
      reports_(kReports) {}

bool Translator::look_up(Cycle now, uvm::Place place, bool write) {
  ++counters_.accesses;
  if (!tlb_.lookup(place)) {
    ++counters_.misses;
    return false;
  }
  ++counters_.hits;
  report(now, place, write);
  return true;
}

/// Replacement and dirty pages live in the GMMU: it hears of a page's use now and then, of its first write at
/// once.
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

void Translator::park(Cycle now, const ParkedLine& line) {
  const uvm::Place place = managed_->place(line.access.line);
  ++waiting_;
  if (merge_) {
    const auto asked = asked_.find(page_number(place));
    if (asked != asked_.end()) {
      ++counters_.merged;
      waits_[asked->second].lines.push_back(line);
      return;
    }
  }
  std::uint32_t token = static_cast<std::uint32_t>(waits_.size());
  if (free_waits_.empty()) {
    waits_.emplace_back();
  } else {
    token = free_waits_.back();
    free_waits_.pop_back();
  }
  waits_[token].place = place;
  waits_[token].lines.assign(1, line);
  if (merge_) asked_.emplace(page_number(place), token);
  icnt::TranslationRequest request;
  request.kind = icnt::TranslationRequest::Kind::kMiss;
  request.tree = place.tree;
  request.page = static_cast<std::uint16_t>(place.page);
  request.write = line.write;
  request.token = token;
  send(now, request);
}

void Translator::receive(Cycle now) {
  replies_.drain(now, [&](std::uint32_t, const icnt::TranslationReply& reply) {
    if (reply.kind == icnt::TranslationReply::Kind::kShootdown) {
      forget(reply);
      Work work;
      work.is_shootdown = true;
      work.shootdown = reply;
      work_.push_back(work);
      return;
    }
    Wait& wait = waits_[reply.token];
    for (const ParkedLine& line : wait.lines) {
      Work work;
      work.line = line;
      work.place = wait.place;
      work.granule = reply.granule;
      work_.push_back(work);
    }
    if (merge_) asked_.erase(page_number(wait.place));
    free_waits_.push_back(reply.token);
  });
}

void Translator::line_done() {
  const Work& work = work_.front();
  --waiting_;
  ++counters_.replays;
  if (!tlb_.lookup(work.place)) {
    ++counters_.inserts;
    counters_.evictions += tlb_.insert(work.place, work.granule) ? 1 : 0;
  }
  work_.pop_front();
}

/// Entries may have come back with lines that were answered before the shootdown.
void Translator::forget(const icnt::TranslationReply& s) {
  counters_.shot_down += forget_all_ ? tlb_.clear() : tlb_.invalidate(s.tree, s.first, s.pages);
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
  fmt::format_to(std::back_inserter(out), "  translation: {} lines wait for a page, {} steps in turn\n",
                 waiting_, work_.size());
}

}  // namespace lockstep::core
