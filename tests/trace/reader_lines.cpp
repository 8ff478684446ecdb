// Instruction lines and the structure around them: what is read, and the error for everything else.
#include <algorithm>

#include "reader_support.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Catch::Matchers::Contains;

namespace {

StaticInst only_inst(const std::string& line, const HeaderText& header = {}) {
  const auto feed = feed_of(small_trace({line}, header));
  read_all(*feed);
  REQUIRE(feed->instructions().size() == 1);
  return feed->instructions()[0];
}

bool has(const StaticInst& inst, RegSpace space, unsigned reg) {
  return std::any_of(inst.sources.begin(), inst.sources.end(), [&](const RegisterRange& r) {
    return r.space == space && r.first <= reg && reg < unsigned{r.first} + r.count;
  });
}

}  // namespace

TEST_CASE("The three address encodings") {
  const auto seen = read_text(small_trace({
      "0000 00000007 1 R2 LDG.E 1 R4 4 0 0x10 20 0x00007fc841520000 9",
      "0010 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7fc841520000 -4 0",
      "0020 0000000f 1 R2 LDG.E 1 R4 4 2 0x100 8 -24 4 77",
      "0030 00000100 1 R2 LDG.E 1 R4 4 2 0x100",
      "0040 00000100 1 R2 LDG.E 1 R4 4 2 0x100 5",
      "0050 00000000 1 R2 LDG.E 1 R4 4 2 0x0",
      "0060 00000000 1 R2 LDG.E 1 R4 4 1 0x0 0 3",
      "0070 00000000 1 R2 LDG.E 1 R4 4 0",
      "0080 00000029 1 R2 LDG.E 1 R4 4 1 0x1000 16",
  }));
  using Map = std::map<int, Address>;
  REQUIRE(seen.size() == 9);
  CHECK(seen[0].addresses == Map{{0, 0x10}, {1, 0x20}, {2, 0x7fc841520000}});
  CHECK(seen[1].addresses.at(31) == 0x7fc841520000 - 124);
  CHECK(seen[2].addresses == Map{{0, 0x100}, {1, 0x108}, {2, 0xf0}, {3, 0xf4}});
  CHECK(seen[3].addresses == Map{{8, 0x100}});
  CHECK(seen[4].addresses == Map{{8, 0x100}});
  for (int i = 5; i < 8; ++i) CHECK(seen[static_cast<std::size_t>(i)].addresses.empty());
  // Lanes behind a gap continue the stride.
  CHECK(seen[8].addresses == Map{{0, 0x1000}, {3, 0x1030}, {5, 0x1050}});
}

TEST_CASE("Registers of all four spaces, and up to eight sources") {
  const StaticInst inst = only_inst("0000 ffffffff 0 FROB 4 R3 UR4 P2 UP1 0 0");
  CHECK(has(inst, RegSpace::kVector, 3));
  CHECK(has(inst, RegSpace::kUniform, 4));
  CHECK(has(inst, RegSpace::kPredicate, 2));
  CHECK(has(inst, RegSpace::kUniformPredicate, 1));
  const StaticInst ten = only_inst("0000 ffffffff 0 FROB 10 R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 0");
  CHECK(has(ten, RegSpace::kVector, 8));
  CHECK_FALSE(has(ten, RegSpace::kVector, 9));
  CHECK_THAT(error_of(small_trace({"0000 ffffffff 5 R1 R2 R3 R4 R5 FROB 0 0"})), Contains("at most 4"));
  CHECK_THAT(error_of(small_trace({"0000 ffffffff 1 X1 MOV 0 0"})), Contains("'X1'; expected a register"));
}

TEST_CASE("Immediates distinguish instructions only where they matter") {
  const auto feed = feed_of(small_trace({
      "0000 ffffffff 0 DEPBAR.LE 0 0 1",
      "0000 ffffffff 0 DEPBAR.LE 0 0 2",
      "0000 ffffffff 0 DEPBAR.LE 0 0 1",
      "0010 ffffffff 1 R0 MOV 0 0 5",
      "0010 ffffffff 1 R0 MOV 0 0 6",
      "0020 ffffffff 0 NANOSLEEP 0 0 100",
      "0020 ffffffff 0 NANOSLEEP 0 0 200",
      "0030 ffffffff 0 DEPBAR.LE 0 0",
      "0040 ffffffff 1 R0 MOV 0 0 18446744073709551615",
      "0050 ffffffff 1 R0 MOV 0 0 -9223372036854775808",
  }));
  feed->decode_now(1);
  const CtaTrace* cta = feed->take(0);
  std::vector<std::uint32_t> index;
  for (const Record& record : cta->records) index.push_back(record.inst());
  CHECK(index == std::vector<std::uint32_t>{0, 1, 0, 2, 2, 3, 4, 5, 6, 7});
  CHECK(feed->instructions()[0].immediate == 1);
  CHECK(feed->instructions()[1].immediate == 2);
  CHECK(feed->instructions()[4].immediate == 200);
}

