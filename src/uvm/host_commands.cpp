#include "uvm/host_commands.hpp"

#include <algorithm>

namespace lockstep::uvm {
namespace {

bool is_access(ManagedCommand::Kind kind) {
  return kind == ManagedCommand::Kind::kHostRead || kind == ManagedCommand::Kind::kHostWrite;
}

}  // namespace

void HostCommands::step(Cycle now) {
  now_ = now;
  for (;;) {
    if (!busy_) {
      if (waiting_.empty()) return;
      begin(now);
    }
    if (due_ > now || !work(now)) return;
    busy_ = false;
    complete();
  }
}

void HostCommands::complete() {
  if (command_.kind != ManagedCommand::Kind::kAttract) return completed_.push_back(command_.index);
  if (command_.index > 0) memory_->directory()->attracted(ranges_.front().tree, command_.index);
}

void HostCommands::begin(Cycle now) {
  command_ = waiting_.front();
  waiting_.pop_front();
  busy_ = true;
  opened_ = evicting_ = false;
  at_ = 0;
  due_ = now;
  ranges_ = pages_in(memory_->table().space(), command_.address, command_.bytes);
  const Parameters& p = memory_->parameters();
  if (command_.kind == ManagedCommand::Kind::kAdvise && !command_.further)
    due_ = now + memory_->cycles_of_ns(p.advise_ns);
  if (command_.kind == ManagedCommand::Kind::kPrefetch && !command_.further)
    due_ = now + memory_->cycles_of_ns(p.prefetch_ns);
  if (command_.kind == ManagedCommand::Kind::kSynchronise) due_ = now + memory_->synchronise_cycles();
  if (!is_access(command_.kind)) return;
  due_ = now + access_remotely();
  if (!any_on_device()) return;
  ++memory_->log().counters.host_faults;
  due_ = std::max(due_, nap_end(now)) + memory_->cycles_of_ns(memory_->parameters().host_fault_ns);
}

/// Those pages of the tree that the host reads and writes where they are.
PageSet HostCommands::kept_on_device(TreeIndex index) const {
  switch (memory_->parameters().host_access) {
    case HostAccess::kMigrate:
      return {};
    case HostAccess::kAdvised: {
      const AdvisedPages& advised = memory_->remote().advice.of(index);
      return advised.accessed_by_host | advised.prefer_device;
    }
    case HostAccess::kRemote:
      break;
  }
  return memory_->table()[index].all();
}

/// The host's own packets to pages that stay on the device; the time that they take.
Cycle HostCommands::access_remotely() {
  constexpr std::uint64_t kLine = 64;  // of the host's caches
  const bool write = command_.kind == ManagedCommand::Kind::kHostWrite;
  std::uint64_t pages = 0;
  for (const PageRange& range : ranges_) {
    const auto index = memory_->table().find(range.tree);
    if (!index) continue;
    Tree& tree = memory_->table()[*index];
    const PageSet both = write ? PageSet() : tree.duplicated - tree.unbacked;
    const PageSet there = kept_on_device(*index) & (tree.resident | tree.incoming) & (pages_of(range) - both);
    pages += there.count();
    if (write) tree.dirty |= there & tree.resident;
  }
  if (pages == 0) return 0;
  const RemotePortSettings port = memory_->port_settings();
  const std::uint64_t packets = pages * (kPageBytes / kLine);
  const std::uint64_t with_data = packets * (kLine + port.header_bytes),
                      without = packets * port.header_bytes;
  Counters& c = memory_->log().counters;
  c.host_remote_pages += pages;
  c.host_remote_bytes += with_data + (write ? 0 : without);
  const auto wire = [&](Direction d, std::uint64_t bytes) {
    const Cycle cycles = (bytes * port.tree_cycles[static_cast<unsigned>(d)] + kTreeBytes - 1) / kTreeBytes;
    memory_->delay(d, cycles);
    return cycles;
  };
  if (write) return wire(Direction::kToDevice, with_data);  // the stores are posted
  return std::max(wire(Direction::kToDevice, without), wire(Direction::kToHost, with_data)) + port.latency;
}

/// How long the device may keep pages of the order that thrash.
Cycle HostCommands::nap_end(Cycle now) {
  Cycle end = now;
  auto& thrashing = memory_->remote().thrashing;
  if (!thrashing) return end;
  for (const PageRange& range : ranges_) {
    const auto index = memory_->table().find(range.tree);
    if (!index) continue;
    const PageSet pages = thrashing->thrashing(*index) & memory_->table()[*index].resident & pages_of(range);
    pages.for_each([&](unsigned page) {
      if (thrashing->hint(*index, page, Processor::kHost, now) != Thrashing::Hint::kThrottle) return;
      ++memory_->log().counters.throttled_faults;
      end = std::max(end, thrashing->throttled_until(*index, page));
    });
  }
  return end;
}

bool HostCommands::any_on_device() const {
  const PageTable& table = memory_->table();
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const PageRange& r) {
    const auto index = table.find(r.tree);
    if (!index) return false;
    const Tree& tree = table[*index];
    const PageSet both =
        command_.kind == ManagedCommand::Kind::kHostRead ? tree.duplicated - tree.unbacked : PageSet();
    const PageSet moving = pages_of(r) - both - kept_on_device(*index);
    return !((tree.resident | tree.incoming) & moving).empty();
  });
}

