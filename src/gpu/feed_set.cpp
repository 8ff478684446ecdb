#include "gpu/feed_set.hpp"

#include <algorithm>

namespace lockstep::gpu {

FeedSet::FeedSet(const trace::TraceSet& trace, System& system) : trace_(&trace), system_(&system) {}

std::size_t FeedSet::plan() {
  for (std::uint16_t d = 0; d < system_->devices(); ++d) {
    Device& device = system_->device(d);
    if (!device.is_here()) continue;
    for (const std::uint8_t slot : device.dispatcher().active())
      if (!device.kernels()[slot].feed && device.dispatcher().slot(slot).timed) open(d, slot);
  }
  std::size_t tasks = 0;
  for (Open& o : open_) {
    o.feed->want(system_->device(o.device).dispatcher().slot(o.slot).wanted);
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

void FeedSet::open(std::uint16_t number, std::uint8_t slot) {
  Device& device = system_->device(number);
  Open o{number, slot, trace_->open(device.dispatcher().slot(slot).kernel),
         std::make_unique<core::IssueTable>(device.config())};
  o.instructions->extend(o.feed->instructions());
  device.kernels()[slot].feed = o.feed.get();
  device.kernels()[slot].instructions = o.instructions.get();
  open_.push_back(std::move(o));
}

std::vector<FeedSet::Open>::iterator FeedSet::find(std::uint16_t device, std::uint8_t slot) {
  return std::find_if(open_.begin(), open_.end(),
                      [&](const Open& x) { return x.device == device && x.slot == slot; });
}

void FeedSet::skip(std::uint16_t device, std::uint8_t slot, std::uint64_t begin, std::uint64_t end) {
  const auto o = find(device, slot);
  o->feed->skip(begin, end);
  o->instructions->extend(o->feed->instructions());
}

void FeedSet::pass(std::uint16_t device, std::uint8_t slot, std::uint64_t begin, std::uint64_t end,
                   const Each& each) {
  const auto o = find(device, slot);
  trace::CtaFeed& feed = *o->feed;
  while (begin < end) {
    const std::uint64_t stop = std::min(end, begin + trace::CtaFeed::kAtOnce);
    feed.decode_now(stop);
    for (; begin < stop; ++begin) {
      trace::CtaTrace* const cta = feed.take(begin);
      each(feed, *cta);
      feed.release(cta);
    }
  }
  o->instructions->extend(feed.instructions());
}

void FeedSet::close(std::uint16_t device, std::uint8_t slot) {
  const auto o = find(device, slot);
  if (o == open_.end()) return;
  const trace::TraceNotes& notes = o->feed->notes();
  for (const auto& [name, count] : notes.unknown_opcodes) unknown_[name] += count;
  remarks_.insert(notes.remarks.begin(), notes.remarks.end());
  core::KernelSlot& entry = system_->device(device).kernels()[slot];
  entry.feed = nullptr;
  entry.instructions = nullptr;
  open_.erase(o);
}

void FeedSet::add_notes(const Notes& notes) {
  for (const auto& [name, count] : notes.unknown) unknown_[name] += count;
  remarks_.insert(notes.remarks.begin(), notes.remarks.end());
}

std::vector<std::pair<std::string, std::uint64_t>> FeedSet::unknown_opcodes() const {
  return {unknown_.begin(), unknown_.end()};
}

}  // namespace lockstep::gpu
