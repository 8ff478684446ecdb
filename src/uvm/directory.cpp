#include "uvm/directory.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::uvm {

using Kind = DirectoryRequest::Kind;
using CommandKind = DirectoryCommand::Kind;

Directory::Directory(std::vector<std::uint64_t> reach) : reach_(std::move(reach)) {}

Directory::Block& Directory::block(TreeId tree) {
  Block& found = blocks_[tree];
  if (!found.held.empty()) return found;
  found.tree = tree;
  found.held.resize(reach_.size());
  found.mapped.resize(reach_.size());
  found.followed.resize(reach_.size());
  return found;
}

PageSet Directory::pages_at(TreeId tree, std::uint16_t place) const {
  const auto found = blocks_.find(tree);
  if (found == blocks_.end()) return place == kHostPlace ? ~PageSet() : PageSet();
  return place == kHostPlace ? found->second.host : found->second.held[place];
}

void Directory::receive(std::uint16_t device, const DirectoryRequest& request) {
  Block& of = block(request.tree);
  switch (request.kind) {
    case Kind::kAcquire:
      ++acquisitions_;
      of.waiting.push_back({device, request});
      if (!of.busy) serve(of);
      return;
    case Kind::kDone:
      return finish(of);
    case Kind::kRevoked:
      if (std::erase(of.owed, request.id) > 0 && of.owed.empty()) hand_over(of);
      return;
    case Kind::kLeft:
      return left(of, device, request);
    case Kind::kAttracted:
      return unpark(of, request.id);
    case Kind::kBacked:
      of.host |= request.pages & of.held[device];
      return;
    case Kind::kFollow:
      of.followed[device] = request.mapped;
      if (!of.busy) follow(of);
      return;
    case Kind::kCopied:
      return copied(of, device, request);
  }
}

/// The first of those that wait.
void Directory::serve(Block& block) {
  block.now = block.waiting.front();
  block.waiting.pop_front();
  if (attract(block)) return;
  block.busy = true;
  block.owed.clear();
  block.sources.clear();
  revoke_for_pages(block);
  revoke_for_mappings(block);
  if (block.owed.empty()) hand_over(block);
}

/// True: it waits for another device to bring what it is to map; the next one is served.
bool Directory::attract(Block& block) {
  const DirectoryRequest& request = block.now.request;
  if (request.prefer == kHostPlace || block.now.attracted > 0) return false;
  const PageSet absent = request.mapped - block.held[request.prefer];
  if (absent.empty()) return false;
  block.now.attracted = next_id_++;
  send(request.prefer,
       {CommandKind::kAttract, How::kDrop, kHostPlace, block.now.attracted, block.tree, 0, absent});
  block.parked.push_back(block.now);
  block.busy = false;
  if (!block.waiting.empty()) serve(block);
  return true;
}

void Directory::unpark(Block& block, std::uint32_t id) {
  const auto found = std::ranges::find(block.parked, id, &Acquisition::attracted);
  if (found == block.parked.end()) return;
  block.waiting.push_back(*found);
  block.parked.erase(found);
  if (!block.busy) serve(block);
}

void Directory::revoke(Block& block, std::uint16_t device, How how, const PageSet& pages) {
  if (pages.empty()) return;
  const DirectoryRequest& request = block.now.request;
  const std::uint32_t id = next_id_++;
  if (how == How::kMove || how == How::kKeep) block.sources.push_back({device, how == How::kKeep, id, pages});
  block.owed.push_back(id);
  send(device, {CommandKind::kRevoke, how, block.now.device, id, request.tree, request.base, pages});
}

/// A read-only page that the device wanted to write and has lost since it asked is no concern of this
/// request: others may have written it. The device will ask for it when it is accessed again.
PageSet Directory::wanted_alone(const Block& block) {
  const DirectoryRequest& request = block.now.request;
  return request.alone & (request.pages | block.held[block.now.device]);
}

/// The source of each page is the nearest holder; the other holders of what is wanted alone drop it.
void Directory::revoke_for_pages(Block& block) {
  const DirectoryRequest& request = block.now.request;
  const std::uint16_t asker = block.now.device;
  const PageSet alone_here = wanted_alone(block);
  PageSet need = request.pages;
  std::vector<PageSet> sources(reach_.size());
  for (const bool linked : {true, false}) {
    if (!linked) need -= block.host;
    for (std::uint16_t d = 0; d < reach_.size(); ++d) {
      if (d == asker || near(asker, d) != linked) continue;
      sources[d] = block.held[d] & need;
      need -= sources[d];
    }
  }
  for (std::uint16_t d = 0; d < reach_.size(); ++d) {
    if (d == asker) continue;
    const PageSet alone = sources[d] & alone_here, shared = sources[d] - alone_here;
    revoke(block, d, near(asker, d) ? How::kMove : How::kToHost, alone);
    revoke(block, d, near(asker, d) ? How::kKeep : How::kBack, shared);
    revoke(block, d, How::kDrop, (block.held[d] & alone_here) - sources[d]);
  }
}

