#include "uvm/thrashing.hpp"

namespace lockstep::uvm {

void Thrashing::migrated(TreeIndex tree, const PageSet& pages, Processor to, Cycle now) {
  if (tree >= blocks_.size()) blocks_.resize(tree + 1);
  Block& block = blocks_[tree];
  reset_if_quiet(block, now);
  if (!block.pages) {
    const bool other = block.last_processor != Processor::kNone && block.last_processor != to;
    const bool armed = other && now - block.last <= rules_.lapse;
    block.last = now;
    block.last_processor = to;
    if (!armed) return;
    block.pages = std::make_unique<Pages>();
    block.last_thrashing = now;
  }
  pages.for_each([&](unsigned p) {
    Page& page = (*block.pages)[p];
    const bool counts = page.known && now - page.last <= rules_.lapse;
    page.events = static_cast<std::uint8_t>(!counts ? 0 : page.events < 255 ? page.events + 1 : 255);
    page.known = true;
    page.last = now;
    if (page.events < rules_.threshold) return;
    page.thrashes = true;
    block.thrashing.insert(p);
    block.last_thrashing = now;
  });
}

/// A block that has been quiet for an epoch starts anew; not for ever, so that a slow rhythm is kept in mind.
void Thrashing::reset_if_quiet(Block& block, Cycle now) {
  if (!block.pages || block.resets == rules_.resets) return;
  if (now - block.last_thrashing <= rules_.epoch_lapses * rules_.lapse) return;
  const std::uint32_t resets = block.resets + 1;
  block = {};
  block.resets = resets;
}

Thrashing::Hint Thrashing::hint(TreeIndex tree, unsigned p, Processor faulter, Cycle now) {
  if (tree >= blocks_.size() || !blocks_[tree].pages) return Hint::kNone;
  Block& block = blocks_[tree];
  Page& page = (*block.pages)[p];
  if (!page.thrashes) return Hint::kNone;
  if (page.pinned) {
    if (rules_.pin_lapses == 0 || now < page.pin_end) return Hint::kPin;
    page = {};
    block.thrashing.erase(p);
    return Hint::kNone;
  }
  block.last_thrashing = now;
  if (page.throttles >= rules_.throttles) {
    page.pinned = true;
    page.pin_end = now + rules_.pin_lapses * rules_.lapse;
    return Hint::kPin;
  }
  if (page.owner != Processor::kNone && page.owner != faulter && now < page.nap_end) {
    ++page.throttles;
    return Hint::kThrottle;
  }
  if (page.owner != faulter || now >= page.nap_end) page.nap_end = now + rules_.lapse;
  page.owner = faulter;
  return Hint::kNone;
}

PageSet Thrashing::thrashing(TreeIndex tree) const {
  return tree < blocks_.size() ? blocks_[tree].thrashing : PageSet();
}

bool Thrashing::pinned(TreeIndex tree, unsigned p, Cycle now) const {
  if (tree >= blocks_.size() || !blocks_[tree].pages) return false;
  const Page& page = (*blocks_[tree].pages)[p];
  return page.pinned && (rules_.pin_lapses == 0 || now < page.pin_end);
}

}  // namespace lockstep::uvm
