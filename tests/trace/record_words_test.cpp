// What words of records say: barriers that count, mbarriers, awaited signals, and how much work a kernel is.
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "compact_support.hpp"
#include "reader_generator.hpp"
#include "trace/awaited_signals.hpp"
#include "trace/barrier_events.hpp"
#include "trace/kernel_size.hpp"
#include "trace/l2_policy.hpp"
#include "trace/mbarrier_words.hpp"

namespace lockstep::trace::test {

TEST_CASE(
    "barrier events: number, arriving and awaited threads are read from the words as they were put in") {
  const BarrierEventWords words = pack(BarrierEvents{5, 96, 4096});
  CHECK(words.base == 96 * 16 + 5);
  CHECK(words.stride == 4096);
  for (std::uint8_t barrier = 0; barrier < 16; ++barrier)
    for (const std::uint32_t arriving : {0u, 1u, 32u, 1024u, 0x0fffffffu, 0xffffffffu})
      for (const std::uint64_t awaited : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
        const BarrierEvents events{barrier, arriving, awaited};
        REQUIRE(unpack(pack(events)) == events);
      }
  // A record's affine form keeps both words as they are.
  std::array<Address, kWarpSize> lanes{};
  for (unsigned lane = 0; lane < kWarpSize; ++lane) lanes[lane] = words.base + words.stride * lane;
  std::vector<std::uint64_t> packed;
  REQUIRE(pack_addresses(0xffffffff, lanes.data(), packed) == AddressForm::kAffine);
  CHECK(unpack({packed.at(0), packed.at(1)}) == BarrierEvents{5, 96, 4096});
}

TEST_CASE("signal words: the mbarrier's number below, the ranks of the CTAs above, by lane in the last bit") {
  CHECK(signal_word(7, 0) == 7);
  CHECK(signal_word(7, 1u << 15) == 0x800000000007);
  for (const std::uint32_t mbarrier : {0u, 1u, 0xffffffffu})
    for (const std::uint32_t targets : {0u, 1u, 0x8001u, 0xffffu}) {
      const std::uint64_t word = signal_word(mbarrier, targets);
      REQUIRE(mbarrier_of(word) == mbarrier);
      REQUIRE(targets_of(word) == targets);
      REQUIRE((word & kSignalByLane) == 0);
      REQUIRE(mbarrier_of(word | kSignalByLane) == mbarrier);
      REQUIRE(targets_of(word | kSignalByLane) == targets);
    }
}

TEST_CASE("awaited signals: a word of 4 bytes and a count modulo 2^32, of an affine record alone") {
  const std::uint64_t words[] = {0x7f0000001236, 0x100000005};
  const AwaitedSignals awaited = awaited_signals(AddressForm::kAffine, words);
  CHECK(awaited.word == 0x7f0000001234);
  CHECK(awaited.signals == 5);
  for (const AddressForm form : {AddressForm::kNone, AddressForm::kList}) {
    CHECK(awaited_signals(form, words).word == 0);
    CHECK(awaited_signals(form, words).signals == 0);
  }
}

TEST_CASE("L2 policies: shares and priorities have bits of their own, and a descriptor gives them back") {
  std::set<L2Policy> all;
  for (unsigned some = 0; some < 4; ++some)
    for (const L2Priority rest : {L2Priority::kPlain, L2Priority::kFirst})
      for (unsigned sixteenths = 1; sixteenths <= kL2Sixteenths; ++sixteenths) {
        const L2Policy policy = make_l2_policy(static_cast<L2Priority>(some), rest, sixteenths);
        REQUIRE(all.insert(policy).second);
        REQUIRE(policy != kNoL2Policy);
        REQUIRE(sixteenths_of(policy) == sixteenths);
        REQUIRE(priority_of_some(policy) == static_cast<L2Priority>(some));
        REQUIRE(priority_of_rest(policy) == rest);
        REQUIRE(l2_policy_of(l2_descriptor(policy)) == policy);
      }
  CHECK(all.size() == 4 * 2 * 16);
  CHECK(l2_policy_of(0) == kNoL2Policy);
  CHECK_FALSE(l2_policy_of(std::uint64_t{1} << 59));  // createpolicy.range
}

TEST_CASE("the size of a kernel is its lines and their words, counted or stored in a compact trace") {
  for (const unsigned ctas : {3u, 40u}) {
    RandomTrace random;
    random.ctas = ctas;
    std::uint64_t lines = 0;
    for (const auto& cta : random.all_lines())
      for (const auto& warp : cta) lines += warp.size();
    const TemporaryFolder folder;
    folder.write("t/kernelslist.g", "kernel-1.traceg\n");
    folder.write("t/kernel-1.traceg", random.text());
    const auto text = open_trace(folder / "t");
    const KernelSize size = measure_kernel(*text, 0);
    CHECK(size.instructions == lines);
    CHECK(size_of(*text, 0) == size);

    (void)write_compact(*text, folder / "t.lkst");
    const auto compact = open_trace(folder / "t.lkst");
    const auto* const sized = dynamic_cast<const SizedTraceSet*>(compact.get());
    REQUIRE(sized != nullptr);
    REQUIRE(sized->size(0));
    CHECK(sized->size(0)->instructions == lines);
    CHECK(sized->size(0)->address_words <= size.address_words);  // in the shortest forms
    CHECK(size_of(*compact, 0) == *sized->size(0));
    CHECK(measure_kernel(*compact, 0) == size);
  }
}

}  // namespace lockstep::trace::test