/// Mappings of pages that move, and pages that are to be mapped where the device cannot reach them.
void Directory::revoke_for_mappings(Block& block) {
  const DirectoryRequest& request = block.now.request;
  const std::uint16_t asker = block.now.device;
  PageSet far = request.mapped - block.host - block.held[asker];
  for (std::uint16_t d = 0; d < reach_.size(); ++d)
    if (near(asker, d)) far -= block.held[d];
  for (std::uint16_t d = 0; d < reach_.size(); ++d)
    if (d != asker) revoke(block, d, How::kToHost, block.held[d] & far);
  const PageSet moving = wanted_alone(block) | far;
  for (std::uint16_t d = 0; d < reach_.size(); ++d) {
    if (d == asker) continue;
    revoke(block, d, How::kUnmap, block.mapped[d] & moving);
    block.mapped[d] -= moving;
  }
}

PageSet Directory::held_elsewhere(const Block& block, std::size_t but) {
  PageSet held;
  for (std::size_t d = 0; d < block.held.size(); ++d)
    if (d != but) held |= block.held[d];
  return held;
}

/// No other device uses the pages that move. Those that a source has evicted meanwhile are on the host.
void Directory::hand_over(Block& block) {
  const DirectoryRequest& request = block.now.request;
  const std::uint16_t asker = block.now.device;
  PageSet from_host = request.pages;
  for (Source& source : block.sources) {
    source.pages &= block.held[source.device];
    from_host -= source.pages;
    if (!source.pages.empty()) copy(block, source);
    if (!source.keep) block.held[source.device] -= source.pages;
  }
  send(asker,
       {CommandKind::kGrant, How::kDrop, kHostPlace, request.id, request.tree, request.base, from_host});
  block.held[asker] |= request.pages;
  block.mapped[asker] -= request.pages;
  block.host -= request.alone & block.held[asker];
  map(block, asker, request.mapped, request.id);
}

void Directory::copy(Block& block, Source& source) {
  const DirectoryRequest& request = block.now.request;
  send(source.device,
       {CommandKind::kCopy, source.keep ? How::kKeep : How::kMove, block.now.device, source.id, request.tree,
        request.base, source.pages},
       true);
}

/// Where the pages are, if the device can reach them; those that it has itself are left out.
void Directory::map(Block& block, std::uint16_t device, const PageSet& wanted, std::uint32_t id) {
  PageSet rest = wanted - block.held[device];
  const auto say = [&](std::uint16_t place, const PageSet& pages) {
    if (pages.empty()) return;
    rest -= pages;
    block.mapped[device] |= pages;
    send(device, {CommandKind::kMapped, How::kDrop, place, id, block.tree, 0, pages});
  };
  for (std::uint16_t d = 0; d < reach_.size(); ++d)
    if (d != device && near(device, d)) say(d, block.held[d] & rest);
  say(kHostPlace, block.host & rest);
}

void Directory::copied(Block& block, std::uint16_t device, const DirectoryRequest& request) {
  const auto source = std::ranges::find(block.sources, request.id, &Source::id);
  if (source == block.sources.end()) return;
  const DirectoryRequest& asked = block.now.request;
  send(device, {CommandKind::kGone, source->keep ? How::kKeep : How::kMove, block.now.device, source->id,
                asked.tree, 0, source->pages});
  send(block.now.device, {CommandKind::kArrived, How::kDrop, device, asked.id, asked.tree, 0, source->pages});
}

void Directory::left(Block& block, std::uint16_t device, const DirectoryRequest& request) {
  const PageSet gone = request.pages & block.held[device];
  block.held[device] -= gone;
  block.host |= request.alone & gone;
  block.host |= gone - held_elsewhere(block, device);
  for (std::uint16_t d = 0; d < reach_.size(); ++d) {
    const PageSet lost = d == device ? PageSet() : block.mapped[d] & gone;
    if (lost.empty()) continue;
    block.mapped[d] -= lost;
    send(d, {CommandKind::kRevoke, How::kUnmap, kHostPlace, 0, request.tree, 0, lost});
  }
  if (!block.busy) follow(block);
}

/// Pages that a device wants to map wherever they are, and has not.
void Directory::follow(Block& block) {
  for (std::uint16_t d = 0; d < reach_.size(); ++d)
    if (const PageSet wanted = block.followed[d] - block.mapped[d]; !wanted.empty()) map(block, d, wanted, 0);
}

void Directory::finish(Block& block) {
  block.busy = false;
  --acquisitions_;
  if (!block.waiting.empty()) return serve(block);
  follow(block);
}

}  // namespace lockstep::uvm
