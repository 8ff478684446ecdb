// The directory with devices that carry out its commands in random interleavings, and pages with contents:
// whoever has a page has what was written last, and every acquisition ends.
#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <vector>

#include "tests/persisted.hpp"
#include "tests/random.hpp"
#include "uvm/directory.hpp"

namespace lockstep::uvm {
namespace {

using RequestKind = DirectoryRequest::Kind;
using SentKind = DirectoryCommand::Kind;
using SentHow = DirectoryCommand::How;

constexpr TreeId kSharedTree = 3;
constexpr unsigned kSharedPages = 6;

PageSet one_page(unsigned page) { return PageSet::range(page, 1); }

class DirectoryWorld {
 public:
  DirectoryWorld(std::uint32_t seed, std::vector<std::uint64_t> reach)
      : random_(seed),
        directory_(std::make_unique<Directory>(reach)),
        reach_(reach),
        devices_(reach.size()),
        in_(2 * reach.size()),
        out_(2 * reach.size()) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (random_() % 3 == 0) act(random_() % count());
      deliver();
      check();
      if (i % 100 == 0) replace();
    }
    for (int i = 0; deliver(); ++i) {
      REQUIRE(i < 10'000);
      check();
    }
    check_end();
  }
  unsigned acquired = 0, upgraded = 0, upgrades_lost = 0, moved = 0;

 private:
  struct Copy {
    std::uint64_t content = 0;
    bool alone = false;   // may be written
    bool backed = false;  // the host has it, too
    bool stands = false;  // unused: it is being copied to another device
  };
  struct Acquisition {
    PageSet missing, alone, upgraded;
    bool granted = false;
  };
  struct Device {
    std::map<unsigned, Copy> copies;
    std::map<unsigned, std::uint64_t> incoming;  // from other devices, until the directory says so
    std::map<std::uint32_t, Acquisition> acquisitions;
    std::map<std::uint32_t, PageSet> standing;              // by kRevoke: until kGone
    std::vector<std::pair<std::uint32_t, unsigned>> reads;  // from the host: acquisition, page
    std::array<std::uint16_t, kSharedPages> mapped;
    std::uint32_t next_id = 1;
    Device() { mapped.fill(kNowhere); }
  };
  static constexpr std::uint16_t kNowhere = 0xfffe;
  struct Letter {
    std::uint16_t device = 0;
    DirectoryRequest request;
  };

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(devices_.size()); }
  static DirectoryRequest request(RequestKind kind, std::uint32_t id, const PageSet& pages = {},
                                  const PageSet& alone = {}, const PageSet& mapped = {}) {
    DirectoryRequest r;
    r.kind = kind;
    r.id = id;
    r.tree = kSharedTree;
    r.pages = pages;
    r.alone = alone;
    r.mapped = mapped;
    return r;
  }
  /// From the GMMU of a device, or from its port: two ways, each in order.
  void say(std::uint32_t device, const DirectoryRequest& r, bool port = false) {
    in_[2 * device + (port ? 1 : 0)].push_back({static_cast<std::uint16_t>(device), r});
  }

  // What devices do by themselves.
  void act(std::uint32_t d) {
    Device& device = devices_[d];
    const unsigned page = random_() % kSharedPages;
    const auto copy = device.copies.find(page);
    switch (random_() % 6) {
      case 0:
      case 1:
        return acquire(d, random_() % 2 == 0);
      case 2:  // it writes
        if (copy != device.copies.end() && copy->second.alone && !copy->second.stands)
          copy->second.content = ++latest_[page];
        return;
      case 3:  // it evicts
        if (copy != device.copies.end() && !copy->second.stands) leave(d, page, !copy->second.backed);
        return;
      case 4: {
        if (is_coming(device, page) || copy != device.copies.end()) return;
        const std::uint32_t id = device.next_id++;
        device.acquisitions[id] = {};
        return say(d, request(RequestKind::kAcquire, id, {}, {}, one_page(page)));
      }
      default:
        return;
    }
  }
  [[nodiscard]] static bool is_coming(const Device& device, unsigned page) {
    for (const auto& [id, a] : device.acquisitions)
      if (a.missing.contains(page) || a.upgraded.contains(page)) return true;
    return false;
  }
  /// Some pages that it has not, and those that it has read-only if it is to write.
  void acquire(std::uint32_t d, bool writes) {
    Device& device = devices_[d];
    Acquisition a;
    for (unsigned page = 0; page < kSharedPages; ++page) {
      if (random_() % 2 == 0 || is_coming(device, page)) continue;
      const auto copy = device.copies.find(page);
      if (copy == device.copies.end()) {
        a.missing.insert(page);
        if (writes) a.alone.insert(page);
      } else if (writes && !copy->second.alone && !copy->second.stands) {
        a.upgraded.insert(page);
      }
    }
    if ((a.missing | a.upgraded).empty()) return;
    const std::uint32_t id = device.next_id++;
    device.acquisitions[id] = a;
    say(d, request(RequestKind::kAcquire, id, a.missing, a.alone | a.upgraded));
    ++acquired;
  }
  void leave(std::uint32_t d, unsigned page, bool to_host) {
    if (to_host) host_[page] = devices_[d].copies.at(page).content;
    devices_[d].copies.erase(page);
    say(d, request(RequestKind::kLeft, 0, one_page(page), to_host ? one_page(page) : PageSet()));
  }