TEST_CASE("Tracer versions: leading numbers before 3, line numbers when the header says so") {
  HeaderText v1;
  v1.tracer = "1.2";
  CHECK(read_text(small_trace({"5 6 7 3 0010 000000ff 1 R2 MOV 0 0"}, v1))[0].mask == 0xff);
  HeaderText v2 = v1;
  v2.tracer = "2";
  v2.line_info = true;
  CHECK(read_text(small_trace({"0 0 0 0 123 0010 000000ff 1 R2 MOV 0 0"}, v2))[0].pc == 0x10);
  for (const char* version : {"3", "4", "5"}) {
    HeaderText header;
    header.tracer = version;
    CHECK(read_text(small_trace({"0010 000000ff 1 R2 MOV 0 0"}, header))[0].mask == 0xff);
    header.line_info = true;
    const auto seen = read_text(small_trace({"77 0010 000000ff 1 R2 LDG 1 R2 4 1 0x10 4 8"}, header));
    CHECK(seen[0].pc == 0x10);
    CHECK(seen[0].addresses.at(7) == 0x10 + 28);
  }
  // The first tracer printed addresses without an encoding, and said so in its format line.
  HeaderText first = v1;
  first.format = "#traces format = threadblock_x ... mem_width mem_addresses\n";
  CHECK(read_text(small_trace({"0 0 0 0 0010 00000003 1 R2 LDG 1 R2 4 0x10 0x20"}, first))[0].addresses.at(
            1) == 0x20);
}

TEST_CASE("Line ends, blank lines, comments and spacing do not matter") {
  const std::vector<std::string> lines{"0000 ffffffff 1 R1 MOV 0 0 0", "0010 ffffffff 0 EXIT 0 0 0"};
  const std::string text = small_trace(lines);
  const auto expected = read_text(text);
  REQUIRE(expected.size() == 2);
  std::string crlf, spaced;
  for (const char c : text) {
    if (c == '\n') crlf += '\r';
    crlf += c;
    spaced += c == '\n' ? " \n\n# remark\n" : std::string(1, c);
  }
  CHECK(read_text(crlf) == expected);
  CHECK(read_text(text.substr(0, text.size() - 1)) == expected);
  CHECK(read_text(crlf.substr(0, crlf.size() - 2)) == expected);
  CHECK(read_text(text + "\n\n# end") == expected);
  CHECK(read_text(small_trace({"  0000\tffffffff  1 R1 MOV 0 0  ", "10 0xffffffff 0 EXIT 0 0"})) == expected);
  HeaderText header;
  header.format = "";  // the first '#' line is then #BEGIN_TB
  CHECK(read_text(small_trace(lines, header)) == expected);
  // Newer tracers print cluster numbers in each thread block.
  CHECK(read_text(header.text() + block_text("0,0,0", "cluster id = 0,0,0\n" + warp_text(0, lines))) ==
        expected);
}

TEST_CASE("EXIT may be partial, empty or missing; a warp may have no instructions") {
  HeaderText header;
  header.block = "(80,1,1)";
  const auto seen =
      read_text(header.text() +
                block_text("0,0,0", warp_text(2, {"0000 0000ffff 0 EXIT 0 0"}) +
                                        warp_text(0, {"0000 ffffffff 1 R1 MOV 0 0"}) + warp_text(1, {})));
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].warp == 0);
  CHECK(seen[1].warp == 2);
  CHECK(read_text(small_trace({"0000 00000000 0 EXIT 0 0"})).size() == 1);
}

