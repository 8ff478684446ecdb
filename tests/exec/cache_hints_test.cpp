// Modifiers of caching, order and scope, and instructions that only give hints, change no value; a cache
// policy is one operand more, which is no data.
#include <catch2/catch.hpp>

#include "tests/exec/one_thread.hpp"

namespace lockstep::exec::test {
namespace {

constexpr std::uint64_t kCell = 0x1122334455667788;
const std::string kPolicy = "createpolicy.fractional.L2::evict_last.b64 %d7, 0.5; mov.u64 %d2, 5; ";

/// Cell 1 and register %d1 after a statement that finds kCell there and in the register.
std::pair<std::uint64_t, std::uint64_t> hinted(const std::string& statement) {
  Statements s{kPolicy + "mov.u64 %d1, 0x1122334455667788;" + statement};
  s.cells[1] = kCell;
  const std::uint64_t result = s.run({"%d1"})[0];
  CHECK(s.cells[0] == 0);
  CHECK(s.cells[2] == 0);
  return {s.cells[1], result};
}

}  // namespace

TEST_CASE("cache hints: loads have the value, whichever cache they ask for") {
  for (const std::string form :
       {"ld.global.ca.u64", "ld.global.cg.u64", "ld.global.cs.u64", "ld.global.lu.u64", "ld.global.cv.u64",
        "ld.global.nc.u64", "ld.global.nc.L1::no_allocate.L2::128B.u64", "ld.global.L1::evict_last.u64",
        "ld.global.L1::evict_unchanged.L2::64B.u64", "ld.weak.global.u64", "ld.volatile.global.u64",
        "ld.relaxed.gpu.global.u64", "ld.acquire.cta.global.u64", "ld.acquire.sys.u64",
        "ld.mmio.relaxed.sys.global.u64", "ldu.global.u64"}) {
    INFO(form);
    CHECK(hinted("mov.u64 %d1, 0; " + form + " %d1, [%d0+8];") == std::pair{kCell, kCell});
  }
  for (const std::string form :
       {"ld.global.L2::cache_hint.u64", "ld.global.nc.L1::evict_first.L2::cache_hint.L2::256B.u64"}) {
    INFO(form);
    CHECK(hinted("mov.u64 %d1, 0; " + form + " %d1, [%d0+8], %d7;") == std::pair{kCell, kCell});
  }
}

TEST_CASE("cache hints: stores write their value, not the policy") {
  for (const std::string form :
       {"st.global.wb.u64", "st.global.cg.u64", "st.global.cs.u64", "st.global.wt.u64", "st.weak.global.u64",
        "st.volatile.global.u64", "st.relaxed.cta.global.u64", "st.release.gpu.global.u64",
        "st.mmio.relaxed.sys.global.u64", "st.global.L1::no_allocate.u64"}) {
    INFO(form);
    CHECK(hinted(form + " [%d0+8], %d2;").first == 5);
  }
  CHECK(hinted("st.global.L2::cache_hint.u64 [%d0+8], %d2, %d7;").first == 5);
  CHECK(hinted("st.global.L1::evict_first.L2::cache_hint.v2.u32 [%d0+8], {3, 4}, %d7;").first ==
        0x0000000400000003);
}

TEST_CASE("cache hints: atomics with every order and scope, and with a policy") {
  for (const std::string how : {"relaxed.cta", "acquire.cluster", "release.gpu", "acq_rel.sys"}) {
    INFO(how);
    CHECK(hinted("atom." + how + ".global.add.u64 %d1, [%d0+8], %d2;") == std::pair{kCell + 5, kCell});
  }
  for (const std::string how : {"relaxed.cta", "release.sys"}) {
    INFO(how);
    CHECK(hinted("red." + how + ".global.add.u64 [%d0+8], %d2;").first == kCell + 5);
  }
  CHECK(hinted("atom.global.add.L2::cache_hint.u64 %d1, [%d0+8], %d2, %d7;") == std::pair{kCell + 5, kCell});
  CHECK(hinted("atom.global.cas.L2::cache_hint.b64 %d1, [%d0+8], %d1, %d2, %d7;") ==
        std::pair{std::uint64_t{5}, kCell});
  CHECK(hinted("atom.global.exch.L2::cache_hint.b64 %d1, [%d0+8], %d2, %d7;") ==
        std::pair{std::uint64_t{5}, kCell});
  CHECK(hinted("red.global.xor.L2::cache_hint.b64 [%d0+8], %d2, %d7;").first == (kCell ^ 5));
}

TEST_CASE("cache hints: the policy of cp.async stands behind the bytes to read") {
  const std::string clear = "st.shared.v2.u64 [shared], {-1, -1}; ", read = " ld.shared.u64 %d1, [shared];";
  CHECK(hinted(clear + "cp.async.ca.shared.global.L2::128B [shared], [%d0+8], 8;" + read).second == kCell);
  CHECK(hinted(clear + "cp.async.ca.shared.global.L2::cache_hint [shared], [%d0+8], 8, %d7;" + read).second ==
        kCell);
  CHECK(hinted(clear + "cp.async.ca.shared.global.L2::cache_hint [shared], [%d0+8], 8, 3, %d7;" + read)
            .second == (kCell & 0xffffff));
  // 16 bytes from cell 0 on, of which 9 are read.
  CHECK(hinted(clear + "cp.async.cg.shared.global.L2::cache_hint.L2::256B [shared], [%d0], 16, 9, %d7;" +
               " ld.shared.u64 %d1, [shared+8];")
            .second == (kCell & 0xff));
  CHECK(hinted("st.shared.v2.u64 [shared], {6, 7};"
               "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%d0+32], [shared], 16, %d7;"
               "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; ld.global.u64 %d1, [%d0+40];")
            .second == 7);
}

TEST_CASE("cache hints: what is only a hint or an order leaves registers and memory alone") {
  for (const std::string statement : {"prefetch.global.L1 [%d0+8];",
                                      "prefetch.global.L2::evict_last [%d0+8];",
                                      "prefetch.L2 [%d2];",
                                      "prefetchu.L1 [%d2];",
                                      "applypriority.global.L2::evict_normal [%d0], 128;",
                                      "cp.async.bulk.prefetch.L2.global [%d0], 16;",
                                      "pmevent 3;",
                                      "griddepcontrol.wait;",
                                      "griddepcontrol.launch_dependents;",
                                      "setmaxnreg.inc.sync.aligned.u32 96;",
                                      "membar.cta;",
                                      "membar.sys;",
                                      "fence.sc.gpu;",
                                      "fence.acq_rel.cluster;",
                                      "fence.proxy.alias;",
                                      "fence.proxy.async.shared::cta;",
                                      "fence.mbarrier_init.release.cluster;",
                                      "nanosleep.u32 20;",
                                      "cp.async.wait_all;",
                                      "barrier.cta.sync.aligned 1;"}) {
    INFO(statement);
    CHECK(hinted(statement) == std::pair{kCell, kCell});
  }
}

}  // namespace lockstep::exec::test