  /// Some message or read arrives. False if there is none.
  bool deliver() {
    std::vector<std::size_t> ready;  // ways to and from the directory, then reads
    for (std::size_t i = 0; i < in_.size(); ++i)
      if (!in_[i].empty()) ready.push_back(i);
    for (std::size_t i = 0; i < out_.size(); ++i)
      if (!out_[i].empty()) ready.push_back(in_.size() + i);
    for (std::size_t d = 0; d < devices_.size(); ++d)
      if (!devices_[d].reads.empty()) ready.push_back(in_.size() + out_.size() + d);
    if (ready.empty()) return false;
    std::size_t i = ready[random_() % static_cast<std::uint32_t>(ready.size())];
    if (i < in_.size()) {
      const Letter letter = in_[i].front();
      in_[i].pop_front();
      directory_->receive(letter.device, letter.request);
      for (const Directory::Output& o : directory_->output())
        out_[2u * o.device + (o.port ? 1 : 0)].push_back(o.command);
      directory_->clear_output();
    } else if ((i -= in_.size()) < out_.size()) {
      const DirectoryCommand command = out_[i].front();
      out_[i].pop_front();
      i % 2 == 0 ? obey(static_cast<std::uint32_t>(i / 2), command)
                 : copy(static_cast<std::uint32_t>(i / 2), command);
    } else {
      read(static_cast<std::uint32_t>(i - out_.size()));
    }
    return true;
  }

  void read(std::uint32_t d) {
    Device& device = devices_[d];
    const auto [id, page] = device.reads.front();
    device.reads.erase(device.reads.begin());
    arrive(d, id, page, host_[page], true);
  }
  void arrive(std::uint32_t d, std::uint32_t id, unsigned page, std::uint64_t content, bool from_host) {
    Device& device = devices_[d];
    Acquisition& a = device.acquisitions.at(id);
    REQUIRE(a.missing.contains(page));
    a.missing -= one_page(page);
    const bool alone = a.alone.contains(page);
    device.copies[page] = {content, alone, from_host && !alone, false};
    device.mapped[page] = kNowhere;
    finish_if_complete(d, id);
  }
  void finish_if_complete(std::uint32_t d, std::uint32_t id) {
    const Acquisition& a = devices_[d].acquisitions.at(id);
    if (!a.granted || !a.missing.empty()) return;
    devices_[d].acquisitions.erase(id);
    say(d, request(RequestKind::kDone, id));
  }
  /// A peer port writes pages into another device's memory.
  void copy(std::uint32_t d, const DirectoryCommand& command) {
    REQUIRE(command.kind == SentKind::kCopy);
    command.pages.for_each([&](unsigned page) {
      REQUIRE(devices_[d].copies.contains(page));
      REQUIRE((reach_[d] >> command.place & 1) == 1);
      devices_[command.place].incoming[page] = devices_[d].copies.at(page).content;
    });
    ++moved;
    say(d, request(RequestKind::kCopied, command.id), true);
  }

