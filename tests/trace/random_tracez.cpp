// Random kernels in every stored form give the same instructions, and what a naive parser reads from their
// text.
#include <set>

#include "compact_support.hpp"
#include "trace/tracez.hpp"
#include "tracez_writer.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;

namespace {

RandomTrace trace_of(std::uint32_t seed) {
  RandomTrace trace;
  trace.seed = seed;
  trace.ctas = 1 + seed % 9;
  trace.warps = 1 + seed % 4;
  trace.lines = 5 + seed * 7 % 40;
  return trace;
}

}  // namespace

TEST_CASE("Random kernels as text, .tracez and compact trace are the same, and what a naive parser reads") {
  for (std::uint32_t seed = 0; seed < 24; ++seed) {
    CAPTURE(seed);
    const TemporaryFolder dir;
    const std::string text = trace_of(seed).text();
    std::istringstream in(text);
    const std::vector<Seen> expected = naive_parse(in);
    REQUIRE((read_text(text) == expected));
    const TracezOptions options{
        .subchunk = seed % 5 == 0 ? 0 : 1 + seed % 11, .dictionary = false, .cluster = 1};
    const std::string tracez = dir.write("kernel-1.tracez", tracez_of(text, options));
    require_same_kernel(*feed_of(text), *open_tracez(tracez));
    REQUIRE((read_all(*open_tracez(tracez), 1 + seed % 3) == expected));
    const std::string first = dir / "first.lst", second = dir / "second.lst", third = dir / "third.lst";
    write_compact(*open_trace(tracez), first, {.level = 1});
    REQUIRE((read_all(*open_trace(first)->open(0), 4) == expected));
    // A compact trace converted again keeps its bytes, from level to level but for the compression.
    write_compact(*open_trace(first), second, {.level = 1});
    CHECK(slurp(first) == slurp(second));
    write_compact(*open_trace(second), third, {.level = 19});
    require_same_trace(*open_trace(first), *open_trace(third));
  }
}

TEST_CASE(
    "A warp shares the records of the one before it exactly where they are the same; words are its own") {
  Random random(9);
  unsigned shared = 0, own = 0;
  for (int round = 0; round < 60; ++round) {
    const unsigned warps = 2 + random() % 6;
    // Which of three programs each warp runs; their loads have other addresses in every warp.
    std::vector<unsigned> programs(warps);
    std::string body;
    for (unsigned w = 0; w < warps; ++w) {
      programs[w] = random() % 3;
      std::vector<std::string> lines;
      for (unsigned i = 0; i <= programs[w]; ++i) {
        char load[96];
        std::snprintf(load, sizeof load, "%04x ffffffff 1 R2 LDG.E 1 R4 4 1 0x%x 4 0", 16 * i,
                      0x1000 + 128 * w);
        lines.emplace_back(load);
      }
      body += warp_text(w, lines);
    }
    HeaderText header;
    header.block = "(" + std::to_string(32 * warps) + ",1,1)";
    const auto feed = feed_of(header.text() + block_text("0,0,0", body));
    feed->decode_now(1);
    const CtaTrace& cta = *feed->take(0);
    REQUIRE(cta.warps.size() == warps);
    std::set<std::uint32_t> words;
    std::size_t records = programs[0] + 1;
    for (unsigned w = 0; w < warps; ++w) {
      REQUIRE(cta.warps[w].record_count == programs[w] + 1);
      words.insert(cta.warps[w].first_word);
      REQUIRE(cta.words[cta.warps[w].first_word] == 0x1000 + 128 * w);
      if (w == 0) continue;
      const bool same = programs[w] == programs[w - 1];
      REQUIRE((cta.warps[w].first_record == cta.warps[w - 1].first_record) == same);
      ++(same ? shared : own);
      if (!same) records += programs[w] + 1;
    }
    CHECK(cta.records.size() == records);
    CHECK(words.size() == warps);
  }
  CHECK((shared > 20 && own > 20));
}
