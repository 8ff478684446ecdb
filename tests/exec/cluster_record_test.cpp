// What is recorded of mbarriers in clusters: which CTA's, and which of them (trace/mbarrier_words.hpp).
#include <catch2/catch.hpp>
#include <map>

#include "tests/exec/support.hpp"
#include "trace/mbarrier_words.hpp"

namespace lockstep::exec::test {
namespace {

struct Said {
  std::string opcode;
  LaneMask mask = 0;
  std::vector<std::uint64_t> words;  // as they are kept
};

/// What warp 0 of each CTA of a grid of one cluster says of its mbarriers.
std::vector<std::vector<Said>> recorded(Device& device, std::uint32_t ctas, const Arguments& arguments) {
  const auto kernel = device.kernel("run");
  Launch launch;
  launch.kernel = kernel.get();
  launch.grid = launch.cluster = {ctas, 1, 1};
  launch.block = {32, 1, 1};
  launch.parameters = arguments.bytes();
  Grid grid(launch, device.memory, device.options);
  std::vector<std::vector<Said>> all(ctas);
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    CtaRecord record;
    REQUIRE(grid.run_cta(cta, &record));
    std::size_t word = 0;
    for (const trace::Record& r : record.warps.at(0).records) {
      const unsigned count = trace::address_words(r.form(), r.mask);
      const ptx::Instruction& i = kernel->instruction(r.inst());
      const auto* words = record.warps[0].words.data() + word;
      const char* what = i.op() == ptx::Opcode::kCp                              ? "copy"
                         : i.op() == ptx::Opcode::kSt && i.has(ptx::Mod::kAsync) ? "store"
                         : i.op() != ptx::Opcode::kMbarrier                      ? nullptr
                         : i.has(ptx::Mod::kArrive)                              ? "arrive"
                         : i.has(ptx::Mod::kTryWait)                             ? "wait"
                                                                                 : nullptr;
      if (what && count > 0) all[cta].push_back({what, r.mask, {words, words + count}});
      word += count;
    }
  }
  return all;
}

// CTA r's lanes 0 to 3 arrive at the mbarriers of CTAs 0 to 3; then lane 0 at that of the next CTA.
constexpr const char* kArrivals = R"(
.visible .entry run() {
  .shared .align 8 .b64 other; .shared .align 8 .b64 bar; .shared .align 8 .b64 second;
  .reg .pred %p<4>; .reg .b32 %r<12>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, bar; mov.u32 %r3, second; mov.u32 %r4, %cluster_ctarank;
  setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r1, 4;
  @%p1 mbarrier.init.shared::cta.b64 [%r2], 4;
  @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
  barrier.cluster.arrive; barrier.cluster.wait;
  mapa.shared::cluster.u32 %r5, %r2, %r1;
  @%p2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];
  add.u32 %r6, %r4, 1; and.b32 %r6, %r6, 3; mapa.shared::cluster.u32 %r7, %r3, %r6;
  @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];
  mov.u32 %r8, 0;
$W1:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], %r8;
  @!%p3 bra $W1;
$W2:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], %r8;
  @!%p3 bra $W2;
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
})";

// CTA 0 copies to all CTAs of its cluster; each then stores four bytes and copies 64 bytes to the next CTA.
constexpr const char* kCopies = R"(
.visible .entry run(.param .u64 in) {
  .shared .align 128 .b8 tile[128]; .shared .align 8 .b64 full; .shared .align 8 .b64 more;
  .shared .align 128 .b8 box[128];
  .reg .pred %p<4>; .reg .b16 %h<2>; .reg .b32 %r<14>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [in];
  mov.u32 %r1, %tid.x; mov.u32 %r2, full; mov.u32 %r3, more; mov.u32 %r4, %cluster_ctarank;
  mov.u32 %r5, tile; mov.u32 %r6, box; mov.u16 %h1, 3;
  setp.eq.u32 %p1, %r1, 0;
  @!%p1 bra $READY;
  mbarrier.init.shared::cta.b64 [%r2], 1; mbarrier.init.shared::cta.b64 [%r3], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 68;
$READY:
  barrier.cluster.arrive; barrier.cluster.wait;
  xor.b32 %r7, %r4, 1; mapa.shared::cluster.u32 %r8, %r6, %r7; mapa.shared::cluster.u32 %r9, %r3, %r7;
  setp.eq.u32 %p2, %r4, 0; and.pred %p2, %p2, %p1;
  @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r5], [%rd1], 128, [%r2], %h1;
  @%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r8+64], %r4, [%r9];
  @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r8], [%r5], 64, [%r9];
  mov.u32 %r10, 0;
$W1:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], %r10;
  @!%p3 bra $W1;
$W2:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], %r10;
  @!%p3 bra $W2;
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
})";

std::vector<Said> only(const std::vector<Said>& all, const std::string& opcode) {
  std::vector<Said> found;
  for (const Said& said : all)
    if (said.opcode == opcode) found.push_back(said);
  return found;
}

}  // namespace

TEST_CASE("arrivals name the CTAs of their mbarriers, lane by lane where these differ") {
  Device device(kArrivals);
  const auto all = recorded(device, 4, Arguments());
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const auto arrivals = only(all[rank], "arrive");
    REQUIRE(arrivals.size() == 2);
    // The first mbarrier of the cluster that was used has number 1, the other 2.
    REQUIRE(arrivals[0].mask == 0xf);
    REQUIRE(arrivals[0].words.size() == 4);
    for (std::uint32_t lane = 0; lane < 4; ++lane)
      CHECK(arrivals[0].words[lane] ==
            (trace::kSignalByLane | trace::signal_word(1, lane == rank ? 0 : 1u << lane)));
    CHECK(arrivals[1].words == std::vector<std::uint64_t>{trace::signal_word(2, 1u << (rank + 1) % 4), 1});
    const auto waits = only(all[rank], "wait");
    REQUIRE(waits.size() == 2);
    CHECK(waits[0].words == std::vector<std::uint64_t>{1, 4});
    CHECK(waits[1].words == std::vector<std::uint64_t>{2, 1});
  }
}

TEST_CASE("copies and asynchronous stores name the CTAs to which they go") {
  Device device(kCopies);
  const Address in = device.zeros<std::uint8_t>(128);
  const auto all = recorded(device, 2, Arguments(in));
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::uint32_t next = 1u << (1 - rank);
    const auto copies = only(all[rank], "copy");
    REQUIRE(copies.size() == 2 - rank);
    if (rank == 0) {
      REQUIRE(copies[0].words.size() == 4);  // and a run of rows
      CHECK(copies[0].words[0] == trace::signal_word(1, 3));
      CHECK(copies[0].words[1] == 1);
    }
    // Two words, kept as base and stride.
    const std::uint64_t first = copies.back().words.at(0), step = copies.back().words.at(1);
    CHECK(first == trace::signal_word(2, next));
    CHECK(first + step == (std::uint64_t{64} << 32 | 1));
    const auto stores = only(all[rank], "store");
    REQUIRE(stores.size() == 1);
    CHECK(stores[0].words.at(0) >> 32 == 2);
    CHECK((stores[0].words.at(0) & 0xffffffff) >> 24 == 2 - rank);
    // An arrival and the copy; an arrival, a store and a copy.
    const auto waits = only(all[rank], "wait");
    REQUIRE(waits.size() == 2);
    CHECK(waits[0].words == std::vector<std::uint64_t>{1, 2});
    CHECK(waits[1].words == std::vector<std::uint64_t>{2, 3});
  }
}

}  // namespace lockstep::exec::test
