// The directory of managed pages alone: what it orders, and when.
#include "uvm/directory.hpp"

#include <catch2/catch.hpp>

namespace lockstep::uvm {
namespace {

using Kind = DirectoryRequest::Kind;
using CommandKind = DirectoryCommand::Kind;
using How = DirectoryCommand::How;
constexpr TreeId kTree = 7;

PageSet range(unsigned first, unsigned count) { return PageSet::range(first, count); }

/// Three devices of which 0 and 1 have a link, and 1 and 2.
struct Talk {
  Directory directory{{0b010, 0b101, 0b010}};

  std::vector<Directory::Output> say(std::uint16_t device, Kind kind, const PageSet& pages,
                                     std::uint32_t id = 0, const PageSet& alone = {},
                                     const PageSet& mapped = {}) {
    DirectoryRequest r;
    r.kind = kind;
    r.id = id;
    r.tree = kTree;
    r.pages = pages;
    r.alone = alone;
    r.mapped = mapped;
    directory.receive(device, r);
    const auto output = directory.output();
    directory.clear_output();
    return output;
  }
  std::vector<Directory::Output> acquire(std::uint16_t device, const PageSet& pages, std::uint32_t id) {
    return say(device, Kind::kAcquire, pages, id, pages);
  }
  /// From the host, to the end.
  void bring(std::uint16_t device, const PageSet& pages) {
    (void)acquire(device, pages, 99);
    (void)say(device, Kind::kDone, {}, 99);
  }
};

TEST_CASE("Pages begin on the host, and a page that is wanted alone is in one place") {
  Talk t;
  const auto out = t.acquire(1, range(0, 4), 5);
  REQUIRE(out.size() == 1);
  CHECK((out[0].device == 1 && !out[0].port && out[0].command.kind == CommandKind::kGrant &&
         out[0].command.id == 5));
  CHECK(out[0].command.pages == range(0, 4));
  CHECK(t.directory.acquisitions() == 1);
  CHECK(t.say(1, Kind::kDone, {}, 5).empty());
  CHECK(t.directory.idle());
  CHECK(t.directory.pages_at(kTree, 1) == range(0, 4));
  CHECK((t.directory.pages_at(kTree, kHostPlace) & range(0, 5)) == range(4, 1));
}

TEST_CASE("A migration: taken away, copied by its owner's port, told to both; others wait for the block") {
  Talk t;
  t.bring(0, range(0, 4));
  const auto revoke = t.acquire(1, range(2, 4), 8);
  REQUIRE(revoke.size() == 1);
  CHECK((revoke[0].device == 0 && revoke[0].command.kind == CommandKind::kRevoke &&
         revoke[0].command.how == How::kMove));
  CHECK(revoke[0].command.pages == range(2, 2));
  CHECK(t.acquire(2, range(9, 1), 3).empty());  // another page of the same block
  const auto copy = t.say(0, Kind::kRevoked, {}, revoke[0].command.id);
  REQUIRE(copy.size() == 2);
  CHECK((copy[0].device == 0 && copy[0].port && copy[0].command.kind == CommandKind::kCopy &&
         copy[0].command.place == 1));
  CHECK(copy[0].command.pages == range(2, 2));
  CHECK((copy[1].command.kind == CommandKind::kGrant && copy[1].command.pages == range(4, 2)));
  const auto end = t.say(0, Kind::kCopied, {}, copy[0].command.id);
  REQUIRE(end.size() == 2);
  CHECK((end[0].device == 0 && end[0].command.kind == CommandKind::kGone && end[0].command.place == 1));
  CHECK((end[1].device == 1 && end[1].command.kind == CommandKind::kArrived && end[1].command.place == 0));
  const auto next = t.say(1, Kind::kDone, {}, 8);
  REQUIRE(next.size() == 1);
  CHECK((next[0].device == 2 && next[0].command.id == 3));
  CHECK(t.directory.pages_at(kTree, 0) == range(0, 2));
  CHECK(t.directory.pages_at(kTree, 1) == range(2, 4));
}

TEST_CASE("Without a link the owner writes to the host, where the pages are found") {
  Talk t;
  t.bring(0, range(0, 2));
  const auto revoke = t.acquire(2, range(0, 2), 1);
  REQUIRE(revoke.size() == 1);
  CHECK(revoke[0].command.how == How::kToHost);
  CHECK(t.say(0, Kind::kLeft, range(0, 2), 0, range(0, 2)).empty());
  const auto grant = t.say(0, Kind::kRevoked, {}, revoke[0].command.id);
  REQUIRE(grant.size() == 1);
  CHECK((grant[0].command.kind == CommandKind::kGrant && grant[0].command.pages == range(0, 2)));
}

TEST_CASE("What was evicted while it was asked for comes from the host") {
  Talk t;
  t.bring(0, range(0, 4));
  const auto revoke = t.acquire(1, range(0, 4), 1);
  (void)t.say(0, Kind::kLeft, range(0, 3), 0, range(0, 3));
  const auto out = t.say(0, Kind::kRevoked, {}, revoke.at(0).command.id);
  REQUIRE(out.size() == 2);
  CHECK(out[0].command.pages == range(3, 1));
  CHECK(out[1].command.pages == range(0, 3));
}

TEST_CASE("Copies: readers take them from the nearest, a writer has all others dropped") {
  Talk t;
  t.bring(0, range(0, 1));
  const auto keep = t.say(1, Kind::kAcquire, range(0, 1), 1);
  REQUIRE(keep.size() == 1);
  CHECK(keep[0].command.how == How::kKeep);
  const auto copy = t.say(0, Kind::kRevoked, {}, keep[0].command.id);
  (void)t.say(0, Kind::kCopied, {}, copy.at(0).command.id);
  (void)t.say(1, Kind::kDone, {}, 1);
  CHECK(t.directory.pages_at(kTree, 0) == t.directory.pages_at(kTree, 1));
  const auto near = t.say(2, Kind::kAcquire, range(0, 1), 2);
  REQUIRE(near.size() == 1);
  CHECK((near[0].device == 1 && near[0].command.how == How::kKeep));  // device 0 has no link to 2
  const auto second = t.say(1, Kind::kRevoked, {}, near[0].command.id);
  (void)t.say(1, Kind::kCopied, {}, second.at(0).command.id);
  (void)t.say(2, Kind::kDone, {}, 2);
  const auto drop = t.say(2, Kind::kAcquire, {}, 3, range(0, 1));  // an upgrade of what it has
  REQUIRE(drop.size() == 2);
  for (const auto& o : drop) CHECK((o.command.kind == CommandKind::kRevoke && o.command.how == How::kDrop));
  for (const auto& o : drop) {
    (void)t.say(o.device, Kind::kLeft, range(0, 1));
    const auto out = t.say(o.device, Kind::kRevoked, {}, o.command.id);
    CHECK(out.size() == (o.device == drop.back().device ? 1 : 0));
  }
  CHECK(t.directory.pages_at(kTree, 2) == range(0, 1));
  CHECK((t.directory.pages_at(kTree, 0) | t.directory.pages_at(kTree, 1)).empty());
  CHECK_FALSE(t.directory.pages_at(kTree, kHostPlace).contains(0));
}

TEST_CASE("Mappings: told where the page is, and taken away before it moves; those that follow come again") {
  Talk t;
  t.bring(0, range(0, 2));
  const auto mapped = t.say(1, Kind::kFollow, {}, 0, {}, range(0, 3));
  REQUIRE(mapped.size() == 2);
  CHECK((mapped[0].command.kind == CommandKind::kMapped && mapped[0].command.place == 0));
  CHECK(mapped[0].command.pages == range(0, 2));
  CHECK((mapped[1].command.place == kHostPlace && mapped[1].command.pages == range(2, 1)));
  const auto out = t.acquire(2, range(2, 1), 4);
  REQUIRE(out.size() == 1);
  CHECK((out[0].device == 1 && out[0].command.how == How::kUnmap && out[0].command.pages == range(2, 1)));
  const auto grant = t.say(1, Kind::kRevoked, {}, out[0].command.id);
  REQUIRE(grant.size() == 1);
  const auto again = t.say(2, Kind::kDone, {}, 4);
  REQUIRE(again.size() == 1);
  CHECK((again[0].device == 1 && again[0].command.place == 2 && again[0].command.pages == range(2, 1)));
  // Evicted without a request, so the mapping is removed afterwards.
  const auto left = t.say(0, Kind::kLeft, range(0, 1), 0, range(0, 1));
  REQUIRE(left.size() == 2);
  CHECK((left[0].command.how == How::kUnmap && left[0].command.id == 0));
  CHECK((left[1].command.kind == CommandKind::kMapped && left[1].command.place == kHostPlace));
}

TEST_CASE("Pages that another device should have are brought there before they are mapped, once") {
  Talk t;
  t.bring(2, range(1, 1));
  DirectoryRequest r;
  r.kind = Kind::kAcquire;
  r.id = 6;
  r.tree = kTree;
  r.mapped = range(0, 2);
  r.prefer = 1;
  t.directory.receive(0, r);
  const auto attract = t.directory.output();
  t.directory.clear_output();
  REQUIRE(attract.size() == 1);
  CHECK((attract[0].device == 1 && attract[0].command.kind == CommandKind::kAttract));
  CHECK(attract[0].command.pages == range(0, 2));
  t.bring(1, range(0, 1));  // others are served meanwhile; one page does not come
  CHECK(t.directory.acquisitions() == 1);
  const auto out = t.say(1, Kind::kAttracted, {}, attract[0].command.id);
  REQUIRE(out.size() == 1);  // out of device 0's reach
  CHECK((out[0].device == 2 && out[0].command.how == How::kToHost && out[0].command.pages == range(1, 1)));
}

TEST_CASE("A page that is to be mapped out of reach goes to the host first") {
  Talk t;
  t.bring(0, range(0, 1));
  const auto out = t.say(2, Kind::kAcquire, {}, 1, {}, range(0, 1));
  REQUIRE(out.size() == 1);
  CHECK((out[0].device == 0 && out[0].command.how == How::kToHost));
  (void)t.say(0, Kind::kLeft, range(0, 1), 0, range(0, 1));
  const auto mapped = t.say(0, Kind::kRevoked, {}, out[0].command.id);
  REQUIRE(mapped.size() == 2);
  CHECK((mapped[1].command.kind == CommandKind::kMapped && mapped[1].command.place == kHostPlace));
}

TEST_CASE("The links of 64 devices are those of each: 33 and more are not taken for 1 and more") {
  std::vector<std::uint64_t> reach(64);
  reach[0] = std::uint64_t{1} << 40;
  reach[40] = 1;
  Directory directory(reach);
  const auto ask = [&](std::uint16_t device, const PageSet& pages) {
    DirectoryRequest r;
    r.tree = kTree;
    r.pages = r.alone = pages;
    directory.receive(device, r);
    const auto output = directory.output();
    directory.clear_output();
    return output;
  };
  for (const std::uint16_t owner : {std::uint16_t{8}, std::uint16_t{40}}) {
    (void)ask(owner, range(owner, 1));
    DirectoryRequest done;
    done.kind = Kind::kDone;
    done.tree = kTree;
    directory.receive(owner, done);
  }
  const auto out = ask(0, range(0, 64));
  REQUIRE(out.size() == 2);
  CHECK((out[0].device == 8 && out[0].command.how == How::kToHost));
  CHECK((out[1].device == 40 && out[1].command.how == How::kMove));
}

}  // namespace
}  // namespace lockstep::uvm
