#include "stats/descriptors.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "paths.hpp"
#include "stats/files.hpp"

namespace lockstep::stats {

TEST_CASE("every word of the counters has exactly one descriptor") {
  std::set<std::size_t> offsets;
  std::set<std::string_view> names;
  for (const Descriptor& d : descriptors()) {
    CHECK(d.offset % sizeof(std::uint64_t) == 0);
    CHECK(d.offset < sizeof(KernelCounters));
    CHECK(offsets.insert(d.offset).second);
    CHECK(names.insert(d.name).second);
    CHECK(!d.unit.empty());
    CHECK(!d.help.empty());
  }
  CHECK(offsets.size() == sizeof(KernelCounters) / sizeof(std::uint64_t));
}

TEST_CASE("descriptors point at the fields that their names say") {
  KernelCounters counters;
  counters.sm.l1.mshr_merges = 1;
  counters.mem.l2.sectors_written = 2;
  counters.mem.dram_row_misses = 3;
  counters.icnt.stall_cycles = 4;
  counters.sm.stalls[static_cast<unsigned>(Stall::kLongScoreboard)] = 5;
  counters.sm.thread_instructions = 6;
  std::set<std::string> seen;
  for (const Descriptor& d : descriptors()) {
    if (value(counters, d) != 0) seen.insert(std::string(d.name) + "=" + std::to_string(value(counters, d)));
  }
  CHECK(seen == std::set<std::string>{"l1.mshr_merges=1", "l2.sectors_written=2", "dram.row_misses=3",
                                      "icnt.stall_cycles=4", "stalls.long_scoreboard=5",
                                      "thread_instructions=6"});
}

TEST_CASE("groups of descriptors stand together, so that the writers open each once") {
  std::set<std::string_view> closed;
  std::string_view open;
  for (const Descriptor& d : descriptors()) {
    const auto dot = d.name.find('.');
    const std::string_view group = dot == std::string_view::npos ? "" : d.name.substr(0, dot);
    if (group == open) continue;
    closed.insert(open);
    CHECK(closed.count(group) == 0);
    open = group;
  }
}

TEST_CASE("stall names are the reasons in snake case") {
  CHECK(stall_name(Stall::kIssued) == "issued");
  CHECK(stall_name(Stall::kMioThrottle) == "mio_throttle");
  CHECK(stall_name(Stall::kNoInstruction) == "no_instruction");
  CHECK(stall_name(Stall::kEmpty) == "empty");
}

TEST_CASE("docs/stats.md is what the table says (`./dev docs` writes it)") {
  CHECK(read_file(LOCKSTEP_SOURCE_DIR "/docs/stats.md") == markdown());
}

TEST_CASE("explain lists by prefix") {
  const std::string text = explain("dram.row");
  CHECK(text.find("dram.row_hits") != std::string::npos);
  CHECK(text.find("dram.row_misses") != std::string::npos);
  CHECK(text.find("dram.reads") == std::string::npos);
  CHECK(explain("nothing").empty());
}

TEST_CASE("explain finds a name without its group, and parts of names where nothing else fits") {
  const auto names = [](std::string_view wanted) {
    std::vector<std::string> found;
    for (const FieldHelp& row : find_statistics(wanted)) found.emplace_back(row.name);
    return found;
  };
  using Names = std::vector<std::string>;
  CHECK(names("short_scoreboard") == Names{"stalls.short_scoreboard"});
  CHECK(names("scoreboard") == Names{"stalls.short_scoreboard", "stalls.long_scoreboard"});
  CHECK(names("row_hits") == Names{"dram.row_hits"});
  CHECK(names("stalls.short") == names("short_score"));
  CHECK(explain("short_scoreboard") == explain("stalls.short_scoreboard"));
  CHECK(descriptors_json("short_scoreboard") == descriptors_json("stalls.short_scoreboard"));
}

}  // namespace lockstep::stats
