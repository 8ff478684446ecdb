// The GMMU's part in pages that stay on the host.
#include "uvm/gmmu.hpp"

namespace lockstep::uvm {

void Gmmu::remote_request(std::uint32_t source, std::uint64_t token, Place place, std::uint16_t bytes,
                          bool write, bool returns_data) {
  const TreeIndex tree = memory_.table().touch(place.tree);
  memory_.remote().count_access(tree, place.page, true);
  Access access{source, token, tree, static_cast<std::uint16_t>(place.page), write, 0};
  access.remote = true;
  access.returns_data = returns_data;
  access.bytes = bytes;
  remote_arrivals_.push_back(access);
  again_ = true;
}

/// Whether the access leaves its absent page on the host. The driver decides on advice and thrashing in its
/// service, once a mapping is asked for; what it has mapped stays as long as the reason lasts.
bool Gmmu::remains(const Access& access, Cycle now) const {
  const bool mapped = memory_.table()[access.tree].remote.contains(access.page);
  if ((!driver_ || mapped) && memory_.remote().kept(access.tree, access.page, access.write, now)) return true;
  return memory_.too_early(access.tree, access.page, access.write);
}

/// Accesses that their SMs sent for the link, in the order of their arrival.
void Gmmu::serve_remote(Cycle now) {
  for (const Access& access : remote_arrivals_) {
    const Tree& tree = memory_.table()[access.tree];
    const bool absent = !(tree.resident | tree.incoming | tree.leaving).contains(access.page);
    if (absent && tree.remote.contains(access.page) && remains(access, now)) {
      cross_link(now, access);
    } else if (absent && driver_ && memory_.remote().counts_only_remote() &&
               tree.remote.contains(access.page)) {
      driver_->notify(access.tree, access.page / kPagesPerLeaf, now);  // moves later; this access crosses
      memory_.remote().counters.clear(access.tree, access.page / kPagesPerLeaf);
      cross_link(now, access);
    } else {
      if (absent) memory_.unmap_remote(access.tree, PageSet::range(access.page, 1));
      Access again = access;
      again.asked_at = now;
      walks_.add(now, again);
    }
  }
  remote_arrivals_.clear();
}

void Gmmu::cross_link(Cycle now, const Access& access) {
  ++(access.returns_data ? totals_.remote_reads : totals_.remote_writes);
  port_.add(now, {access.source, access.token, access.bytes, access.write, access.returns_data});
}

/// The end of a walk on a page that stays on the host.
void Gmmu::let_stay(Cycle now, const Access& access) {
  memory_.log().fault_times.dropped(access.tree, access.page);
  if (memory_.parameters().remote_path == RemotePath::kSlot) {
    ++(access.write ? totals_.remote_writes : totals_.remote_reads);
    in_slots_.push_back(access);
    return memory_.arrivals().queue_slot();
  }
  memory_.table()[access.tree].remote.insert(access.page);
  if (access.remote) return cross_link(now, access);
  replies_.push_back({access.source, access.token, Granule::kPage, AccessReply::Kind::kRemote, false});
}

/// It goes there without the GMMU from now on.
void Gmmu::let_stay_on_peer(const Access& access) {
  memory_.log().fault_times.dropped(access.tree, access.page);
  replies_.push_back({access.source, access.token, Granule::kPage, AccessReply::Kind::kRemote, false,
                      memory_.directory()->device_of(access.tree, access.page)});
}

/// The command for the last run completes for all.
void Gmmu::attract(const DirectoryCommand& command) {
  const Address base = memory_.table()[memory_.table().touch(command.tree)].base;
  ManagedCommand part;
  part.kind = ManagedCommand::Kind::kAttract;
  command.pages.for_each_run([&](unsigned first, unsigned pages) {
    part.address = base + std::uint64_t{first} * kPageBytes;
    part.bytes = std::uint64_t{pages} * kPageBytes;
    const bool last = command.pages.next(first + pages) == kPagesPerTree;
    part.index = last ? command.id : 0;
    this->submit(part);
  });
}

void Gmmu::finish_remote(Cycle now) {
  for (std::uint32_t slots = memory_.arrivals().take_slots_done(); slots > 0; --slots) {
    reply(now, in_slots_.front());
    in_slots_.pop_front();
  }
  RemoteAccess done;
  while (port_.pop(now, done))
    replies_.push_back({done.source, done.token, Granule::kPage, AccessReply::Kind::kDone, false});
}

}  // namespace lockstep::uvm