/// True when the order is complete.
bool HostCommands::work(Cycle now) {
  if (command_.kind == ManagedCommand::Kind::kSynchronise) {
    memory_->synchronise(now);
    return true;
  }
  for (; at_ < ranges_.size(); ++at_, opened_ = false) {
    const PageRange& range = ranges_[at_];
    if (command_.kind == ManagedCommand::Kind::kAdvise) {
      memory_->advise(memory_->table().touch(range.tree), pages_of(range), command_.advice,
                      command_.host    ? Named::kHost
                      : command_.other ? Named::kOther
                                       : Named::kDevice,
                      command_.place);
      continue;
    }
    const bool brings = is_device_access() || command_.kind == ManagedCommand::Kind::kAttract ||
                        (command_.kind == ManagedCommand::Kind::kPrefetch && !command_.host);
    if (!(brings ? bring(now, range) : take_back(now, range))) return false;
  }
  return true;
}

bool HostCommands::bring(Cycle now, const PageRange& range) {
  const TreeIndex index = memory_->table().touch(range.tree);
  Tree& tree = memory_->table()[index];
  if (!opened_) {
    if (is_device_access() && !open_device_access(now, index, range)) return false;
    if (!is_device_access()) left_ = pages_of(range) - tree.leaving;
    opened_ = true;
  }
  if (due_ > now) return false;
  left_ -= tree.resident | tree.leaving;  // leaving: has come, and was evicted at once
  if (left_.empty()) return !is_device_access() || touch(range);
  if (!(left_ & tree.incoming).empty()) return false;
  const unsigned first = left_.next(0), end = std::min<unsigned>((~left_).next(first), tree.pages);
  const auto pages = std::min<std::uint64_t>(end - first, memory_->frames().all());
  fetch(now, index, first, static_cast<unsigned>(pages));
  return false;
}

bool HostCommands::is_device_access() const {
  return command_.kind == ManagedCommand::Kind::kDeviceRead ||
         command_.kind == ManagedCommand::Kind::kDeviceWrite;
}

/// What is to come, and when the driver is through with the fault. False: pages are leaving.
bool HostCommands::open_device_access(Cycle now, TreeIndex index, const PageRange& range) {
  const Tree& tree = memory_->table()[index];
  const bool write = command_.kind == ManagedCommand::Kind::kDeviceWrite;
  if (!(tree.leaving & pages_of(range)).empty()) return false;
  RemoteControl& remote = memory_->remote();
  PageSet missing = pages_of(range) - tree.resident;
  const PageSet absent = missing;
  absent.for_each([&](unsigned page) {
    if (remote.kept(index, page, write, now)) missing.erase(page);
  });
  left_ = missing;
  if (write && memory_->directory()) make_alone(index, range);
  if (missing.empty()) return true;
  if (remote.thrashing) remote.thrashing->migrated(index, missing, Processor::kDevice, now);
  const Parameters& p = memory_->parameters();
  if (p.fault_mode != FaultMode::kDriver) return true;
  const std::uint64_t kib = missing.count() * (kPageBytes / 1024);
  due_ = now + memory_->cycles_of_ns(std::uint64_t{p.interrupt_ns} + p.batch_ns + p.block_ns +
                                     kib * p.kib_ps / 1000);
  return true;
}

