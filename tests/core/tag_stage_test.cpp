// The tag stage in front of an L1, without the queues of a load/store unit: when each line is looked up.
#include "core/tag_stage.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "lookup_bench.hpp"
#include "util/bits.hpp"

namespace lockstep::core::test {
namespace {

constexpr Cycle kRest = 17;  // from a hit's look-up to its result
constexpr Address kBlock = 2 << 20;

config::GpuConfig tag_config(std::uint32_t tags_per_cycle, std::uint32_t translation = 0) {
  config::GpuConfig c = lsu_config();
  c.l1.tags_per_cycle = tags_per_cycle;
  c.tlb.miss_latency = translation;
  return c;
}

class TagBench : public LookupBench {
 public:
  explicit TagBench(const config::GpuConfig& c)
      : LookupBench(c),
        translator(c.tlb.miss_latency > 0 ? std::make_unique<Translator>(c, fabric, nullptr, kSm) : nullptr),
        stage(c.l1.tags_per_cycle, kRest, l1, results, translator.get(), counters) {}

  std::unique_ptr<Translator> translator;
  TagStage stage;

  /// An operation with all sectors of these lines.
  void begin(std::uint32_t handle, const std::vector<Address>& lines, LineKind kind = LineKind::kCachedLoad,
             bool local = false, Cycle last_wavefront = 0, std::uint16_t extra = 0) {
    LsuAccess access;
    access.kind = kind;
    access.handle = handle;
    access.local = local;
    access.extra = extra;
    stage.lines().count = static_cast<unsigned>(lines.size());
    for (unsigned i = 0; i < lines.size(); ++i) {
      stage.lines().line[i] = {lines[i], 0xf, 1};
      stage.lines().bytes[i].fill(0xffffffff);
    }
    stage.begin(now, access, last_wavefront);
  }
  void cycle() {
    next_cycle();
    if (translator) translator->receive(now);
    if (stage.active()) stage.go_on(now);
  }
  /// Until everything asked for has been replied to.
  void settle() {
    do {
      cycle();
      if (!asked.empty()) reply(0, asked[0].sectors);
    } while (stage.active() || !results.idle() || port.queued() > 0);
    cycle();
  }
};

std::vector<Address> lines_from(Address first, unsigned count) {
  std::vector<Address> lines;
  for (unsigned i = 0; i < count; ++i) lines.push_back(first + kLineBytes * i);
  return lines;
}

TEST_CASE("lines that hit are looked up at the rate of the tags, and the result follows the last one") {
  for (const unsigned tags : {1u, 2u, 3u, 4u})
    for (const unsigned count : {1u, 2u, 5u, 12u, 32u})
      for (const Cycle wavefronts : {Cycle{0}, Cycle{9}}) {
        CAPTURE(tags, count, wavefronts);
        TagBench bench(tag_config(tags));
        bench.begin(0, lines_from(kData, count));
        bench.settle();
        const Cycle from = bench.now, tag_cycles = (count + tags - 1) / tags;
        bench.begin(1, lines_from(kData, count), LineKind::kCachedLoad, false, from + wavefronts, 3);
        while (bench.stage.active()) {
          REQUIRE(bench.stage.free_from(bench.now) == kNever);
          REQUIRE(bench.stage.can_go_on(true));
          bench.cycle();
        }
        CHECK(bench.now == from + tag_cycles - 1);
        CHECK(bench.stage.free_from(bench.now) == (count % tags == 0 ? bench.now + 1 : 0));
        bench.settle();
        CHECK(bench.ended_at.at(1) == from + std::max(tag_cycles - 1, wavefronts) + kRest + 3);
        CHECK(bench.counters[0].l1.hits == count * kSectorsPerLine);
      }
}

TEST_CASE("the next operation has what the one before has left of a cycle's look-ups") {
  TagBench bench(tag_config(3));
  bench.begin(0, lines_from(kData, 6));
  bench.settle();
  bench.begin(1, lines_from(kData, 2));
  CHECK_FALSE(bench.stage.active());
  CHECK(bench.stage.free_from(bench.now) <= bench.now);
  bench.begin(2, lines_from(kData, 6));  // one in this cycle, three and two in the next ones
  const Cycle from = bench.now;
  while (bench.stage.active()) bench.cycle();
  CHECK(bench.now == from + 2);
  CHECK(bench.stage.free_from(bench.now) <= bench.now);
}

TEST_CASE("a line that finds the port full holds up those behind it, as long as the port takes for one") {
  for (const LineKind kind : {LineKind::kCachedLoad, LineKind::kStore}) {
    constexpr unsigned kLines = 8;
    config::GpuConfig c = tag_config(4);
    c.icnt.sm_queue_entries = 1;
    TagBench bench(c);
    const Cycle from = bench.now;
    bench.begin(0, lines_from(kData, kLines), kind);
    std::string text;
    bench.stage.dump(text);
    CHECK(text == ", line 1 of 8, waiting for the port");
    CHECK_FALSE(bench.stage.stands_aside());
    CHECK_FALSE(bench.stage.can_go_on(true));
    CHECK(bench.stage.can_go_on(false));
    while (bench.stage.active()) bench.cycle();
    // The first leaves in its own cycle; from the second on each waits for the one before to have left.
    const Cycle flits = icnt::Fabric::flits(kind == LineKind::kStore ? 4 : 0, c.icnt.sm_out_bytes);
    CHECK(bench.now - from == 1 + (kLines - 2) * flits);
    CHECK(bench.stage.backpressure_cycles() == bench.now - from);
    for (int i = 0; i < 200; ++i) bench.cycle();
    REQUIRE(bench.asked.size() == kLines);
    for (unsigned i = 0; i < kLines; ++i) CHECK(bench.asked[i].line == kData + kLineBytes * i);
  }
}

TEST_CASE("an operation that lacks a pending entry stands aside until a reply frees one") {
  config::GpuConfig c = tag_config(1);
  c.l1.pending_instructions = 1;
  TagBench bench(c);
  bench.begin(0, {kData});
  while (bench.asked.empty()) bench.cycle();
  const Cycle from = bench.now;
  bench.begin(1, {kData + kLineBytes});
  CHECK(bench.stage.stands_aside());
  CHECK_FALSE(bench.stage.can_go_on(false));
  std::string text;
  bench.stage.dump(text);
  CHECK(text == ", line 0 of 1, waiting for a miss register or pending entry");
  for (int i = 0; i < 50; ++i) bench.cycle();
  CHECK(bench.asked.size() == 1);
  bench.reply(0, 0x7);
  bench.cycle();
  CHECK(bench.stage.active());  // a sector of the first one is still on its way
  bench.reply(0, 0x8);
  bench.cycle();
  CHECK_FALSE(bench.stage.active());
  CHECK(bench.stage.backpressure_cycles() == bench.now - from);
  text.clear();
  bench.stage.dump(text);
  CHECK(text.empty());
  bench.settle();
  CHECK(bench.ended.size() == 2);
}

TEST_CASE("lines of unknown blocks are parked without holding up the others, and tried again as tags allow") {
  TagBench bench(tag_config(2, 300));
  bench.translator->learn(kData + kBlock);
  const Cycle from = bench.now;
  // Unknown, known, unknown, and unknown like the first.
  bench.begin(0, {kData, kData + kBlock, kData + 2 * kBlock, kData + kLineBytes});
  bench.cycle();
  CHECK_FALSE(bench.stage.active());
  CHECK(bench.counters[0].tlb_waits == 3);
  while (bench.now < from + 300) bench.cycle();
  REQUIRE(bench.asked.size() == 1);
  CHECK(bench.asked[0].line == kData + kBlock);
  bench.reply(0, 0xf);
  CHECK_FALSE(bench.results.idle());

  // Both lines of the first block, and in the next cycle the other one.
  for (const Address line : {kData, kData + kLineBytes}) {
    REQUIRE(bench.translator->has_work());
    CHECK(bench.translator->line().access.line == line);
    CHECK(bench.stage.look_up_again(bench.now, bench.translator->line()));
    bench.translator->line_done();
  }
  bench.cycle();
  REQUIRE(bench.translator->has_work());
  const ParkedLine last = bench.translator->line();
  bench.begin(1, {kData + kBlock});  // a hit, so that one look-up is left
  CHECK(bench.stage.look_up_again(bench.now, last));
  CHECK_FALSE(bench.stage.look_up_again(bench.now, last));
  bench.translator->line_done();
  bench.settle();
  CHECK(bench.ended.at(0) == MioEvent::Kind::kResult);
  CHECK(bench.ended_at.at(0) > bench.ended_at.at(1));
}

TEST_CASE("a parked line does not pass an operation that can go on, and local memory is never parked") {
  TagBench bench(tag_config(1, 300));
  bench.begin(0, {kData});
  CHECK(bench.counters[0].tlb_waits == 1);
  while (!bench.translator->has_work()) bench.cycle();
  const ParkedLine line = bench.translator->line();
  bench.cycle();
  bench.begin(1, lines_from(kData + 5 * kBlock, 4), LineKind::kCachedLoad, true);
  CHECK(bench.counters[0].tlb_waits == 1);
  for (int i = 0; i < 3; ++i) {
    CHECK(bench.stage.active());
    CHECK_FALSE(bench.stage.look_up_again(bench.now, line));
    bench.cycle();
  }
  CHECK_FALSE(bench.stage.active());
  CHECK_FALSE(bench.stage.look_up_again(bench.now, line));  // the cycle's look-up is used
  bench.cycle();
  CHECK(bench.stage.look_up_again(bench.now, line));
}

TEST_CASE("a line that misses the TLB and finds the table full is parked once there is an entry") {
  config::GpuConfig c = tag_config(1, 300);
  c.l1.pending_instructions = 1;
  TagBench bench(c);
  bench.translator->learn(kData);
  bench.begin(0, {kData});
  while (bench.asked.empty()) bench.cycle();
  bench.begin(1, {kData + kBlock});
  CHECK(bench.stage.active());
  CHECK(bench.stage.stands_aside());
  for (int i = 0; i < 400; ++i) bench.cycle();
  CHECK_FALSE(bench.translator->has_work());  // it has not been parked, so nothing was asked for
  const Cycle freed = bench.now;
  bench.reply(0, 0xf);
  bench.cycle();
  CHECK_FALSE(bench.stage.active());
  CHECK(bench.counters[0].tlb_waits == 1);
  while (!bench.translator->has_work()) bench.cycle();
  CHECK(bench.now == freed + 1 + 300);
}

TEST_CASE("a parked line waits for an operation that is held up by the port alone") {
  config::GpuConfig c = tag_config(4, 300);
  c.icnt.sm_queue_entries = 1;
  TagBench bench(c);
  bench.begin(0, {kData, kData});  // the second one hits what the first one brings
  while (!bench.translator->has_work()) bench.cycle();
  REQUIRE(bench.stage.look_up_again(bench.now, bench.translator->line()));
  bench.translator->line_done();
  while (bench.asked.empty()) bench.cycle();
  bench.reply(0, 0xf);
  const ParkedLine second = bench.translator->line();
  bench.cycle();
  bench.begin(1, lines_from(kData + kLineBytes, 4));
  REQUIRE(bench.stage.active());
  CHECK_FALSE(bench.stage.look_up_again(bench.now, second));
  while (bench.stage.active()) bench.cycle();
  bench.cycle();
  CHECK(bench.stage.look_up_again(bench.now, second));
}

}  // namespace
}  // namespace lockstep::core::test
