#include "uvm/host_orders.hpp"

#include <algorithm>

namespace lockstep::uvm {
namespace {

bool is_access(Order::Kind kind) { return kind == Order::Kind::kHostRead || kind == Order::Kind::kHostWrite; }

}  // namespace

void HostOrders::step(Cycle now) {
  now_ = now;
  for (;;) {
    if (!busy_) {
      if (waiting_.empty()) return;
      begin(now);
    }
    if (due_ > now || !work(now)) return;
    busy_ = false;
    completed_.push_back(order_.index);
  }
}

void HostOrders::begin(Cycle now) {
  order_ = waiting_.front();
  waiting_.pop_front();
  busy_ = true;
  opened_ = evicting_ = false;
  at_ = 0;
  due_ = now;
  ranges_ = pages_in(memory_->table().space(), order_.address, order_.bytes);
  if (order_.kind == Order::Kind::kSynchronise) due_ = now + memory_->synchronise_cycles();
  if (!is_access(order_.kind) || !any_on_device()) return;
  ++memory_->counters().host_faults;
  due_ = std::max(now, nap_end(now)) + memory_->cycles_of_ns(memory_->parameters().host_fault_ns);
}

/// How long the device may keep pages of the order that thrash.
Cycle HostOrders::nap_end(Cycle now) {
  Cycle end = now;
  auto& thrashing = memory_->remote().thrashing;
  if (!thrashing) return end;
  for (const PageRange& range : ranges_) {
    const auto index = memory_->table().find(range.tree);
    if (!index) continue;
    const PageSet pages = thrashing->thrashing(*index) & memory_->table()[*index].resident & pages_of(range);
    pages.for_each([&](unsigned page) {
      if (thrashing->hint(*index, page, Processor::kHost, now) != Thrashing::Hint::kThrottle) return;
      ++memory_->counters().throttled_faults;
      end = std::max(end, thrashing->throttled_until(*index, page));
    });
  }
  return end;
}

bool HostOrders::any_on_device() const {
  const PageTable& table = memory_->table();
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const PageRange& r) {
    const auto index = table.find(r.tree);
    if (!index) return false;
    const Tree& tree = table[*index];
    const PageSet both = order_.kind == Order::Kind::kHostRead ? tree.duplicated : PageSet();
    return !((tree.resident | tree.incoming) & (pages_of(r) - both)).empty();
  });
}

/// True when the order is complete.
bool HostOrders::work(Cycle now) {
  if (order_.kind == Order::Kind::kSynchronise) {
    memory_->synchronise(now);
    return true;
  }
  for (; at_ < ranges_.size(); ++at_, opened_ = false) {
    const PageRange& range = ranges_[at_];
    if (order_.kind == Order::Kind::kAdvise) {
      memory_->advise(memory_->table().touch(range.tree), pages_of(range), order_.advice, order_.host);
      continue;
    }
    const bool done =
        order_.kind == Order::Kind::kPrefetch && !order_.host ? bring(now, range) : take_back(now, range);
    if (!done) return false;
  }
  return true;
}

bool HostOrders::bring(Cycle now, const PageRange& range) {
  const TreeIndex index = memory_->table().touch(range.tree);
  Tree& tree = memory_->table()[index];
  if (!opened_) {
    left_ = pages_of(range) - tree.leaving;
    opened_ = true;
  }
  left_ -= tree.resident;
  if (left_.empty()) return true;
  if (!(left_ & tree.incoming).empty()) return false;
  const unsigned first = left_.next(0), end = std::min<unsigned>((~left_).next(first), tree.pages);
  const auto pages = std::min<std::uint64_t>(end - first, memory_->frames());
  fetch(now, index, first, static_cast<unsigned>(pages));
  return false;
}

/// Brings the run, or makes room first.
void HostOrders::fetch(Cycle now, TreeIndex index, unsigned first, unsigned pages) {
  if (memory_->free_frames() < memory_->frames_for(index, pages)) {
    if (!evicting_ || memory_->lanes_idle()) evicting_ = memory_->evict_now(now);
    return;
  }
  evicting_ = false;
  const Run run{index, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(pages)};
  memory_->table()[index].incoming |= run.set();
  memory_->take_frames(index, pages);
  memory_->queue_read({run, false}, true);
  memory_->counters().user_prefetched_pages += pages;
}

/// True when nothing of the range is on the device or on its way to or from it any more.
bool HostOrders::take_back(Cycle now, const PageRange& range) {
  const auto index = memory_->table().find(range.tree);
  if (!index) return true;
  Tree& tree = memory_->table()[*index];
  const PageSet copied =  // the host reads: the device keeps what is read-mostly
      order_.kind == Order::Kind::kHostRead ? memory_->remote().advice.of(*index).read_mostly : PageSet();
  const auto there = [&] {
    return (tree.resident - (tree.duplicated & copied)) | tree.incoming | tree.leaving;
  };
  if (!opened_) {
    left_ = pages_of(range) & there();
    opened_ = true;
    auto& thrashing = memory_->remote().thrashing;
    const PageSet moved = (left_ & tree.resident) - copied;
    if (thrashing && is_access(order_.kind) && !moved.empty())
      thrashing->migrated(*index, moved, Processor::kHost, now);
  }
  memory_->expel(*index, left_ - copied, order_.kind == Order::Kind::kRelease, now);
  memory_->copy_to_host(*index, left_ & copied, now);
  left_ &= there();
  return left_.empty();
}

}  // namespace lockstep::uvm