TEST_CASE("Broken lines give one error with file, line and expectation") {
  const auto error = [](const std::string& line) { return error_of(small_trace({line})); };
  CHECK_THAT(error("zzzz ffffffff 1 R1 MOV 0 0"), Contains("'zzzz'; expected a PC"));
  CHECK_THAT(error("100000000 ffffffff 1 R1 MOV 0 0"), Contains("PC of at most 32 bits"));
  CHECK_THAT(error("-10 ffffffff 1 R1 MOV 0 0"), Contains("'-10'; expected a PC"));
  CHECK_THAT(error("0000 1ffffffff 1 R1 MOV 0 0"), Contains("active mask of 32 bits"));
  CHECK_THAT(error("0000 ffffffff -1 R1 MOV 0 0"), Contains("'-1'; expected the number of destination"));
  CHECK_THAT(error("0000 ffffffff 99999 R1 MOV 0 0"), Contains("number of destination"));
  CHECK_THAT(error("0000 ffffffff 1"), Contains("line ends here; expected a register"));
  CHECK_THAT(error("0000 ffffffff 0"), Contains("expected an opcode"));
  CHECK_THAT(error("0000 ffffffff 0 MOV"), Contains("number of source"));
  CHECK_THAT(error("0000 ffffffff 0 MOV 0"), Contains("memory width"));
  CHECK_THAT(error("0000 ffffffff 0 LDG 0 99999999999999999999"), Contains("memory width"));
  CHECK_THAT(error("0000 ffffffff 0 LDG 0 4"), Contains("encoding"));
  CHECK_THAT(error("0000 ffffffff 0 LDG 0 4 3 0x10"), Contains("'3'; expected address encoding"));
  CHECK_THAT(error("0000 ffffffff 0 LDG 0 4 11 0x10"), Contains("encoding"));
  CHECK_THAT(error("0000 00000003 0 LDG 0 4 0 0x10"), Contains("address of 64 bits for each active lane"));
  CHECK_THAT(error("0000 00000001 0 LDG 0 4 0 0x11112222333344445"), Contains("address of 64 bits"));
  CHECK_THAT(error("0000 00000003 0 LDG 0 4 1 0x10"), Contains("stride"));
  CHECK_THAT(error("0000 00000003 0 LDG 0 4 1 0x10 0x4"), Contains("stride"));
  CHECK_THAT(error("0000 00000003 0 LDG 0 4 2 0x10"), Contains("delta"));
  CHECK_THAT(error("0000 00000003 0 LDG 0 4 2 0x10 99999999999999999999"), Contains("delta"));
  CHECK_THAT(error("0000 00000001 0 LDG 0 4 2 0x10 1 2"), Contains("end of the line"));
  CHECK_THAT(error("0000 ffffffff 0 MOV 0 0 xyz"), Contains("immediate"));
  CHECK_THAT(error("0000 ffffffff 0 MOV 0 0 1 2"), Contains("end of the line"));
  CHECK_THAT(error(std::string("0000 ffffffff 0 \x01\xff", 18) + " 0 x"), Contains("expected"));
  CHECK_THAT(error("0000 ffffffff 0 MOV 0 0" + std::string(70000, ' ')), Contains("longer than 65536"));
  CHECK_THAT(error(std::string(700000, '1')), Contains("longer than 65536"));
}

TEST_CASE("Errors name the line") {
  HeaderText header;
  const std::string text = small_trace({"0000 ffffffff 1 R1 MOV 0 0", "0010 ffffffff 1 R1 MOV 0 bad"});
  const std::string before = text.substr(0, text.find("0010 ffffffff"));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  CHECK_THAT(error_of(text), Contains("k.traceg:" + std::to_string(line) + ": found 'bad'"));
}

