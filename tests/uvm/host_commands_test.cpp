// What the host asks of managed memory, on the GMMU by itself.
#include <catch2/catch.hpp>

#include "rig.hpp"

namespace lockstep::uvm {
namespace {

constexpr std::uint32_t kPage = kPageBytes;

ManagedCommand order(ManagedCommand::Kind kind, Address offset, std::uint64_t bytes, std::uint32_t index = 0,
                     bool host = false) {
  return {kind, Advice::kNone, host, index, kBase + offset, bytes};
}

/// Runs to the end; the orders that were completed on the way, by index, and when.
std::vector<std::pair<std::uint32_t, Cycle>> finish(Rig& rig) {
  rig.completed.clear();
  REQUIRE(rig.run());
  return {rig.completed.begin(), rig.completed.end()};
}

TEST_CASE("the pages of a range, tree by tree") {
  AddressSpace space;
  space.add(0x10000, 2 * kTreeBytes);
  space.add(0x1000, 2 * kPage);
  CHECK(pages_in(space, 0x0, 0x1000).empty());
  CHECK(pages_in(space, 0x500, 0).empty());
  const auto some = pages_in(space, 0x1fff, 2);  // a byte of each page
  REQUIRE(some.size() == 1);
  CHECK(some[0].pages == 2);
  const auto all = pages_in(space, 0, ~std::uint64_t{0});
  REQUIRE(all.size() == 3);
  CHECK(all[0].tree == 2);  // the lower address, added later
  CHECK(all[1].pages == 512);
  const auto across = pages_in(space, 0x10000 + kTreeBytes - 1, 2);
  REQUIRE(across.size() == 2);
  CHECK(across[0].first == 511);
  CHECK(across[1].first == 0);
}

TEST_CASE("an explicit prefetch brings runs up to 2 MB and no fault") {
  Rig rig(smart(), 5 << 20, kMany, 1);
  rig.gmmu.submit(order(ManagedCommand::Kind::kPrefetch, 0, 5 << 20, 7));
  const auto done = finish(rig);
  REQUIRE(done.size() == 1);
  CHECK(done[0].first == 7);
  CHECK(rig.pieces(Event::Kind::kPrefetch) ==
        std::vector<std::pair<unsigned, unsigned>>{{0, 2048}, {0, 2048}, {0, 1024}});
  CHECK(done[0].second >= 2 * kT2048);
  CHECK(rig.gmmu.counters().faults == 0);
  CHECK(rig.gmmu.counters().user_prefetched_pages == 5 * 256);
}

TEST_CASE("an advice and a prefetch take their call's time, the prefetch before its transfer") {
  const auto ends = [](std::uint32_t ns) {
    Parameters p = smart();
    p.advise_ns = p.prefetch_ns = ns;
    Rig rig(p, 1 << 20, kMany, 1);
    ManagedCommand advice = order(ManagedCommand::Kind::kAdvise, 0, 4 * kPage, 1);
    advice.advice = Advice::kSetReadMostly;
    rig.gmmu.submit(advice);
    rig.gmmu.submit(order(ManagedCommand::Kind::kPrefetch, 0, kPage, 2));
    return finish(rig);
  };
  constexpr Cycle kCall = 2962;  // 2 us at 1481 MHz
  const auto free = ends(0), timed = ends(2000);
  REQUIRE(timed.size() == 2);
  CHECK(timed[0].second == free[0].second + kCall);
  CHECK(timed[1].second == free[1].second + 2 * kCall);
  CHECK(free[1].second == free[0].second + kT4 + 1);  // it is staged in one cycle and begins in the next
}

TEST_CASE("an explicit prefetch skips what is there, and page trees do not count it") {
  Rig rig(smart(), 3 << 20, kMany, 1);
  rig.gmmu.submit(order(ManagedCommand::Kind::kPrefetch, 100 * kPage, 10 * kPage));
  rig.gmmu.submit(order(ManagedCommand::Kind::kPrefetch, 5 * kPage + 17, 2 << 20));  // rounded outward
  (void)finish(rig);
  CHECK(rig.pieces(Event::Kind::kPrefetch) ==
        std::vector<std::pair<unsigned, unsigned>>{{100, 40}, {5, 95 * 4}, {110, 402 * 4}, {0, 6 * 4}});
  CHECK(rig.tree(0).counted.empty());
}

TEST_CASE("a prefetch of more than there is memory for ends, in both fault modes") {
  for (const bool driver : {false, true}) {
    Parameters p = driver ? Parameters{} : smart();
    Rig rig(p, 4 << 20, 3, 1);
    rig.gmmu.submit(order(ManagedCommand::Kind::kPrefetch, 0, 64 * kPage));
    rig.gmmu.submit(order(ManagedCommand::Kind::kPrefetch, 0x4000'0000, 4096, 1));  // nothing of ours
    const auto done = finish(rig);
    CHECK(done.size() == 2);
    CHECK(rig.resident() <= 3);
    CHECK(rig.gmmu.counters().user_prefetched_pages == 64);
  }
}

TEST_CASE("the host's access takes pages back, once for all of them the cost of a fault") {
  Parameters p = smart();
  p.early_reuse = false;
  p.host_fault_ns = 16000;
  Rig rig(p, 4 << 20, kMany, 1);
  rig.gmmu.submit(order(ManagedCommand::Kind::kPrefetch, 0, 16 * kPage));
  const Cycle brought = finish(rig).at(0).second;
  rig.gmmu.submit(order(ManagedCommand::Kind::kHostRead, 3 * kPage, 100, 1));
  rig.gmmu.submit(order(ManagedCommand::Kind::kHostRead, 3 * kPage, 100, 2));  // it is there: no cost
  const auto done = finish(rig);
  REQUIRE(done.size() == 2);
  const Cycle fault = (16000ull * 1481 + 999) / 1000;
  CHECK(done[0].second >= brought + fault + kT4);
  CHECK(done[0].second <= brought + fault + kT4 + 300);  // and the shootdown
  CHECK(done[1].second == done[0].second);
  CHECK(rig.resident() == 15);
  CHECK(rig.gmmu.counters().host_faults == 1);
  CHECK(rig.gmmu.counters().bytes_to_host == kPage);
  CHECK(rig.gmmu.counters().evicted_clean_pages == 0);  // it did not leave to make room
}

TEST_CASE("memory that is freed leaves without a copy") {
  Parameters p = smart();
  p.early_reuse = false;
  Rig rig(p, 4 << 20, kMany, 1);
  rig.gmmu.submit(order(ManagedCommand::Kind::kPrefetch, 0, 4 << 20));
  rig.gmmu.submit(order(ManagedCommand::Kind::kRelease, 0, 4 << 20, 1));
  CHECK(finish(rig).size() == 2);
  CHECK(rig.resident() == 0);
  CHECK(rig.gmmu.counters().bytes_to_host == 0);
  CHECK(rig.gmmu.memory().frames().free() == kMany);
}

TEST_CASE("cudaDeviceSynchronize in UVMSmart: the published times, and clean pages stay valid") {
  for (const auto& [dirty, cycles] :
       {std::pair<unsigned, Cycle>{0, 0}, {16, kT4 + kT60}, {32, 21690}, {512, 260453}}) {
    Parameters p = smart();
    p.synchronise_copies = true;
    Rig rig(p, 4 << 20, kMany, 1);
    rig.gmmu.submit(order(ManagedCommand::Kind::kPrefetch, 0, 4 << 20));
    (void)finish(rig);
    for (unsigned page = 0; page < dirty; ++page) rig.hit_at(rig.now + 1, page, true);
    (void)finish(rig);
    const Cycle start = rig.now;
    rig.gmmu.submit(order(ManagedCommand::Kind::kSynchronise, 0, 0, 3));
    const auto done = finish(rig);
    REQUIRE(done.size() == 1);
    CHECK(done[0].second == start + 1 + cycles);
    CHECK(rig.resident() == 1024 - dirty);
    CHECK(rig.gmmu.counters().synchronise_cycles == cycles);
    CHECK(rig.gmmu.memory().frames().free() == kMany);
  }
}

TEST_CASE("the prefetcher of before over-subscription stays away after cudaDeviceSynchronize in UVMSmart") {
  Parameters p = smart();
  p.synchronise_copies = true;
  p.prefetcher = index_of(prefetchers(), &kSequentialPrefetch);
  p.prefetcher_oversubscribed = index_of(prefetchers(), &kNoPrefetch);
  p.evictor = index_of(evictors(), &kLruPage);
  const auto brought = [](Rig& rig, unsigned page) {
    const std::uint64_t before = rig.gmmu.counters().bytes_to_device;
    rig.at(rig.now + 1, page);
    (void)finish(rig);
    return rig.gmmu.counters().bytes_to_device - before;
  };
  for (const bool is_short : {false, true}) {
    Rig rig(p, 1 << 20, is_short ? 32 : kMany, 1);
    for (const unsigned page : {0u, 16u, 32u}) CHECK(brought(rig, page) == 64 << 10);
    CHECK(rig.gmmu.memory().oversubscribed() == is_short);
    rig.gmmu.submit(order(ManagedCommand::Kind::kSynchronise, 0, 0));
    (void)finish(rig);
    CHECK(!rig.gmmu.memory().oversubscribed());
    CHECK(brought(rig, 64) == (is_short ? 4 << 10 : 64 << 10));
  }
}

}  // namespace
}  // namespace lockstep::uvm
