// The kind "mixed": what each of its instructions is there for.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "trace_text.hpp"

using namespace lockstep;
using namespace lockstep::synth;

namespace {

constexpr unsigned kThreads[] = {128, 80, 128};  // of the three kernels

std::uint32_t live_of(const TextWarp& warp, unsigned threads) {
  const auto first = static_cast<unsigned>(warp.warp * 32);
  return threads - first >= 32 ? 0xffffffff : (1u << (threads - first)) - 1;
}

/// The only executed line of that opcode.
TextLine line_of(const TextWarp& warp, const std::string& opcode) {
  const auto lines = lines_of(warp, opcode);
  REQUIRE(lines.size() == 1);
  return lines[0];
}

}  // namespace

TEST_CASE("mixed: three kernels of which the last has a stream of its own") {
  TemporaryFolder folder;
  synthesize("mixed", {{"ctas", "3"}}, folder / "t");
  CHECK(text_of(folder / "t/kernelslist.g") ==
        "MemcpyHtoD,0x00007fc000000000,1048576\nkernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg\n");
  for (unsigned k = 1; k <= 3; ++k) {
    const std::string text = text_of(folder / fmt::format("t/kernel-{}.traceg", k));
    CHECK(text.find(fmt::format("-cuda stream id = {}\n", k == 3 ? 7 : 0)) != std::string::npos);
    CHECK(text.find(fmt::format("-block dim = ({},1,1)\n", kThreads[k - 1])) != std::string::npos);
    const auto warps = read_warps(folder / fmt::format("t/kernel-{}.traceg", k));
    CHECK(warps.size() == 3 * ((kThreads[k - 1] + 31) / 32));
    for (const TextWarp& warp : warps) {
      // The halves of the warp end one after the other, and together they are all of it.
      const auto exits = lines_of(warp, "EXIT");
      REQUIRE(exits.size() == 2);
      CHECK((exits[0].mask & exits[1].mask) == 0);
      CHECK((exits[0].mask | exits[1].mask) == live_of(warp, kThreads[k - 1]));
      CHECK(line_of(warp, "BRA").mask == exits[0].mask);
    }
  }
}

TEST_CASE("mixed: the even lanes load what all lanes load, whose words are the CTA's own") {
  for (const TextWarp& warp : warps_of("mixed", {{"ctas", "3"}}, 2)) {
    const auto loads = lines_of(warp, "LDG.E.SYS");
    REQUIRE(loads.size() == 2);
    CHECK(loads[1].mask == live_of(warp, 80));
    CHECK(loads[0].mask == (loads[1].mask & 0x55555555));
    CHECK(loads[1].addresses[0] == 0x7fc000000000 + (warp.cta_x * 80 + warp.warp * 32) * 4);
    REQUIRE(loads[0].addresses.size() * 2 == loads[1].addresses.size());
    for (std::size_t i = 0; i < loads[0].addresses.size(); ++i)
      CHECK(loads[0].addresses[i] == loads[1].addresses[2 * i]);
    const TextLine wide = line_of(warp, "LDG.E.64");
    CHECK(wide.width == 8);
    CHECK(sectors_of(wide) == loads[1].addresses.size() * 8 / 32);
  }
}

TEST_CASE("mixed: shared memory without bank conflicts, and a local word of each thread") {
  for (const TextWarp& warp : warps_of("mixed", {{"ctas", "1"}}, 2)) {
    const std::size_t lanes = warp.warp < 2 ? 32 : 16;
    for (const char* opcode : {"STS", "LDS", "ATOMS"}) {
      INFO(opcode);
      const TextLine line = line_of(warp, opcode);
      std::set<std::uint64_t> banks;
      for (const std::uint64_t address : line.addresses) {
        CHECK(address < 4096);
        banks.insert(address / 4 % 32);
      }
      CHECK(banks.size() == lanes);
    }
    const TextLine store = line_of(warp, "STL"), load = line_of(warp, "LDL");
    CHECK(store.addresses == load.addresses);
    CHECK(std::set<std::uint64_t>(load.addresses.begin(), load.addresses.end()).size() == 1);  // an offset
  }
}

TEST_CASE("mixed: reductions go to 64 counters by the seed, one thread adds, and each writes its byte") {
  const auto counters = [](const Options& options) {
    std::vector<std::uint64_t> all;
    for (const TextWarp& warp : warps_of("mixed", options)) {
      const TextLine reduction = line_of(warp, "RED"), atomic = line_of(warp, "ATOMG");
      CHECK(reduction.to.empty());
      CHECK(atomic.mask == 1);
      CHECK(atomic.addresses == std::vector<std::uint64_t>{0x7fc0000a0000});
      all.insert(all.end(), reduction.addresses.begin(), reduction.addresses.end());
    }
    return all;
  };
  const auto seven = counters({{"ctas", "8"}});
  REQUIRE(seven.size() == 8 * 128);
  std::set<std::uint64_t> words;
  for (const std::uint64_t address : seven) {
    CHECK(address % 4 == 0);
    CHECK(address - 0x7fc000090000 < 64 * 4);
    words.insert(address);
  }
  CHECK(words.size() == 64);  // all but surely, with 1024 draws
  CHECK(counters({{"ctas", "8"}, {"seed", "7"}}) == seven);
  CHECK(counters({{"ctas", "8"}, {"seed", "8"}}) != seven);

  std::vector<std::uint64_t> written;
  for (const TextWarp& warp : warps_of("mixed", {{"ctas", "8"}}, 2)) {
    const TextLine store = line_of(warp, "STG");
    CHECK(store.width == 1);
    written.insert(written.end(), store.addresses.begin(), store.addresses.end());
  }
  REQUIRE(written.size() == 8 * 80);
  for (std::size_t i = 0; i < written.size(); ++i) CHECK(written[i] == 0x7fc0000b0000 + i);
}

TEST_CASE("mixed: barriers by number and by number of threads, unless they are not wanted") {
  for (const TextWarp& warp : warps_of("mixed", {{"ctas", "1"}})) {
    std::vector<std::pair<std::string, std::int64_t>> barriers;
    for (const TextLine& line : lines_of(warp, "BAR")) barriers.emplace_back(line.opcode, line.immediate);
    std::vector<std::pair<std::string, std::int64_t>> expected{{"BAR.SYNC", 0},
                                                               {"BAR.SYNC.DEFER_BLOCKING", 1}};
    if (warp.warp == 0) expected.emplace_back("BAR.ARV", 64);  // 64: warps 0 and 1
    if (warp.warp == 1) expected.emplace_back("BAR.SYNC.DEFER_BLOCKING", 64);
    CHECK(barriers == expected);
  }
  for (const TextWarp& warp : warps_of("mixed", {{"ctas", "1"}, {"named-barriers", "0"}}))
    CHECK(lines_of(warp, "BAR").size() == 1);
}
