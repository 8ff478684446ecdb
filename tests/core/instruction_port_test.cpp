// Lines of instructions through the SM's port: what is asked for, and when a line is there.
#include "core/instruction_port.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "lsu_bench.hpp"

namespace lockstep::core::test {
namespace {

/// Each sector of a request after a time of its own, or several at once.
std::vector<std::pair<Cycle, SectorMask>> in_pieces(const icnt::Request& request) {
  const std::uint64_t h = request.line * 0x9e3779b97f4a7c15u >> 40;
  if (h % 3 == 0) return {{20 + h % 200, request.sectors}};
  std::map<Cycle, SectorMask> pieces;
  for (unsigned s = 0; s < kSectorsPerLine; ++s)
    if (request.sectors >> s & 1) pieces[20 + (h >> 4 * s) % 100] |= static_cast<SectorMask>(1u << s);
  return {pieces.begin(), pieces.end()};
}

struct FetchRun {
  LsuRun run;
  std::set<Address> lines;
};

FetchRun fetch_lines(std::uint32_t line_bytes, unsigned seed, bool skip) {
  std::mt19937 random(seed);
  config::GpuConfig config = lsu_config();
  config.frontend.line_bytes = line_bytes;
  config.frontend.l1i_mshrs = 4;
  config.icnt.sm_queue_entries = 1 + seed % 3;  // often full
  LsuBench bench(config);
  bench.answer = in_pieces;
  bench.skip = skip;
  FetchRun all;
  Cycle at = 0;
  for (int i = 0; i < 40; ++i) {
    at += random() % 8 == 0 ? 500 : random() % 4;
    const Address line = (Address{1} << 33) + Address{random() % 4096} * line_bytes;
    if (all.lines.insert(line).second) bench.fetches.emplace_back(at, line);
  }
  OpList loads;  // which share the port
  for (unsigned i = 0; i < 20; ++i)
    loads.strided(random() % 300, OpClass::kLoad, MemSpace::kGlobal, 4, kData + Address{4096} * i, 128);
  all.run = bench.run(loads);
  REQUIRE(bench.pipeline().quiescent());
  return all;
}

TEST_CASE("a line of instructions is all its sectors, and there with the last of them") {
  for (const std::uint32_t line_bytes : {32u, 64u, 128u, 256u, 512u})
    for (unsigned seed = 0; seed < 12; ++seed) {
      CAPTURE(line_bytes, seed);
      const auto [run, lines] = fetch_lines(line_bytes, seed, false);
      std::map<Address, Cycle> sectors;  // asked for: when they come
      for (const LsuRun::Sent& sent : run.requests) {
        if (sent.request.kind != icnt::AccessKind::kInstruction) continue;
        for (unsigned s = 0; s < kSectorsPerLine; ++s)
          if (sent.request.sectors >> s & 1)
            REQUIRE(sectors.emplace(sent.request.line + kSectorBytes * s, kNever).second);
      }
      REQUIRE(sectors.size() == lines.size() * line_bytes / kSectorBytes);
      for (const LsuRun::Taken& taken : run.replies)
        if (taken.reply.kind == icnt::AccessKind::kInstruction)
          for (unsigned s = 0; s < kSectorsPerLine; ++s)
            if (taken.reply.sectors >> s & 1) sectors.at(taken.reply.line + kSectorBytes * s) = taken.time;
      REQUIRE(run.lines.size() == lines.size());
      for (const auto& [time, line] : run.lines) {
        REQUIRE(lines.contains(line));
        Cycle last = 0;
        for (Address sector = line; sector < line + line_bytes; sector += kSectorBytes)
          last = std::max(last, sectors.at(sector));
        REQUIRE(time == last);
      }
    }
}

TEST_CASE("cycles in which no part of an instruction line can be sent may be skipped") {
  for (const std::uint32_t line_bytes : {64u, 256u, 512u})
    for (unsigned seed = 0; seed < 12; ++seed) {
      CAPTURE(line_bytes, seed);
      const LsuRun every = fetch_lines(line_bytes, seed, false).run,
                   some = fetch_lines(line_bytes, seed, true).run;
      REQUIRE(some.lines == every.lines);
      REQUIRE(some.events == every.events);
      CHECK(some.ticks < every.ticks);
    }
}

}  // namespace
}  // namespace lockstep::core::test