/// Other devices' copies of what is here go.
void HostCommands::make_alone(TreeIndex index, const PageRange& range) {
  const PageSet copies = memory_->table()[index].duplicated & pages_of(range);
  if (!copies.empty()) memory_->bring(index, {}, copies);
}

/// The device has used what is there of the range.
bool HostCommands::touch(const PageRange& range) {
  const TreeIndex index = *memory_->table().find(range.tree);
  const bool write = command_.kind == ManagedCommand::Kind::kDeviceWrite;
  const PageSet there = memory_->table()[index].resident & pages_of(range);
  there.for_each([&](unsigned page) {
    if (write && memory_->table()[index].duplicated.contains(page)) memory_->collapse(index, page);
    memory_->accessed(index, page, write);
  });
  return true;
}

/// Evicts for that many pages, and returns how many may come now. Where an eviction has not left more frames
/// free than there were before, faults take them: then the pages come in parts.
unsigned HostCommands::make_room(Cycle now, TreeIndex index, unsigned pages) {
  const Frames& frames = memory_->frames();
  if (frames.needed(index, pages) <= frames.free()) return pages;
  if (evicting_ && !memory_->lanes_idle()) return 0;
  const auto some = static_cast<unsigned>(std::min<std::uint64_t>(pages, frames.free()));
  if (evicting_ && frames.free() <= free_before_ && some > 0 && frames.needed(index, some) <= some)
    return some;
  free_before_ = frames.free();
  evicting_ = memory_->evictions().evict_now(now);
  return 0;
}

/// Brings the run, or the first part of it, or makes room first.
void HostCommands::fetch(Cycle now, TreeIndex index, unsigned first, unsigned pages) {
  pages = make_room(now, index, pages);
  if (pages == 0) return;
  evicting_ = false;
  const Run run{index, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(pages)};
  memory_->table()[index].incoming |= run.set();
  if (is_device_access()) memory_->table()[index].wanted |= run.set();
  if (command_.kind == ManagedCommand::Kind::kDeviceWrite && memory_->directory())
    memory_->table()[index].wanted_to_write |= run.set();
  memory_->frames().take(index, pages);
  memory_->bring(index, {{run, is_device_access()}});
  Counters& c = memory_->log().counters;
  (is_device_access() ? c.device_accessed_pages : c.user_prefetched_pages) += pages;
}

/// True when nothing of the range is on the device or on its way to or from it any more.
bool HostCommands::take_back(Cycle now, const PageRange& range) {
  const auto index = memory_->table().find(range.tree);
  if (!index) return true;
  Tree& tree = memory_->table()[*index];
  const PageSet copied =  // the host reads: the device keeps what is read-mostly
      command_.kind == ManagedCommand::Kind::kHostRead ? memory_->remote().advice.of(*index).read_mostly
                                                       : PageSet();
  const auto there = [&] {
    return (tree.resident - ((tree.duplicated - tree.unbacked) & copied)) | tree.incoming | tree.leaving;
  };
  if (!opened_) {
    left_ = pages_of(range) & there();
    if (is_access(command_.kind)) left_ -= kept_on_device(*index);
    opened_ = true;
    auto& thrashing = memory_->remote().thrashing;
    const PageSet moved = (left_ & tree.resident) - copied;
    if (thrashing && is_access(command_.kind) && !moved.empty())
      thrashing->migrated(*index, moved, Processor::kHost, now);
  }
  memory_->departures().expel(*index, left_ - copied, command_.kind == ManagedCommand::Kind::kRelease, now);
  memory_->departures().copy_to_host(*index, left_ & copied, now);
  left_ &= there();
  return left_.empty();
}

}  // namespace lockstep::uvm
