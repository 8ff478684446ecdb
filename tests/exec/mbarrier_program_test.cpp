// mbarrier instructions as programs of one thread use them ("PTX ISA 9.0", 9.7.13.15): states, parities,
// counts and bytes. %p1 to %p4 are what the waits find.
#include <catch2/catch.hpp>

#include "tests/exec/one_thread.hpp"

namespace lockstep::exec::test {
namespace {

std::string init_count(unsigned count) {
  return fmt::format("mbarrier.init.shared.b64 [shared], {};", count);
}
/// test_wait by parity into a predicate.
std::string tested(unsigned predicate, unsigned parity) {
  return fmt::format("mbarrier.test_wait.parity.shared.b64 %p{}, [shared], {};", predicate, parity);
}
const std::string kArrive = "mbarrier.arrive.shared.b64 _, [shared];";

std::vector<std::uint64_t> predicates_after(const std::string& statements, unsigned count) {
  std::vector<std::string> names;
  for (unsigned i = 1; i <= count; ++i) names.push_back(fmt::format("%p{}", i));
  return Statements{statements}.run(names);
}
using Found = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("mbarrier programs: a parity is that of a phase, of which the one before the first counts as odd") {
  CHECK(predicates_after(init_count(2) + tested(1, 0) + tested(2, 1) + kArrive + tested(3, 0), 3) ==
        Found{0, 1, 0});
  CHECK(predicates_after(init_count(2) + kArrive + kArrive + tested(1, 0) + tested(2, 1) + kArrive + kArrive +
                             tested(3, 0) + tested(4, 1),
                         4) == Found{1, 0, 0, 1});
}

TEST_CASE("mbarrier programs: a state is complete when its own phase is") {
  const std::string wait = "mbarrier.test_wait.shared::cta.b64 ";
  CHECK(predicates_after(init_count(2) + "mbarrier.arrive.shared.b64 %d1, [shared];" + wait +
                             "%p1, [shared], %d1; mbarrier.arrive.shared.b64 %d2, [shared];" + wait +
                             "%p2, [shared], %d1;" + wait +
                             "%p3, [shared], %d2; mbarrier.arrive.shared.b64 %d3, [shared];" + wait +
                             "%p4, [shared], %d3;",
                         4) == Found{0, 1, 1, 0});
}

TEST_CASE("mbarrier programs: pending_count is what was missing before the arrival") {
  Statements s{init_count(5) +
               "mbarrier.arrive.noComplete.shared.b64 %d1, [shared], 1; mbarrier.pending_count.b64 %r1, %d1;"
               "mov.u32 %r9, 3; mbarrier.arrive.noComplete.shared.b64 %d2, [shared], %r9;"
               "mbarrier.pending_count.b64 %r2, %d2;"
               "mbarrier.arrive.shared.b64 %d3, [shared]; mbarrier.pending_count.b64 %r3, %d3;"
               "mbarrier.arrive.shared.b64 %d4, [shared]; mbarrier.pending_count.b64 %r4, %d4;"};
  CHECK(s.run({"%r1", "%r2", "%r3", "%r4"}) == std::vector<std::uint64_t>{5, 4, 1, 5});
}

TEST_CASE("mbarrier programs: who drops out counts no more in the phases that follow") {
  const std::string drop = "mbarrier.arrive_drop.shared.b64 _, [shared];";
  CHECK(predicates_after(init_count(3) + drop + kArrive + tested(1, 0) + kArrive + tested(2, 0) + kArrive +
                             tested(3, 1) + kArrive + tested(4, 1),
                         4) == Found{0, 1, 0, 1});
  // Two at once, of four: the next phase is complete with the arrivals of the other two.
  CHECK(predicates_after(init_count(4) +
                             "mbarrier.arrive_drop.release.cta.shared::cta.b64 %d1, [shared], 2;" + kArrive +
                             tested(1, 0) + kArrive + tested(2, 0) + kArrive + kArrive + tested(3, 1),
                         3) == Found{0, 1, 1});
}

TEST_CASE("mbarrier programs: bytes that are announced must come before the phase is complete") {
  const std::string expect = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [shared], 64;",
                    come = "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [shared], 48;",
                    rest = "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [shared], 16;",
                    arrive_and_expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [shared], 64;";
  CHECK(predicates_after(
            init_count(1) + expect + kArrive + tested(1, 0) + come + tested(2, 0) + rest + tested(3, 0), 3) ==
        Found{0, 0, 1});
  // Bytes come first: the arrival completes the phase.
  CHECK(predicates_after(
            init_count(1) + come + tested(1, 0) + expect + rest + tested(2, 0) + kArrive + tested(3, 0), 3) ==
        Found{0, 0, 1});
  // One arrival that announces, one that does not.
  CHECK(predicates_after(init_count(2) + arrive_and_expect + come + rest + tested(1, 0) + kArrive +
                             tested(2, 0) + kArrive + tested(3, 1) + arrive_and_expect + tested(4, 1),
                         4) == Found{0, 1, 0, 0});
}

TEST_CASE("mbarrier programs: cp.async arrives when its copies are complete, counted in beforehand or not") {
  const std::string copy = "cp.async.ca.shared.global [shared+16], [%d0], 8;",
                    counted = "cp.async.mbarrier.arrive.shared.b64 [shared];",
                    not_counted = "cp.async.mbarrier.arrive.noinc.shared.b64 [shared];";
  CHECK(predicates_after(init_count(1) + copy + counted + tested(1, 0) + kArrive + tested(2, 0), 2) ==
        Found{0, 1});
  CHECK(predicates_after(init_count(2) + copy + not_counted + tested(1, 0) + kArrive + tested(2, 0), 2) ==
        Found{0, 1});
}

TEST_CASE("mbarrier programs: an object may be made anew, with another count") {
  CHECK(predicates_after(init_count(2) + kArrive + "mbarrier.inval.shared.b64 [shared];" + init_count(1) +
                             tested(1, 0) + kArrive + tested(2, 0),
                         2) == Found{0, 1});
}

TEST_CASE("mbarrier programs: every lane that arrives counts, and lanes see their own states") {
  // 32 lanes arrive, of 33: lane 5 alone arrives once more.
  Statements s{"setp.ne.u32 %p5, %r0, 0; @%p5 bra READY;" + init_count(33) +
               "READY: bar.warp.sync -1; mbarrier.arrive.shared.b64 %d1, [shared];" + tested(1, 0) +
               "setp.eq.u32 %p4, %r0, 5; @%p4 mbarrier.arrive.shared.b64 _, [shared]; bar.warp.sync -1;"
               "mbarrier.test_wait.shared.b64 %p2, [shared], %d1; mbarrier.pending_count.b64 %r1, %d1;"};
  const auto found = s.run({"%p1", "%p2", "%r1"}, 32);
  std::uint64_t counts = 0;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    CHECK(found[3 * lane] == 0);
    CHECK(found[3 * lane + 1] == 1);
    counts |= std::uint64_t{1} << found[3 * lane + 2];
  }
  CHECK(counts == 0x3fffffffc);  // 33 down to 2, each once
}

}  // namespace lockstep::exec::test
