// Unprocessed traces: interleaved lines become the same kernel as the processed form.
#include <algorithm>
#include <random>

#include "reader_generator.hpp"
#include "trace/spill.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Catch::Matchers::Contains;

namespace {

/// The lines of all warps in a random interleaving that keeps each warp's order.
std::string interleave(const RandomTrace& trace, const std::string& more_ids = "") {
  std::mt19937 random(trace.seed + 1);
  const auto lines = trace.all_lines();
  std::vector<std::pair<unsigned, unsigned>> turns;  // CTA, warp
  for (unsigned c = 0; c < trace.ctas; ++c) {
    for (unsigned w = 0; w < trace.warps; ++w) turns.insert(turns.end(), lines[c][w].size(), {c, w});
  }
  std::shuffle(turns.begin(), turns.end(), random);
  std::vector<std::size_t> next(trace.ctas * trace.warps);
  std::string out = trace.header().text();
  for (const auto& [c, w] : turns) {
    out += std::to_string(c) + " 0 0 " + std::to_string(w) + " " + more_ids +
           lines[c][w][next[c * trace.warps + w]++] + "\n";
  }
  return out;
}

std::unique_ptr<CtaFeed> spilled(const std::string& text, std::size_t run_bytes) {
  TextStream stream(open_memory(text), "k.trace");
  KernelFile kernel = read_header(stream);
  REQUIRE_FALSE(kernel.layout.processed);
  auto source = spill_interleaved(std::move(stream), kernel, run_bytes);
  kernel.layout.leading_ids = 0;
  return make_text_feed(std::move(kernel), std::move(source), "k.trace");
}

}  // namespace

TEST_CASE("Interleaved lines give the processed trace, in one run or many") {
  RandomTrace trace;
  trace.ctas = 30;
  trace.warps = 3;
  const auto expected = read_text(trace.text());
  const std::string text = interleave(trace);
  CHECK((read_text(text) == expected));
  for (const std::size_t run : {1u, 3000u, 50000u, 1u << 24})
    CHECK((read_all(*spilled(text, run), 4) == expected));
  // Tracers that know clusters print seven numbers more.
  CHECK((read_text(interleave(trace, "0 0 0 0 0 0 0 ")) == expected));
}

TEST_CASE("CTAs come in linear order of their position in the grid") {
  HeaderText header;
  header.grid = "(2,2,2)";
  std::string text = header.text();
  for (int i = 7; i >= 0; --i) {
    text += std::to_string(i & 1) + " " + std::to_string(i >> 1 & 1) + " " + std::to_string(i >> 2) +
            " 0 00" + std::to_string(i) + "0 ffffffff 0 EXIT 0 0\n";
  }
  const auto feed = feed_of(text);
  feed->decode_now(8);
  for (std::uint32_t i = 0; i < 8; ++i) {
    const CtaTrace* cta = feed->take(i);
    CHECK(cta->id == Dim3{i & 1, i >> 1 & 1, i >> 2});
    CHECK(feed->instructions()[cta->records[0].inst()].pc == 16 * i);
  }
}

