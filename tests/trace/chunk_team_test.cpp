// CTAs from several threads make the file that CTAs one by one make.
#include "trace/chunk_team.hpp"

#include <thread>

#include "compact_support.hpp"
#include "trace/compact_file.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;

namespace {

constexpr std::uint64_t kTeamCtas = 400;
constexpr int kLevel = 3;

KernelHeader header() {
  KernelHeader h;
  h.name = "k";
  h.grid = {kTeamCtas, 1, 1};
  h.block = {64, 1, 1};
  h.binary_version = 80;
  return h;
}

/// Two warps of up to 2000 loads with random lanes and addresses: a chunk has some tens of them.
CtaTrace cta(std::uint64_t index) {
  Random random(static_cast<std::uint32_t>(index));
  CtaTrace made;
  made.index = index;
  made.id = {static_cast<std::uint32_t>(index), 0, 0};
  for (int w = 0; w < 2; ++w) {
    WarpSpan span;
    span.first_record = static_cast<std::uint32_t>(made.records.size());
    span.first_word = static_cast<std::uint32_t>(made.words.size());
    span.record_count = random() % 2000;
    for (std::uint32_t i = 0; i < span.record_count; ++i) {
      Address lanes[kWarpSize];
      for (Address& a : lanes) a = 0x700000000 + random() % 4096;
      const LaneMask mask = random() | 1;
      made.records.push_back(Record::make(0, pack_addresses(mask, lanes, made.words), mask));
    }
    made.warps.push_back(span);
  }
  return made;
}

void end(CompactFile& file) {
  file.end(1, [](std::uint32_t) { return TracedInstruction{0, "1 R2 LDG.E 1 R4 4", 0}; }, {});
}

/// Thread t adds every `threads`-th CTA; thread 0 begins late.
void add_all(ChunkTeam& team, unsigned threads) {
  const std::atomic<bool> failed{false};
  std::vector<std::jthread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      if (t == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::vector<CtaTrace> mine;
      for (std::uint64_t i = t; i < kTeamCtas; i += threads) {
        mine.push_back(cta(i));
        if (mine.size() <= t && i + threads < kTeamCtas) continue;  // thread t: t + 1 at once
        team.add(mine, failed);
        mine.clear();
      }
    });
}

constexpr int kKernels = 2;

/// What a launch leaves that turns out not to be one for several threads: chunks, and CTAs that wait for
/// others.
void add_in_vain(CompactFile& file, ChunkTeam& team) {
  const std::atomic<bool> failed{false};
  for (std::uint64_t i = 0; i < 62; ++i) {
    CtaTrace mine = cta(i + 1000);
    mine.index = i < 60 ? i : i + 5;
    team.add({&mine, 1}, failed);
  }
  file.restart();
}

std::string by_team(const TemporaryFolder& dir, unsigned threads, bool restarted) {
  const std::string path = dir / "team.lst";
  CompactFile file(path, kLevel);
  const KernelHeader h = header();
  ChunkTeam team(file, kLevel);
  for (int k = 0; k < kKernels; ++k) {
    file.begin(h);
    team.begin(h);
    if (restarted) {
      add_in_vain(file, team);
      team.begin(h);
    }
    add_all(team, threads);
    team.finish();
    end(file);
  }
  const std::uint64_t hash = file.hash();
  file.finish("t", hash, {});
  return slurp(path);
}

}  // namespace

TEST_CASE("CTAs of several threads make the bytes of CTAs one by one", "[matrix]") {
  const TemporaryFolder dir;
  const std::string path = dir / "one.lst";
  {
    CompactFile file(path, kLevel);
    for (int k = 0; k < kKernels; ++k) {
      file.begin(header());
      for (std::uint64_t i = 0; i < kTeamCtas; ++i) file.add(cta(i));
      end(file);
    }
    const std::uint64_t hash = file.hash();
    file.finish("t", hash, {});
  }
  const std::string expected = slurp(path);
  REQUIRE(expected.size() > 100000);
  for (const unsigned threads : {1u, 2u, 5u}) {
    INFO(threads << " threads");
    CHECK((by_team(dir, threads, false) == expected));
  }
  CHECK((by_team(dir, 3, true) == expected));
}
