// The microbenchmarks of the SM: registers, banks, code size and barriers against closed forms, read from the
// text of the traces.
#include <algorithm>
#include <map>
#include <set>

#include "trace_text.hpp"

using namespace lockstep;
using namespace lockstep::synth;

TEST_CASE("shared: lane n reads n modulo `addresses`, times stride and width") {
  for (const char* op : {"LDS", "STS", "ATOMS.ADD"})
    for (const unsigned width : {4u, 8u, 16u})
      for (const std::uint64_t stride : {0u, 1u, 33u})
        for (const std::uint64_t distinct : {1u, 5u, 32u}) {
          INFO(op << " " << width << " " << stride << " " << distinct);
          const auto warps = warps_of("shared", {{"op", op},
                                                 {"width", std::to_string(width * 8)},
                                                 {"stride", std::to_string(stride)},
                                                 {"addresses", std::to_string(distinct)},
                                                 {"instructions", "12"},
                                                 {"passes", "1"}});
          REQUIRE(warps.size() == 1);
          const auto lines = lines_of(warps[0], op);
          REQUIRE(lines.size() == 12);
          CHECK(lines[0].opcode == (width == 4 ? op : fmt::format("{}.{}", op, width * 8)));
          for (const TextLine& line : lines) {
            CHECK(line.width == width);
            CHECK(line.to.size() == (op == std::string("STS") ? 0 : 1));
            for (std::uint64_t lane = 0; lane < 32; ++lane)
              CHECK(line.addresses[lane] == (lane % distinct) * stride * width);
          }
        }
}

TEST_CASE("shared: dependent loads take their address from the load before, others do not") {
  for (const bool dependent : {false, true}) {
    const auto lines =
        lines_of(warps_of("shared", {{"dependent", dependent ? "1" : "0"}, {"width", "128"}})[0], "LDS");
    REQUIRE(lines.size() == 2 * 64);
    for (const TextLine& line : lines) {
      const bool same = line.to[0] <= line.from[0] && line.from[0] < line.to[0] + 4;
      CHECK(same == dependent);
    }
  }
}

TEST_CASE("atomics: addresses of a warp, of the next warp and CTA; only ATOMG returns") {
  const Options options{{"op", "ATOMG.E.ADD.STRONG.GPU"},
                        {"addresses", "3"},
                        {"stride", "64"},
                        {"apart", "4096"},
                        {"ctas", "2"},
                        {"threads", "40"},
                        {"instructions", "5"},
                        {"passes", "3"}};
  const auto warps = warps_of("atomics", options);
  REQUIRE(warps.size() == 4);
  for (const TextWarp& warp : warps) {
    const auto lines = lines_of(warp, "ATOMG");
    REQUIRE(lines.size() == 15);
    for (const TextLine& line : lines) {
      CHECK(line.addresses.size() == (warp.warp == 0 ? 32 : 8));
      CHECK(line.to.size() == 1);
      for (std::uint64_t lane = 0; lane < line.addresses.size(); ++lane)
        CHECK(line.addresses[lane] == 0x7fd000000000 + (warp.cta_x * 2 + warp.warp) * 4096 + lane % 3 * 64);
    }
  }
  Options changed = options;
  changed["dependent"] = "1";
  for (const TextLine& line : lines_of(warps_of("atomics", changed)[0], "ATOMG"))
    CHECK(line.to[0] == line.from[0]);
  changed["op"] = "RED.E.ADD.STRONG.GPU";
  for (const TextLine& line : lines_of(warps_of("atomics", changed)[0], "RED")) CHECK(line.to.empty());
  // The copy covers every address: the last warp's, and three of 64 bytes.
  TemporaryFolder folder;
  synthesize("atomics", options, folder / "t");
  CHECK(text_of(folder / "t/kernelslist.g") ==
        fmt::format("MemcpyHtoD,0x00007fd000000000,{}\nkernel-1.traceg\n", 4096 * 4 + 3 * 64));
}