TEST_CASE("Counts, warps, masks and thread blocks must agree with the header") {
  const std::string mov = "0000 ffffffff 1 R1 MOV 0 0";
  HeaderText two;
  two.grid = "(2,1,1)";
  HeaderText wide;
  wide.block = "(48,1,1)";
  const std::string good = block_text("0,0,0", warp_text(0, {mov}));
  const std::string h = HeaderText{}.text();
  const auto body = [&](const std::string& b) { return error_of(h + b); };

  CHECK_THAT(error_of(two.text() + good),
             Contains("ends after 1 thread blocks; expected the 2 of grid (2,1,1)"));
  CHECK_THAT(body(""), Contains("ends after 0 thread blocks"));
  CHECK_THAT(body(good + good), Contains("after the last of the grid's 1 thread blocks"));
  CHECK_THAT(body(good + "junk"), Contains("'junk' after the last"));
  CHECK_THAT(body(block_text("1,0,0", warp_text(0, {mov}))), Contains("inside the grid (1,1,1)"));
  CHECK_THAT(body(block_text("0,0", warp_text(0, {mov}))), Contains("thread block = x,y,z"));
  CHECK_THAT(body(block_text("0,-1,0", warp_text(0, {mov}))), Contains("thread block = x,y,z"));
  CHECK_THAT(body(block_text("0,0,0", warp_text(1, {mov}))), Contains("found warp '1'; expected 0 to 0"));
  CHECK_THAT(body(block_text("0,0,0", warp_text(0, {mov}) + warp_text(0, {mov}))), Contains("occurs twice"));
  CHECK_THAT(body(block_text("0,0,0", "")), Contains("has no 'warp = 0'"));
  CHECK_THAT(body(block_text("0,0,0", "warp = 0\ninsts = 2\n" + mov + "\n")),
             Contains("1 instructions; expected the 2"));
  CHECK_THAT(body(block_text("0,0,0", "warp = 0\ninsts = 1\n" + mov + "\n" + mov + "\n")),
             Contains("more than the 1"));
  CHECK_THAT(body(block_text("0,0,0", "warp = 0\ninsts = -1\n")), Contains("instruction count '-1'"));
  CHECK_THAT(body(block_text("0,0,0", "warp = 0\ninsts = 99999999999999\n")), Contains("instruction count"));
  CHECK_THAT(body(block_text("0,0,0", "warp = 0\n" + mov + "\n")),
             Contains("expected 'insts = N' for warp 0"));
  CHECK_THAT(body(block_text("0,0,0", "insts = 1\n" + mov + "\n")), Contains("expected 'warp = N' before"));
  CHECK_THAT(body("#BEGIN_TB\nwarp = 0\n"), Contains("expected 'thread block"));
  CHECK_THAT(body("#BEGIN_TB\n#BEGIN_TB\n"), Contains("inside a thread block"));
  CHECK_THAT(body("#END_TB\n"), Contains("expected '#BEGIN_TB'"));
  CHECK_THAT(body(good.substr(0, good.find("#END_TB"))), Contains("expected '#END_TB'"));
  CHECK_THAT(body("\nthread block = 0,0,0\n"), Contains("expected '#BEGIN_TB'"));
  const std::string masked = warp_text(0, {mov}) + warp_text(1, {"0000 0001ffff 1 R1 MOV 0 0"});
  CHECK_THAT(error_of(wide.text() + block_text("0,0,0", masked)), Contains("lanes within 0000ffff"));
}

TEST_CASE("Unknown opcodes are counted; with strict they are an error") {
  const std::vector<std::string> lines{"0000 ffffffff 1 R1 XYZZY.A 0 0", "0010 ffffffff 1 R1 FROB 0 0",
                                       "0000 ffffffff 1 R1 XYZZY.A 0 0", "0020 ffffffff 1 R1 MOV 0 0"};
  const auto feed = feed_of(small_trace(lines));
  read_all(*feed);
  const std::vector<std::pair<std::string, std::uint64_t>> expected{{"FROB", 1}, {"XYZZY", 2}};
  CHECK(feed->notes().unknown_opcodes == expected);
  FeedOptions strict;
  strict.strict = true;
  CHECK_THAT(error_of(small_trace(lines), strict), Contains("'XYZZY.A' is not known"));
  CHECK(error_of(small_trace({lines[3]}), strict).empty());
}

TEST_CASE("Functions that are called get code ranges of their own") {
  const auto pcs = [](const std::vector<std::string>& lines) {
    std::vector<std::uint64_t> out;
    for (const Seen& seen : read_text(small_trace(lines))) out.push_back(seen.pc);
    return out;
  };
  const std::string call = "0010 ffffffff 0 CALL.ABS.NOINC 0 0", ret = "0010 ffffffff 0 RET.ABS.NODEC 0 0";
  const auto traced = pcs({"0000 ffffffff 1 R1 MOV 0 0", call, "0000 ffffffff 1 R1 FADD 1 R2 0", ret,
                           "0020 ffffffff 1 R1 MOV 0 0"});
  CHECK(traced[0] == 0);
  CHECK(traced[1] == 0x10);
  CHECK(traced[2] > 1u << 20);
  CHECK(traced[3] == traced[2] + 0x10);
  CHECK(traced[4] == 0x20);
  // A subroutine inside the kernel, and a callee that was not traced, stay in the kernel's range.
  CHECK(pcs({call, "0400 ffffffff 1 R1 FADD 1 R2 0", "0410 ffffffff 0 RET 0 0",
             "0020 ffffffff 1 R1 MOV 0 0"}) == std::vector<std::uint64_t>{0x10, 0x400, 0x410, 0x20});
  CHECK(pcs({call, "0020 ffffffff 1 R1 MOV 0 0", "0030 ffffffff 0 RET 0 0"}) ==
        std::vector<std::uint64_t>{0x10, 0x20, 0x30});
  // Lanes that did not call stay where they are.
  const auto split =
      pcs({"0010 0000ffff 0 CALL.ABS 0 0", "0000 0000ffff 1 R1 FADD 1 R2 0", "0020 ffff0000 1 R1 MOV 0 0",
           "0010 0000ffff 0 RET 0 0", "0030 ffffffff 1 R1 MOV 0 0"});
  CHECK(split[1] > 1u << 20);
  CHECK(split[2] == 0x20);
  CHECK(split[3] == split[1] + 0x10);
  CHECK(split[4] == 0x30);
}

