// The table of counters: what statistics files and documents are written from.
#include "uvm/counter_table.hpp"

#include <catch2/catch.hpp>
#include <cctype>
#include <set>
#include <string>

namespace lockstep::uvm {
namespace {

TEST_CASE("counters of managed memory: each row reads a counter of its own") {
  RunCounters counters;
  auto* const words = reinterpret_cast<std::uint64_t*>(&counters);
  constexpr std::size_t kWords = sizeof counters / sizeof *words;
  std::set<std::size_t> seen;
  for (const CounterRow& row : counter_rows()) {
    INFO(row.name);
    REQUIRE(row.offset % sizeof *words == 0);
    REQUIRE(row.offset / sizeof *words < kWords);
    CHECK(seen.insert(row.offset).second);
    std::uint64_t& word = words[row.offset / sizeof *words];
    word = 7 + row.offset;
    CHECK(value(counters, row) == 7 + row.offset);
    word = 0;
  }
  counters.tlb.peer_lines = 5;  // only systems have it, in a table of its own
  for (const CounterRow& row : counter_rows()) CHECK(value(counters, row) == 0);
}

TEST_CASE("counters of managed memory: names are unique and plain, and each has a help") {
  std::set<std::string_view> names;
  for (const CounterRow& row : counter_rows()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    for (const char c : row.name)
      CHECK((std::islower(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c)) ||
             c == '_'));
    CHECK(!row.help.empty());
    CHECK(row.help.back() != '.');
    const bool in_cycles = row.name.ends_with("_cycles");
    CHECK((row.unit == "core cycles") == in_cycles);
    if (row.name.find("bytes") != std::string_view::npos) CHECK(row.unit == "bytes");
    if (row.name.ends_with("_pages")) CHECK(row.unit == "pages");
  }
}

std::uint64_t row_value(const RunCounters& counters, std::string_view name) {
  for (const CounterRow& row : counter_rows())
    if (row.name == name) return value(counters, row);
  FAIL("no row " << name);
  return 0;
}

TEST_CASE("counters of managed memory: histograms have a row for each of their places, smallest first") {
  RunCounters counters;
  for (unsigned i = 0; i < kTransferSizes; ++i) counters.gmmu.transfer_sizes[i] = 100 + i;
  for (unsigned i = 0; i < kFaultLatencies; ++i) counters.gmmu.fault_latencies[i] = 200 + i;
  for (unsigned i = 0; i + 1 < kTransferSizes; ++i)
    CHECK(row_value(counters, "transfers_" + std::to_string(4u << i) + "k") == 100 + i);
  CHECK(row_value(counters, "transfers_larger") == 100 + kTransferSizes - 1);
  for (unsigned i = 0; i + 1 < kFaultLatencies; ++i)
    CHECK(row_value(counters, "fault_latency_" + std::to_string(1u << i) + "us") == 200 + i);
  CHECK(row_value(counters, "fault_latency_longer") == 200 + kFaultLatencies - 1);
}

}  // namespace
}  // namespace lockstep::uvm