  void obey(std::uint32_t d, const DirectoryCommand& command) {
    Device& device = devices_[d];
    switch (command.kind) {
      case SentKind::kGrant: {
        Acquisition& a = device.acquisitions.at(command.id);
        a.granted = true;
        a.upgraded.for_each([&](unsigned page) {
          const auto copy = device.copies.find(page);
          ++(copy == device.copies.end() ? upgrades_lost : upgraded);
          if (copy != device.copies.end()) copy->second.alone = true, copy->second.backed = false;
        });
        command.pages.for_each([&](unsigned page) { device.reads.emplace_back(command.id, page); });
        return finish_if_complete(d, command.id);
      }
      case SentKind::kArrived:
        return command.pages.for_each([&](unsigned page) {
          const std::uint64_t content = device.incoming.at(page);
          device.incoming.erase(page);
          arrive(d, command.id, page, content, false);
        });
      case SentKind::kMapped:
        return command.pages.for_each([&](unsigned page) { device.mapped[page] = command.place; });
      case SentKind::kRevoke:
        return revoke(d, command);
      case SentKind::kGone:
        device.standing[command.id].for_each([&](unsigned page) {
          Copy& copy = device.copies.at(page);
          copy.stands = false;
          if (command.how == SentHow::kMove) device.copies.erase(page);
        });
        device.standing.erase(command.id);
        return;
      default:
        FAIL("no such command was asked for");
    }
  }
  void revoke(std::uint32_t d, const DirectoryCommand& command) {
    Device& device = devices_[d];
    command.pages.for_each([&](unsigned page) {
      if (command.how == SentHow::kUnmap) device.mapped[page] = kNowhere;
      const auto found = device.copies.find(page);
      if (found == device.copies.end()) return;  // it has left by itself
      Copy& copy = found->second;
      switch (command.how) {
        case SentHow::kDrop:
        case SentHow::kToHost:
          return leave(d, page, command.how == SentHow::kToHost);
        case SentHow::kBack:
          copy.alone = false;
          copy.backed = true;
          host_[page] = copy.content;
          return say(d, request(RequestKind::kBacked, 0, one_page(page)));
        case SentHow::kMove:
        case SentHow::kKeep:
          copy.alone = false;
          copy.stands = true;
          return device.standing[command.id].insert(page);
        case SentHow::kUnmap:
          return;
      }
    });
    say(d, request(RequestKind::kRevoked, command.id));
  }

  /// Of what is in use.
  void check() {
    for (const Device& device : devices_)
      for (const auto& [page, copy] : device.copies)
        if (!copy.stands) REQUIRE(copy.content == latest_[page]);
  }
  void check_end() {
    REQUIRE(directory_->idle());
    for (std::uint16_t d = 0; d < devices_.size(); ++d) {
      REQUIRE(devices_[d].acquisitions.empty());
      REQUIRE(devices_[d].standing.empty());
      PageSet held;
      for (const auto& [page, copy] : devices_[d].copies) {
        held.insert(page);
        if (!copy.alone) continue;
        for (std::uint16_t other = 0; other < devices_.size(); ++other)
          if (other != d) REQUIRE_FALSE(directory_->pages_at(kSharedTree, other).contains(page));
        REQUIRE_FALSE(directory_->pages_at(kSharedTree, kHostPlace).contains(page));
      }
      REQUIRE(directory_->pages_at(kSharedTree, d) == held);
      for (unsigned page = 0; page < kSharedPages; ++page)
        if (const std::uint16_t place = devices_[d].mapped[page]; place != kNowhere)
          REQUIRE(directory_->pages_at(kSharedTree, place).contains(page));
    }
    for (unsigned page = 0; page < kSharedPages; ++page)
      if (directory_->pages_at(kSharedTree, kHostPlace).contains(page)) REQUIRE(host_[page] == latest_[page]);
  }
  void replace() {
    auto fresh = std::make_unique<Directory>(reach_);
    lockstep::test::restore(*directory_, *fresh);
    directory_ = std::move(fresh);
  }

  lockstep::test::Random32 random_;
  std::unique_ptr<Directory> directory_;
  std::vector<std::uint64_t> reach_;
  std::vector<Device> devices_;
  std::vector<std::deque<Letter>> in_;             // by device: GMMU, port
  std::vector<std::deque<DirectoryCommand>> out_;  // likewise
  std::array<std::uint64_t, kSharedPages> host_{}, latest_{};
};

TEST_CASE("directory: in random interleavings every page has its latest content, and every request ends") {
  unsigned upgraded = 0, lost = 0, moved = 0, acquired = 0;
  const std::vector<std::vector<std::uint64_t>> systems = {
      {0b10, 0b01}, {0b00, 0b00}, {0b010, 0b101, 0b010}, {0b1110, 0b1101, 0b1011, 0b0111}};
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    DirectoryWorld world(seed, systems[seed % systems.size()]);
    world.run(1500);
    acquired += world.acquired, upgraded += world.upgraded, lost += world.upgrades_lost, moved += world.moved;
  }
  CHECK(acquired > 2000);
  CHECK(moved > 500);
  CHECK(upgraded > 100);
  CHECK(lost > 20);
}

}  // namespace
}  // namespace lockstep::uvm
