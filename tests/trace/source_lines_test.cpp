// Lines of the source that traces name: kept with the instructions, by the compact format too.
#include "compact_support.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;

namespace {

/// Lines of tracer 4 and 5 begin with the line of the source.
std::string lined_trace() {
  HeaderText header;
  header.tracer = "5";
  header.line_info = true;
  return small_trace({"12 0000 ffffffff 1 R1 MOV 0 0", "13 0010 ffffffff 1 R2 LDG.E 1 R4 4 1 0x10 4",
                      "9 0020 ffffffff 1 R3 FADD 2 R1 R2 0", "13 0010 ffffffff 1 R2 LDG.E 1 R4 4 1 0x90 4",
                      "0 0030 ffffffff 0 EXIT 0 0"},
                     header);
}

std::vector<std::uint32_t> lines_of(CtaFeed& feed) {
  feed.decode_now(1);
  std::vector<std::uint32_t> lines;
  for (std::uint32_t i = 0; i < feed.instructions().size(); ++i) lines.push_back(feed.traced(i).source_line);
  return lines;
}

const std::vector<std::uint32_t> kLines{12, 13, 9, 0};

}  // namespace

TEST_CASE("Each instruction of a text trace has the line that its lines begin with") {
  CHECK(lines_of(*feed_of(lined_trace())) == kLines);
  CHECK(lines_of(*feed_of(small_trace({"0000 ffffffff 0 EXIT 0 0"}))) == std::vector<std::uint32_t>{0});
}

TEST_CASE("A compact trace keeps lines, and says by its version that it has them") {
  const TemporaryFolder dir;
  const auto set = open_trace(dir.write("kernel-1.traceg", lined_trace()));
  const std::string out = dir / "t.lst", again = dir / "again.lst";
  write_compact(*set, out);
  CHECK(slurp(out)[8] == 4);  // as kernels have their size
  CHECK(size_of(*open_trace(out), 0) == measure_kernel(*set, 0));
  const auto compact = open_trace(out);
  require_same_trace(*set, *compact);
  CHECK(lines_of(*compact->open(0)) == kLines);
  write_compact(*compact, again);
  CHECK((slurp(again) == slurp(out)));
  write_compact(*open_trace(dir.write("plain.traceg", RandomTrace{}.text())), out);
  CHECK(open_trace(out)->kernels()[0].line_info == false);
}

TEST_CASE("An instruction table keeps files and lines, and without them is as it was in version 1") {
  const TracedInstruction code[] = {{0, "1 R1 MOV 0 0", 0, "/home/me/a.cu", 4000000000},
                                    {16, "1 R2 MOV 0 0", 0, "b.cuh", 1},
                                    {32, "1 R1 MOV 0 0", 0, "/home/me/a.cu", 2},
                                    {48, "0 EXIT 0 0", 0, {}, 7},
                                    {64, "0 EXIT 0 0", 0, {}, 0}};
  Bytes bytes;
  encode_table(
      5, [&](std::uint32_t i) { return code[i]; }, bytes);
  const TracedTable table = decode_table(bytes);
  REQUIRE(table.entries.size() == 5);
  CHECK(table.files == std::vector<std::string>{"/home/me/a.cu", "b.cuh"});
  for (std::uint32_t i = 0; i < 5; ++i) {
    CHECK(table[i].source_file == code[i].source_file);
    CHECK(table[i].source_line == code[i].source_line);
    CHECK(table[i].pc == code[i].pc);
  }
  Bytes plain;
  encode_table(
      5,
      [&](std::uint32_t i) {
        return TracedInstruction{code[i].pc, code[i].text, code[i].immediate, {}, 0};
      },
      plain);
  // By hand from docs/trace-format.md: 3 texts, 5 instructions, the texts, differences of PCs, texts'
  // numbers, immediates.
  Bytes expected{3, 5};
  for (const std::string text : {"1 R1 MOV 0 0", "1 R2 MOV 0 0", "0 EXIT 0 0"}) {
    expected.push_back(static_cast<std::uint8_t>(text.size()));
    expected.insert(expected.end(), text.begin(), text.end());
  }
  for (const int byte : {0, 0, 0, 0, 0, 0, 1, 0, 2, 2, 0, 0, 0, 0, 0})
    expected.push_back(static_cast<std::uint8_t>(byte));
  CHECK(plain == expected);
}
