// Copies to other devices' memory, line by line: against loops over bytes.
#include "core/peer_copies.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

namespace lockstep::core {
namespace {

constexpr Address kFrom = 0x7f0000000000, kTo = 0x6f0000000000;

icnt::CopyCommand peer_command(std::uint32_t index, Address offset, std::uint64_t bytes) {
  icnt::CopyCommand c;
  c.index = index;
  c.path = icnt::CopyCommand::Path::kPeer;
  c.source = kFrom + offset;
  c.address = kTo + offset;
  c.bytes = bytes;
  return c;
}

/// All lines that may be read now.
std::vector<PeerCopies::Line> take_lines(PeerCopies& copies) {
  std::vector<PeerCopies::Line> lines;
  while (copies.has_line()) lines.push_back(*copies.next_line());
  CHECK_FALSE(copies.next_line());
  return lines;
}

TEST_CASE(
    "a peer copy reads the sectors of its bytes, each once, and writes them at the same place of a line") {
  for (const Address offset : {0u, 4u, 96u, 127u})
    for (const std::uint64_t bytes : {1u, 31u, 32u, 33u, 128u, 129u, 1000u}) {
      PeerCopies copies(2, 1000);
      copies.add(peer_command(0, offset, bytes), 1, 0);
      std::map<Address, unsigned> sectors, expected;
      Address before = 0;
      for (const PeerCopies::Line& line : take_lines(copies)) {
        CHECK(line.to == 1);
        CHECK_FALSE(line.leaves);
        CHECK(line.source % kLineBytes == 0);
        CHECK(line.destination - kTo == line.source - kFrom);
        CHECK(line.source > before);
        before = line.source;
        for (unsigned s = 0; s < kSectorsPerLine; ++s)
          if (line.sectors >> s & 1) ++sectors[line.source + s * kSectorBytes];
      }
      for (Address a = kFrom + offset; a < kFrom + offset + bytes; ++a)
        expected[a / kSectorBytes * kSectorBytes] = 1;
      CHECK(sectors == expected);
    }
}

TEST_CASE("a peer copy has a limited number of lines under way, and ends when the last is written") {
  PeerCopies copies(2, 4);
  copies.add(peer_command(9, 0, 6 * kLineBytes), 1, 100);
  CHECK(take_lines(copies).size() == 4);
  CHECK_FALSE(copies.written(1, 200));
  CHECK(take_lines(copies).size() == 1);  // in the place of the one that is there
  CHECK_FALSE(copies.written(1, 210));
  CHECK(take_lines(copies).size() == 1);
  for (Cycle now = 300; now < 303; ++now) {
    CHECK_FALSE(copies.written(1, now));
    CHECK(take_lines(copies).empty());
    CHECK_FALSE(copies.idle());
  }
  const auto done = copies.written(1, 310);
  REQUIRE(done);
  CHECK(done->copy.index == 9);
  CHECK(done->copy.start == 100);
  CHECK(done->copy.end == 310);
  CHECK_FALSE(done->ordered);
  CHECK(copies.idle());
}

TEST_CASE("peer copies to a device go one after another, those to different devices side by side in turn") {
  PeerCopies copies(4, 100);
  copies.add(peer_command(0, 0, 3 * kLineBytes), 3, 10);
  copies.add(peer_command(1, 0x1000, 2 * kLineBytes), 1, 20);
  copies.add(peer_command(2, 0x2000, kLineBytes), 3, 30);
  std::vector<unsigned> to;
  for (const auto& line : take_lines(copies)) to.push_back(line.to);
  CHECK(to == std::vector<unsigned>{1, 3, 1, 3, 3});  // command 2 waits for command 0
  CHECK_FALSE(copies.written(3, 40));
  CHECK_FALSE(copies.written(1, 41));
  CHECK_FALSE(copies.written(3, 42));
  CHECK(copies.written(1, 50)->copy.index == 1);
  const auto first = copies.written(3, 60);
  CHECK(first->copy.index == 0);
  CHECK(first->copy.start == 10);
  const auto lines = take_lines(copies);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].source == kFrom + 0x2000);
  const auto second = copies.written(3, 75);
  CHECK(second->copy.index == 2);
  CHECK(second->copy.start == 60);  // asked for at 30, but the way was taken until 60
  CHECK(second->copy.end == 75);
  CHECK(copies.idle());
}

TEST_CASE("a late peer copy begins when it is asked for, not when the one before ended") {
  PeerCopies copies(2, 8);
  copies.add(peer_command(0, 0, 128), 1, 0);
  (void)take_lines(copies);
  CHECK(copies.written(1, 50));
  copies.add(peer_command(1, 0, 128), 1, 400);
  (void)take_lines(copies);
  CHECK(copies.written(1, 460)->copy.start == 400);
}

TEST_CASE("pages for the directory: the runs are copied one by one, and the last one ends the order") {
  uvm::DirectoryCommand order;
  order.kind = uvm::DirectoryCommand::Kind::kCopy;
  order.place = 2;
  order.id = 77;
  order.tree = 5;
  order.base = kFrom;
  order.pages = uvm::PageSet::range(3, 2);
  order.pages.insert(9);
  for (const auto how : {uvm::DirectoryCommand::How::kMove, uvm::DirectoryCommand::How::kKeep}) {
    order.how = how;
    PeerCopies copies(3, 1000);
    copies.add(order);
    const auto run = [&](unsigned first, unsigned pages) {
      const auto lines = take_lines(copies);
      REQUIRE(lines.size() == pages * 4096 / 128);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        REQUIRE(lines[i].source == kFrom + first * 4096 + i * 128);
        REQUIRE(lines[i].destination == lines[i].source);  // a managed page has one address everywhere
        REQUIRE(lines[i].sectors == 0xf);
        REQUIRE(lines[i].leaves == (how == uvm::DirectoryCommand::How::kMove));
        REQUIRE(lines[i].to == 2);
      }
      for (std::size_t i = 1; i < lines.size(); ++i) REQUIRE_FALSE(copies.written(2, i));
      return copies.written(2, 1000);
    };
    CHECK_FALSE(run(3, 2));  // pages 3 and 4 are one run
    const auto done = run(9, 1);
    REQUIRE(done);
    CHECK(done->ordered);
    CHECK(done->copy.index == 77);
    CHECK(done->tree == 5);
    CHECK(copies.idle());
  }
}

TEST_CASE("a dump names each copy under way with what it has read") {
  PeerCopies copies(3, 2);
  copies.add(peer_command(4, 0, 1000), 2, 0);
  copies.add(peer_command(5, 0, 1000), 2, 0);
  (void)take_lines(copies);
  std::string text;
  copies.dump(text);
  CHECK(text ==
        "  copy to device 2, command 4: 256 of 1000 bytes read, 2 lines under way, 1 copies behind it\n");
}

}  // namespace
}  // namespace lockstep::core
