// Advice about pages against a record for each page, and who may use the host link.
#include "uvm/advice.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/persisted.hpp"
#include "uvm/host_link.hpp"

namespace lockstep::uvm {
namespace {

/// What CUDA has been advised of a page.
struct AdvisedPage {
  bool read_mostly = false, by_host = false, by_device = false, preferred = false;
  Named where = Named::kHost;  // preferred
  std::uint16_t other = 0;     // which device, where it is another one

  void take(Advice advice, Named place, std::uint16_t device) {
    bool* const accessed = place == Named::kOther ? nullptr : place == Named::kHost ? &by_host : &by_device;
    switch (advice) {
      case Advice::kSetReadMostly:
      case Advice::kUnsetReadMostly:
        read_mostly = advice == Advice::kSetReadMostly;
        break;
      case Advice::kSetPreferredLocation:
        preferred = true;
        where = place;
        other = device;
        break;
      case Advice::kUnsetPreferredLocation:
        preferred = false;
        break;
      case Advice::kSetAccessedBy:
      case Advice::kUnsetAccessedBy:
        if (accessed) *accessed = advice == Advice::kSetAccessedBy;
        break;
      case Advice::kNone:
        break;
    }
  }
  /// Of a fault of the device: the programming guide's rules, by case.
  [[nodiscard]] Placement placement(bool write) const {
    if (read_mostly) {
      if (!write) return Placement::kDuplicate;
      return Placement::kMigrate;  // the writer's copy alone is valid
    }
    if (preferred) return where == Named::kDevice ? Placement::kMigrate : Placement::kRemote;
    return by_device ? Placement::kRemote : Placement::kMigrate;
  }
};

TEST_CASE("advice: random calls for ranges of pages do what a record for each page says, kept or not") {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed);
    constexpr TreeIndex kTrees = 3;
    AdviceTable table;
    std::array<std::vector<AdvisedPage>, kTrees> model;
    for (auto& tree : model) tree.resize(kPagesPerTree);
    CHECK(table.empty());
    for (int i = 0; i < 300; ++i) {
      const auto tree = static_cast<TreeIndex>(random() % kTrees);
      const auto first = static_cast<unsigned>(random() % kPagesPerTree);
      const auto count = static_cast<unsigned>(1 + random() % (kPagesPerTree - first));
      const auto advice = static_cast<Advice>(1 + random() % 6);
      const auto place = static_cast<Named>(random() % 3);
      const auto other = static_cast<std::uint16_t>(random() % 5);
      table.advise(tree, PageSet::range(first, count), advice, place, other);
      for (unsigned p = first; p < first + count; ++p) model[tree][p].take(advice, place, other);
      if (seed % 2 == 0 && i % 20 == 0) {
        AdviceTable fresh;
        lockstep::test::restore(table, fresh);
        table = fresh;
      }
      for (unsigned p = 0; p < kPagesPerTree; p += 1 + static_cast<unsigned>(random() % 16)) {
        const AdvisedPage& page = model[tree][p];
        REQUIRE(table.placement(tree, p, false) == page.placement(false));
        REQUIRE(table.placement(tree, p, true) == page.placement(true));
        const AdvisedPages& pages = table.of(tree);
        REQUIRE(pages.accessed_by_host.contains(p) == page.by_host);
        for (std::uint16_t d = 0; d < pages.preferred_by.size(); ++d)
          REQUIRE(pages.preferred_by[d].contains(p) ==
                  (page.preferred && page.where == Named::kOther && page.other == d));
      }
    }
  }
}

TEST_CASE("advice: pages without any migrate, and trees without any have none") {
  AdviceTable table;
  CHECK(table.placement(0, 5, true) == Placement::kMigrate);
  table.advise(1, PageSet::range(4, 2), Advice::kSetPreferredLocation, Named::kHost);
  CHECK(table.placement(0, 4, false) == Placement::kMigrate);
  CHECK(table.placement(1, 3, false) == Placement::kMigrate);
  CHECK(table.placement(1, 4, false) == Placement::kRemote);
  CHECK(table.of(7).prefer_host.count() == 0);
}

constexpr Direction kWay = Direction::kToDevice;

TEST_CASE("host link: copies that wait have it, until their end") {
  HostLink link;
  CHECK(link.migration_may_begin(kWay));
  CHECK_FALSE(link.copy_must_wait(kWay));
  link.say(kWay, HostLink::Copies{true, false, 500});
  CHECK(link.decide(kWay, 100));
  CHECK_FALSE(link.decide(kWay, 101));  // no change
  CHECK_FALSE(link.migration_may_begin(kWay));
  CHECK(link.migration_may_begin(Direction::kToHost));  // the other direction is another way
  CHECK_FALSE(link.decide(kWay, 499));
  CHECK(link.decide(kWay, 500));
  CHECK(link.migration_may_begin(kWay));
  link.say(kWay, HostLink::Copies{false, true, 0});
  CHECK(link.decide(kWay, 600));  // one that waits is next
  CHECK_FALSE(link.migration_may_begin(kWay));
}

TEST_CASE("host link: at the border between two pages one migration goes first, and one alone") {
  HostLink link;
  link.say(kWay, HostLink::Copies{true, true, kNever});
  (void)link.decide(kWay, 0);
  link.say(kWay, HostLink::Migrations{false, true, 0});
  CHECK_FALSE(link.copy_must_wait(kWay));  // within a page
  Cycle now = 100;
  for (int page = 0; page < 5; ++page, now += 100) {
    link.at_border(kWay);
    CHECK(link.copy_must_wait(kWay));
    CHECK(link.decide(kWay, now));
    CHECK(link.migration_may_begin(kWay));
    link.say(kWay, HostLink::Migrations{true, true, now});  // it begins; another one waits
    CHECK(link.decide(kWay, now));
    CHECK_FALSE(link.migration_may_begin(kWay));
    CHECK(link.copy_must_wait(kWay));
    link.say(kWay, HostLink::Migrations{false, true, now});  // it has ended
    CHECK_FALSE(link.copy_must_wait(kWay));
    link.page_begins(kWay);
    CHECK_FALSE(link.decide(kWay, now + 50));
  }
  link.say(kWay, HostLink::Migrations{false, false, 0});
  link.at_border(kWay);  // none waits
  CHECK_FALSE(link.copy_must_wait(kWay));
}

}  // namespace
}  // namespace lockstep::uvm