TEST_CASE("Behind a store's immediate may stand its data, which change nothing") {
  const std::string store = "0000 00000003 0 STG.E 2 R2 R4 4 1 0x7f0000000000 4 0";
  const auto plain = read_text(small_trace({store, "0010 ffffffff 0 EXIT 0 0 0"}));
  REQUIRE(plain.size() == 2);
  CHECK(plain[0].addresses.at(1) == 0x7f0000000004);
  for (const char* data :
       {" STORE_DATA", " STORE_DATA 1 2 3f800000 40000000", "\tSTORE_DATA INT32 0x1 0x2 \r"})
    CHECK(read_text(small_trace({store + data, "0010 ffffffff 0 EXIT 0 0 0"})) == plain);
  CHECK_THAT(error_of(small_trace({store + " STORE_DATAX"})),
             Contains("found 'STORE_DATAX'; expected the end of the line after the immediate"));
  CHECK_THAT(error_of(small_trace({"0000 ffffffff 1 R1 MOV 0 0 0 STORE_DATA 1"})), Contains("'STORE_DATA'"));
}

TEST_CASE("Tracer 6: group flags, fields of bulk copies, second immediates and register values") {
  HeaderText six;
  six.tracer = "6";
  six.binary = "90";
  const std::string exit = "0040 ffffffff 0 EXIT 0 0 0";
  const auto read = [&](const std::string& line) { return read_text(small_trace({line, line, exit}, six)); };
  const auto error = [&](const std::string& line) { return error_of(small_trace({line, exit}, six)); };
  const std::string mma = "0000 ffffffff 1 R24 HGMMA.64x64x16.F32 2 R4 UR8 1 0 0 7 NoVal";
  CHECK(read(mma).size() == 3);
  CHECK(read("0000 00000003 1 R2 LDG.E 1 R4 4 1 0x700000 4 0 0 Val 1 ff 32 0 1").at(0).addresses.at(1) ==
        0x700004);
  CHECK(read("0010 ffffffff 0 BAR.SYNC 0 0 1 128").size() == 3);
  for (const char* copy :
       {"0 0 UTMALDG.2D 2 UR4 UR8 16 0x400 0 4096 0 3 2 0x7f0000000000 0x7f0000000400 0 0 NoVal",
        "0 0 UTMALDG.2D.MULTICAST 2 UR4 UR8 16 0x400 1 000f 4096 128 4 0x7f0000000000 3 1024 -1024 0 0 NoVal",
        "0 0 UBLKCP.S.G 2 UR4 UR8 0 0x400 0 64 0 4 0x7f0000000000 0 0"}) {
    INFO(copy);
    const auto seen = read("0020 00000001 " + std::string(copy).substr(2));
    REQUIRE(seen.size() == 3);
    CHECK(seen[0].addresses.empty());
  }
  CHECK_THAT(error("0020 1 0 UTMALDG.2D 0 16 0x400 0 4096 0 2 1 0x7f00"),
             Contains("found '2'; expected the encoding"));
  CHECK_THAT(error("0020 1 0 UTMALDG.2D 0 16 0x400 0 4096 0 3 99999 0"), Contains("at most 65536 transfers"));
  CHECK_THAT(error("0020 1 0 UTMALDG.2D 0 16 0x400 0 4096 0 4 0x7f00 3 8"),
             Contains("a delta for each transfer"));
  CHECK_THAT(error("0000 ffffffff 1 R1 MOV 0 0 0 0 Val x"), Contains("a register's value"));
  CHECK_THAT(error("0000 ffffffff 1 R1 MOV 0 0 0 0 Value"), Contains("found 'Value'"));
}