TEST_CASE("barriers: the CTA's is 0, named ones are 1 to 8 in turn") {
  const auto barriers = [](const char* pattern) {
    std::vector<std::int64_t> all;
    for (const TextLine& line :
         lines_of(warps_of("barriers", {{"pattern", pattern}, {"instructions", "10"}})[0], "BAR.SYNC"))
      all.push_back(line.immediate);
    return all;
  };
  CHECK(barriers("cta") == std::vector<std::int64_t>(20, 0));
  CHECK(barriers("named") ==
        std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2});
}

/// At each step one warp of a pair arrives and the other waits at the same barrier, the other way round at
/// the next step; the barriers of different pairs differ, up to seven pairs.
TEST_CASE("barriers: pairs of a producer and a consumer") {
  const auto warps = warps_of(
      "barriers", {{"pattern", "pairs"}, {"threads", "448"}, {"instructions", "6"}, {"passes", "1"}});
  REQUIRE(warps.size() == 14);
  std::map<std::int64_t, std::set<std::size_t>> pairs;
  for (std::size_t pair = 0; pair < 7; ++pair) {
    const auto a = lines_of(warps[2 * pair], "BAR"), b = lines_of(warps[2 * pair + 1], "BAR");
    REQUIRE(a.size() == 6);
    REQUIRE(b.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(a[i].immediate == b[i].immediate);
      CHECK((a[i].opcode == "BAR.ARV") == (i % 2 == 0));
      CHECK((b[i].opcode == "BAR.ARV") == (i % 2 == 1));
      pairs[a[i].immediate].insert(pair);
    }
  }
  CHECK(pairs.size() == 14);
  CHECK(pairs.begin()->first == 1);
  CHECK(pairs.rbegin()->first == 14);
  for (const auto& [barrier, users] : pairs) CHECK(users.size() == 1);
}

TEST_CASE("code: the size includes the branch back, in instructions of the architecture") {
  for (const auto& [arch, size] : {std::pair<std::string, std::uint64_t>{"70", 16}, {"61", 8}}) {
    const auto lines = warps_of("code", {{"arch", arch}, {"bytes", "4096"}, {"passes", "2"}})[0].lines;
    REQUIRE(lines.size() == 2 * (4096 / size) + 1);
    CHECK(lines[4096 / size - 1].opcode == "BRA");
    CHECK(lines[4096 / size - 1].pc == 4096 - size);
    CHECK(lines[4096 / size - 1].mask != 0);  // taken back to the beginning
    CHECK(lines[4096 / size].pc == 0);
    CHECK(lines[lines.size() - 2].mask == 0);  // not taken at the end
    CHECK(lines.back().opcode == "EXIT");
    CHECK(lines.back().pc == 4096);
  }
}

TEST_CASE("operands: banks are those asked for, and reused operands are in the same places") {
  for (const auto& [second, parities] : {std::pair<std::string, std::pair<int, int>>{"odd-odd", {1, 1}},
                                         {"even-odd", {0, 1}},
                                         {"even-even", {0, 0}}})
    for (const std::size_t reuse : {0u, 1u, 2u}) {
      INFO(second << " " << reuse);
      const auto warp = warps_of("operands", {{"second", second}, {"reuse", std::to_string(reuse)}})[0];
      const auto ffma = lines_of(warp, "FFMA").at(0), iadd = lines_of(warp, "IADD3").at(0);
      CHECK(ffma.from[0] % 2 == 0);
      CHECK(ffma.from[1] % 2 == parities.first);
      CHECK(ffma.from[2] % 2 == parities.second);
      CHECK(ffma.from[1] != ffma.from[2]);
      std::size_t same = 0;
      for (std::size_t place = 0; place < 3; ++place) same += ffma.from[place] == iadd.from[place] ? 1 : 0;
      CHECK(same == reuse);
      CHECK(lines_of(warp, "FFMA").size() == 2 * 64);
    }
}

