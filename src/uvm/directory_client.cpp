#include "uvm/directory_client.hpp"

#include <algorithm>

#include "uvm/device_memory.hpp"

namespace lockstep::uvm {

using Kind = DirectoryRequest::Kind;

DirectoryRequest DirectoryClient::request(Kind kind, TreeIndex tree, std::uint32_t id) const {
  DirectoryRequest r;
  r.kind = kind;
  r.id = id;
  r.tree = memory_->table()[tree].id;
  r.base = memory_->table()[tree].base;
  return r;
}

// --- What the device wants ---

/// Reads of read-mostly pages leave others their copies.
PageSet DirectoryClient::shared_of(TreeIndex tree, const PageSet& pages) const {
  const PageSet read_mostly = memory_->remote().advice.of(tree).read_mostly;
  return (read_mostly & pages) - memory_->table()[tree].wanted_to_write;
}

void DirectoryClient::acquire(TreeIndex tree, const std::vector<Transfer>& transfers, const PageSet& upgraded,
                              const PageSet& mapped) {
  PageSet anywhere = mapped;
  const std::vector<PageSet>& preferred = memory_->remote().advice.of(tree).preferred_by;
  for (std::uint16_t d = 0; d < preferred.size(); ++d) {
    ask_to_map(tree, preferred[d] & mapped, d);
    anywhere -= preferred[d];
  }
  if (transfers.empty() && upgraded.empty()) return ask_to_map(tree, anywhere, kHostPlace);
  Acquisition& a = acquisitions_.emplace_back();
  a.id = next_id_++;
  a.tree = tree;
  a.transfers = transfers;
  a.upgraded = upgraded;
  a.for_faults = !upgraded.empty() || std::ranges::any_of(transfers, &Transfer::faulted);
  for (const Transfer& t : transfers) a.missing |= t.run.set();
  const PageSet shared = shared_of(tree, a.missing);
  memory_->table()[tree].shared |= shared;
  DirectoryRequest r = request(Kind::kAcquire, tree, a.id);
  r.pages = a.missing;
  r.alone = (a.missing - shared) | upgraded;
  r.mapped = anywhere;
  requests_.push_back(r);
}

void DirectoryClient::ask_to_map(TreeIndex tree, const PageSet& pages, std::uint16_t prefer) {
  if (pages.empty()) return;
  Acquisition& a = acquisitions_.emplace_back();
  a.id = next_id_++;
  a.tree = tree;
  DirectoryRequest r = request(Kind::kAcquire, tree, a.id);
  r.mapped = pages;
  r.prefer = prefer;
  requests_.push_back(r);
}

void DirectoryClient::follow(TreeIndex tree, const PageSet& pages) {
  DirectoryRequest r = request(Kind::kFollow, tree, 0);
  r.mapped = pages;
  requests_.push_back(r);
}

void DirectoryClient::receive(const DirectoryCommand& command, Cycle now) {
  const TreeIndex tree = memory_->table().touch(command.tree);
  switch (command.kind) {
    case DirectoryCommand::Kind::kGrant: {
      const auto a = std::ranges::find(acquisitions_, command.id, &Acquisition::id);
      if (a != acquisitions_.end()) granted(*a, command, now);
      return finish_if_complete(command.id, now);
    }
    case DirectoryCommand::Kind::kArrived:
      return came(command, now);
    case DirectoryCommand::Kind::kMapped:
      return mapped(tree, command);
    case DirectoryCommand::Kind::kRevoke:
      revocations_.push_back({command, tree, {}, {}, false, false, due(command, tree, now)});
      return;
    case DirectoryCommand::Kind::kGone:
      return gone(command);
    case DirectoryCommand::Kind::kAttract:
    case DirectoryCommand::Kind::kCopy:
      return;  // the GMMU's and the peer port's
  }
}

void DirectoryClient::granted(Acquisition& a, const DirectoryCommand& command, Cycle now) {
  a.granted = true;
  memory_->unmap_remote(a.tree, a.missing);
  a.upgraded.for_each([&](unsigned page) { memory_->collapse(a.tree, page); });
  for (const Transfer& t : a.transfers) {
    (t.run.set() & command.pages).for_each_run([&](unsigned first, unsigned pages) {
      const Run run{a.tree, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(pages)};
      memory_->queue_read({run, t.faulted}, true);
    });
    (t.run.set() - command.pages).for_each_run([&](unsigned first, unsigned pages) {
      const Run run{a.tree, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(pages)};
      memory_->log().fault_times.started(run, now);
    });
  }
}

/// From another device.
void DirectoryClient::came(const DirectoryCommand& command, Cycle now) {
  const auto a = std::ranges::find(acquisitions_, command.id, &Acquisition::id);
  if (a == acquisitions_.end()) return;
  const TreeIndex tree = a->tree;
  PeerPages& from = peers_[command.place];
  const std::uint64_t copies = (memory_->table()[tree].shared & command.pages).count();
  from.copies_in += copies;
  from.in += command.pages.count() - copies;
  command.pages.for_each_run([&](unsigned first, unsigned pages) {
    memory_->arrivals().arrive({tree, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(pages)},
                               now);
  });
  arrived(tree, command.pages, now);
}

void DirectoryClient::arrived(TreeIndex tree, const PageSet& pages, Cycle now) {
  std::vector<std::uint32_t> touched;
  for (Acquisition& a : acquisitions_) {
    if (a.tree != tree || (a.missing & pages).empty()) continue;
    a.missing -= pages;
    touched.push_back(a.id);
  }
  for (const std::uint32_t id : touched) finish_if_complete(id, now);
}

void DirectoryClient::finish_if_complete(std::uint32_t id, Cycle now) {
  const auto a = std::ranges::find(acquisitions_, id, &Acquisition::id);
  if (a == acquisitions_.end() || !a->granted || !a->missing.empty()) return;
  requests_.push_back(request(Kind::kDone, a->tree, id));
  if (a->for_faults) served_[a->tree] = now;
  acquisitions_.erase(a);
}

// --- Pages that are accessed where they are ---

void DirectoryClient::mapped(TreeIndex index, const DirectoryCommand& command) {
  Tree& tree = memory_->table()[index];
  const PageSet pages = command.pages - tree.resident - tree.incoming;
  if (command.place == kHostPlace) {
    tree.remote |= pages;
    return;
  }
  std::vector<PageSet>& places = places_[index];
  places.resize(peers_.size());
  for (PageSet& place : places) place -= pages;
  places[command.place] |= pages;
  tree.on_peer |= pages;
}

std::uint16_t DirectoryClient::device_of(TreeIndex tree, unsigned page) const {
  const std::vector<PageSet>& places = places_.at(tree);
  const auto found = std::ranges::find_if(places, [&](const PageSet& p) { return p.contains(page); });
  return static_cast<std::uint16_t>(found - places.begin());
}

// --- What is taken away ---

void DirectoryClient::step(Cycle now) {
  for (Revocation& r : revocations_) {
    if (r.replied || r.due > now) continue;
    take(r, now);
    r.taken = true;
    if (!is_done(r)) continue;
    r.replied = true;
    requests_.push_back(request(Kind::kRevoked, r.tree, r.command.id));
  }
  std::erase_if(revocations_, [](const Revocation& r) { return r.replied && r.still.empty(); });
}

Cycle DirectoryClient::due(const DirectoryCommand& command, TreeIndex tree, Cycle now) const {
  const auto served = command.how == How::kUnmap ? served_.end() : served_.find(tree);
  if (served == served_.end()) return now;
  return std::max(now, served->second + memory_->cycles_of_ns(memory_->parameters().block_ns));
}

Cycle DirectoryClient::next() const {
  Cycle next = kNever;
  for (const Revocation& r : revocations_)
    if (!r.replied && !r.taken) next = std::min(next, r.due);
  return next;
}

/// What of the pages is here and not on its way out.
void DirectoryClient::take(Revocation& r, Cycle now) {
  const Tree& tree = memory_->table()[r.tree];
  const PageSet here = (tree.resident - tree.leaving) & r.command.pages;
  switch (r.command.how) {
    case How::kDrop:
    case How::kToHost:
      return memory_->departures().expel(r.tree, here, r.command.how == How::kDrop, now);
    case How::kBack:
      return memory_->departures().copy_to_host(r.tree, here, now);
    case How::kUnmap:
      return memory_->unmap_remote(r.tree, r.command.pages);
    case How::kMove:
    case How::kKeep: {
      const bool keep = r.command.how == How::kKeep;
      const PageSet moving = keep ? here - tree.duplicated : here;
      r.moving |= moving;
      return memory_->departures().hand_over(r.tree, moving, keep, now);
    }
  }
}

bool DirectoryClient::is_done(const Revocation& r) const {
  const Tree& tree = memory_->table()[r.tree];
  if (r.command.how == How::kUnmap) return true;
  return r.moving.empty() && ((tree.leaving - r.still) & r.command.pages).empty();
}

void DirectoryClient::stands_still(const Run& run) {
  for (Revocation& r : revocations_) {
    if (r.tree != run.tree) continue;
    const PageSet pages = r.moving & run.set();
    r.moving -= pages;
    r.still |= pages;
  }
}

/// Copied to another device.
void DirectoryClient::gone(const DirectoryCommand& command) {
  const auto r =
      std::ranges::find_if(revocations_, [&](const Revocation& o) { return o.command.id == command.id; });
  const bool keep = command.how == How::kKeep;
  PeerPages& to = peers_[command.place];
  (keep ? to.copies_out : to.out) += command.pages.count();
  if (r == revocations_.end()) return;  // they were read-only copies already
  (r->still & command.pages).for_each_run([&](unsigned first, unsigned pages) {
    memory_->departures().handed_over(
        {r->tree, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(pages)}, keep);
  });
  r->still -= command.pages;
  std::erase_if(revocations_, [](const Revocation& o) { return o.replied && o.still.empty(); });
}

// --- What leaves by itself ---

void DirectoryClient::left(TreeIndex tree, const PageSet& pages, bool copied) {
  DirectoryRequest r = request(Kind::kLeft, tree, 0);
  r.pages = pages;
  if (copied) r.alone = pages;
  requests_.push_back(r);
}

void DirectoryClient::attracted(TreeId tree, std::uint32_t id) {
  DirectoryRequest r;
  r.kind = Kind::kAttracted;
  r.id = id;
  r.tree = tree;
  requests_.push_back(r);
}

void DirectoryClient::backed(TreeIndex tree, const PageSet& pages) {
  DirectoryRequest r = request(Kind::kBacked, tree, 0);
  r.pages = pages;
  requests_.push_back(r);
}

}  // namespace lockstep::uvm