TEST_CASE("The first LDGSTS of each pair is dropped, warp by warp") {
  HeaderText header;
  header.block = "(64,1,1)";
  std::string text = header.text();
  const auto line = [&](int warp, const std::string& rest) {
    text += "0 0 0 " + std::to_string(warp) + " " + rest + "\n";
  };
  line(0, "0000 00000001 0 LDGSTS.E 2 R1 R2 4 2 0x10 0");
  line(1, "0000 00000001 0 LDGSTS.E 2 R1 R2 4 2 0x20 0");
  line(0, "0000 00000001 0 LDGSTS.E 2 R1 R2 4 2 0x7f10 0");
  line(0, "0010 00000001 1 R1 MOV 0 0 0");
  line(1, "0000 00000001 0 LDGSTS.E 2 R1 R2 4 2 0x7f20 0");
  line(0, "0000 00000001 0 LDGSTS.E 2 R1 R2 4 2 0x30 0");
  line(0, "0000 00000001 0 LDGSTS.E 2 R1 R2 4 2 0x7f30 0");
  const auto seen = read_text(text);
  REQUIRE(seen.size() == 4);
  CHECK(seen[0].addresses.at(0) == 0x7f10);
  CHECK(seen[1].mnemonic == "MOV");
  CHECK(seen[2].addresses.at(0) == 0x7f30);
  CHECK(seen[3].addresses.at(0) == 0x7f20);
  // A processed trace has been through this already.
  const std::string ldgsts = "0000 00000001 0 LDGSTS.E 2 R1 R2 4 2 0x7f10 0";
  CHECK(read_text(small_trace({ldgsts, ldgsts})).size() == 2);
}

TEST_CASE("Line numbers, line info and old tracers in interleaved traces") {
  HeaderText header;
  header.tracer = "1.2";
  header.line_info = true;
  const auto seen = read_text(header.text() + "0 0 0 0 55 0010 000000ff 1 R1 MOV 0 0\n");
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].pc == 0x10);
  CHECK(seen[0].mask == 0xff);
}

TEST_CASE("Errors in interleaved traces name the line of the file") {
  HeaderText header;
  header.grid = "(2,1,1)";
  const std::string h = header.text();
  const auto line = std::count(h.begin(), h.end(), '\n');
  const auto at = [&](std::ptrdiff_t n) { return "k.traceg:" + std::to_string(line + n) + ": "; };
  const std::string a = "0 0 0 0 0000 ffffffff 1 R1 MOV 0 0\n", b = "1 0 0 0 0000 ffffffff 1 R1 MOV 0 0\n";
  CHECK(error_of(h + a + b).empty());
  CHECK_THAT(error_of(h + a + b + "0 0 0 0 0010 ffffffff 1 X9 MOV 0 0\n"), Contains(at(3) + "found 'X9'"));
  CHECK_THAT(error_of(h + b + "0 0 0 0 0010 zz 1 R9 MOV 0 0\n" + b), Contains(at(2) + "found 'zz'"));
  CHECK_THAT(error_of(h + a + "2 0 0 0 0000 ffffffff 0 EXIT 0 0\n"),
             Contains(at(2) + "found thread block 2,0,0"));
  CHECK_THAT(error_of(h + a + "0 0 0 1 0000 ffffffff 0 EXIT 0 0\n"), Contains(at(2) + "found warp 1"));
  CHECK_THAT(error_of(h + a + "-1 0 0 0 0000 ffffffff 0 EXIT 0 0\n"), Contains(at(2) + "found '-1'"));
  CHECK_THAT(error_of(h + a + "1 0 0\n"), Contains(at(2) + "found ''; expected the numbers"));
  CHECK_THAT(error_of(h + a), Contains("ends after 1 thread blocks; expected the 2"));
  CHECK_THAT(error_of(h + b), Contains("no line is of thread block 0,0,0"));
}

TEST_CASE("Interleaved traces through open_trace leave no file behind") {
  const TemporaryFolder dir, temporary;
  RandomTrace trace;
  dir.write("kernel-1.trace", interleave(trace));
  dir.write("kernelslist", "kernel-1.trace\n");
  const char* before = std::getenv("TMPDIR");
  const std::string saved = before ? before : "";
  ::setenv("TMPDIR", temporary.path().c_str(), 1);
  {
    const auto set = open_trace(dir.path().string());
    const auto feed = set->open(0);
    CHECK(std::filesystem::is_empty(temporary.path()));
    CHECK((read_all(*feed, 3) == read_text(trace.text())));
  }
  CHECK(std::filesystem::is_empty(temporary.path()));
  before ? ::setenv("TMPDIR", saved.c_str(), 1) : ::unsetenv("TMPDIR");
}