/// A chain is a sequence of instructions each of which reads what the one before has written.
TEST_CASE("pipe: as many chains as asked for, that share no register") {
  const std::map<std::string, int> registers{
      {"FFMA", 1}, {"DFMA", 2}, {"MUFU.EX2", 1}, {"HMMA.16816.F32", 4}};
  for (const auto& [op, width] : registers)
    for (const unsigned chains : {1u, 3u, 12u}) {
      INFO(op << " " << chains);
      const auto lines = lines_of(
          warps_of("pipe", {{"op", op}, {"chains", std::to_string(chains)}, {"instructions", "48"}})[0], op);
      REQUIRE(lines.size() == 2 * 48);
      std::set<int> used;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        REQUIRE(lines[i].to.size() == 1);
        CHECK(std::ranges::count(lines[i].from, lines[i].to[0]) == 1);
        CHECK(lines[i].to[0] == lines[i % chains].to[0]);
        if (i >= chains) continue;
        for (int r = 0; r < width; ++r) CHECK(used.insert(lines[i].to[0] + r).second);
      }
      CHECK(*used.rbegin() < 64);  // as the header says
    }
}

TEST_CASE("pipe: results of warpgroups fill the 255 registers, and no more are accepted") {
  // A 64 x N tile in FP32 has N / 2 registers per thread: 32 for 64, 64 for 128; 16 registers are the
  // operands'.
  CHECK(complaint("pipe", {{"op", "HGMMA.64x64x16.F32"}, {"chains", "7"}, {"instructions", "1"}}).empty());
  CHECK(complaint("pipe", {{"op", "HGMMA.64x64x16.F32"}, {"chains", "8"}})
            .find("found 8 of HGMMA.64x64x16.F32") != std::string::npos);
  CHECK(complaint("pipe", {{"op", "HGMMA.64x128x16.F32"}, {"chains", "3"}, {"instructions", "1"}}).empty());
}

TEST_CASE("empty and ffma: what every compiled kernel has") {
  CHECK(warps_of("empty", {{"ctas", "1"}, {"threads", "32"}})[0].lines[0].opcode == "MOV");
  CHECK(warps_of("empty", {{"ctas", "1"}, {"threads", "32"}, {"arch", "89"}})[0].lines[0].opcode == "MOV");
  CHECK(warps_of("empty", {{"ctas", "1"}, {"threads", "32"}, {"arch", "90"}})[0].lines[0].opcode == "LDC");
  const auto ffma = lines_of(warps_of("ffma", {{"iterations", "4"}})[0], "FFMA");
  REQUIRE(ffma.size() == 4 * 128);
  for (const TextLine& line : ffma) CHECK(line.from[0] == line.to[0]);
}

TEST_CASE("lanes beyond the CTA's threads are in no mask") {
  for (const char* kind :
       {"empty", "ffma", "pipe", "shared", "atomics", "barriers", "code", "chain", "streaming", "random"}) {
    INFO(kind);
    const auto warps = warps_of(kind, {{"threads", "37"}});
    for (const TextWarp& warp : warps)
      for (const TextLine& line : warp.lines)
        if (line.mask != 0) CHECK(line.mask == (warp.warp == 0 ? 0xffffffff : 0x1f));
  }
}

TEST_CASE("every number is refused one below and one above its range, every word that is no choice") {
  for (const Kind* kind : kinds())
    for (const auto options : {kind->options, common_options()})
      for (const OptionSpec& o : options) {
        INFO(kind->name << " " << o.name);
        const auto accepted = [&](const std::string& value) {
          try {
            const SynthOptions checked(*kind, {{std::string(o.name), value}});
            return checked.word(o.name) == value;
          } catch (const std::exception& e) {
            CHECK(std::string(e.what()).starts_with(
                fmt::format("synth {}: {}: found '{}', expected ", kind->name, o.name, value)));
            return false;
          }
        };
        if (o.choices.empty()) {
          CHECK(accepted(std::to_string(o.low)));
          CHECK(accepted(std::to_string(o.high)));
          if (o.low > 0) CHECK_FALSE(accepted(std::to_string(o.low - 1)));
          if (o.high < ~0ull) CHECK_FALSE(accepted(std::to_string(o.high + 1)));
          CHECK_FALSE(accepted("1 "));
          continue;
        }
        std::istringstream words{std::string(o.choices)};
        for (std::string word; std::getline(words, word, '|');) {
          CHECK(accepted(word));
          CHECK_FALSE(accepted(word + "x"));
          CHECK_FALSE(accepted(word.substr(1)));
        }
        CHECK_FALSE(accepted(""));
      }
}
