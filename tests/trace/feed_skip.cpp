// CTAs that will not be taken: those after them are the same, whatever was skipped and when.
#include "compact_support.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;

namespace {

/// Kernels of about 40 chunks of some CTAs each, as text and compact.
struct Traces {
  Traces() {
    RandomTrace random;
    random.ctas = 150;
    random.lines = 700;
    text_path = dir.write("kernel-1.traceg", random.text());
    compact_path = dir / "t.lst";
    write_compact(*open_trace(text_path), compact_path, {.level = 1});
    const auto feed = open_trace(compact_path)->open(0);
    feed->decode_now(random.ctas);
    for (std::uint64_t i = 0; i < random.ctas; ++i) all.push_back(warps_of(*feed->take(i)));
  }
  TemporaryFolder dir;
  std::string text_path, compact_path;
  std::vector<Warps> all;
};

TEST_CASE("Feeds: after CTAs that were skipped the next ones are as ever", "[long]") {
  const Traces traces;
  const bool compact = GENERATE(false, true);
  const std::string& path = compact ? traces.compact_path : traces.text_path;
  const std::uint64_t total = traces.all.size();
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const auto feed = open_trace(path)->open(0);
    std::vector<std::uint64_t> there;  // decoded, not taken
    std::uint64_t next = 0;
    const auto take = [&] {
      for (const std::uint64_t i : there) {
        CtaTrace* const cta = feed->take(i);
        INFO("seed " << seed << ", CTA " << i);
        REQUIRE(cta->index == i);
        if (compact) REQUIRE((warps_of(*cta) == traces.all[i]));
        feed->release(cta);
      }
      there.clear();
    };
    while (next < total) {
      const std::uint64_t step = std::min<std::uint64_t>(1 + random() % 6, total - next);
      if (random() % 2 == 0) {
        feed->decode_now(next + step);
        for (std::uint64_t i = 0; i < step; ++i) there.push_back(next++);
      } else {  // small ones and large ones; some with CTAs before them that are to be taken later
        const std::uint64_t end = std::min(total, next + (random() % 2 == 0 ? step : 8 * step));
        feed->skip(next, end);
        next = end;
      }
      if (random() % 3 == 0) take();
    }
    take();
  }
}

TEST_CASE("Feeds: of chunks that are skipped nothing is read") {
  const Traces traces;
  std::string bytes = slurp(traces.compact_path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  const std::string broken = traces.dir.write("broken.lst", bytes);
  const std::uint64_t total = traces.all.size();
  CHECK_THROWS_AS(open_trace(broken)->open(0)->decode_now(total), InputError);
  // From anywhere near the beginning to near the end; what was read ahead, the broken chunk too, is dropped.
  for (const std::uint64_t first : {1u, 20u, 40u}) {
    const auto feed = open_trace(broken)->open(0);
    feed->decode_now(first);
    feed->skip(first, total - 20);
    feed->decode_now(total);
    for (std::uint64_t i = total - 20; i < total; ++i) REQUIRE((warps_of(*feed->take(i)) == traces.all[i]));
    for (std::uint64_t i = 0; i < first; ++i) REQUIRE((warps_of(*feed->take(i)) == traces.all[i]));
  }
}

}  // namespace
