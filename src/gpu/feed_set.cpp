#include "gpu/feed_set.hpp"

#include <algorithm>

namespace lockstep::gpu {

FeedSet::FeedSet(const trace::TraceSet& trace, const config::GpuConfig& config,
                 const core::Dispatcher& dispatcher, core::KernelTable& table)
    : trace_(&trace), config_(config), dispatcher_(&dispatcher), table_(&table) {}

std::size_t FeedSet::plan() {
  for (const std::uint8_t slot : dispatcher_->active())
    if (!(*table_)[slot].feed) open(slot);
  std::size_t tasks = 0;
  for (Open& o : open_) {
    o.feed->want(dispatcher_->slot(o.slot).dispatched);
    o.first_task = tasks;
    o.tasks = o.feed->plan();
    tasks += o.tasks;
  }
  return tasks;
}

void FeedSet::run(std::size_t task) noexcept {
  for (Open& o : open_) {
    if (task - o.first_task >= o.tasks) continue;
    o.feed->run(task - o.first_task);
    return;
  }
}

void FeedSet::settle() {
  for (Open& o : open_) {
    o.feed->settle();
    o.instructions->extend(o.feed->instructions());
  }
}

void FeedSet::open(std::uint8_t slot) {
  Open o{slot, trace_->open(dispatcher_->slot(slot).kernel), std::make_unique<core::IssueTable>(config_)};
  o.instructions->extend(o.feed->instructions());
  (*table_)[slot].feed = o.feed.get();
  (*table_)[slot].instructions = o.instructions.get();
  open_.push_back(std::move(o));
}

void FeedSet::close(std::uint8_t slot) {
  const auto o = std::find_if(open_.begin(), open_.end(), [&](const Open& x) { return x.slot == slot; });
  if (o == open_.end()) return;
  const trace::TraceNotes& notes = o->feed->notes();
  for (const auto& [name, count] : notes.unknown_opcodes) unknown_[name] += count;
  remarks_.insert(notes.remarks.begin(), notes.remarks.end());
  (*table_)[slot].feed = nullptr;
  (*table_)[slot].instructions = nullptr;
  open_.erase(o);
}

std::vector<std::pair<std::string, std::uint64_t>> FeedSet::unknown_opcodes() const {
  return {unknown_.begin(), unknown_.end()};
}

}  // namespace lockstep::gpu
