// What the result files say of systems, managed memory and runs by samples, read back by a library.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "stats/compare.hpp"
#include "stats/descriptors.hpp"
#include "stats/files.hpp"
#include "stats/report.hpp"
#include "tests/stats/samples.hpp"

namespace lockstep::stats {
namespace {

using Json = nlohmann::ordered_json;

/// Of three kernels on two devices, of which the second has half the clock.
RunReport system_report() {
  RunReport report = sample_report(3);
  report.core_khz = 2'000'000;
  report.total_cycles = 2'000'000;  // 1 ms
  report.system = {.name = "two \"devices\"",
                   .devices = {{"v100", 0xa, 2'000'000}, {"a100", 0xb, 1'000'000}},
                   .links = {},
                   .network = {},
                   .managed = {}};
  for (KernelResult& kernel : report.kernels) kernel.cycles = 3000;
  report.kernels[1].device = 1;
  report.copies.push_back({"peer_to_peer", 0xabc, 64, 7, 3000, 1});
  return report;
}

/// Managed memory whose counters are all different.
ManagedReport managed_report(std::uint64_t first) {
  ManagedReport m;
  m.allocations = first;
  m.footprint_bytes = first + 1;
  m.device_bytes = first + 2;
  m.added_fault_cycles = 500;
  std::uint64_t words[sizeof(uvm::RunCounters) / 8];
  for (std::uint64_t& word : words) word = first += 11;
  std::memcpy(&m.counters, words, sizeof words);
  m.by_allocation = {{0x7f00, 4096, {1, 2, 3, 4, 5, 6}}};
  m.peers = {{}, {1, 2, 3, 4}, {}};
  return m;
}

bool differ(const RunReport& a, const RunReport& b) {
  const TemporaryFolder folder;
  write_file(folder / "a.json", to_json(a));
  write_file(folder / "b.json", to_json(b));
  bool different = false;
  (void)compare({{folder / "a.json", {}}, {folder / "b.json", {}}}, {}, different);
  return different;
}

}  // namespace

TEST_CASE("of a system stats.json has schema 2, and times are in the clock of the device") {
  const Json root = Json::parse(to_json(system_report()));
  CHECK(root["schema"] == 2);
  CHECK(root["kernels"][0]["device"] == 0);
  CHECK(root["kernels"][1]["device"] == 1);
  CHECK(root["kernels"][0]["time_ns"] == 1500);     // 3000 cycles of 2 GHz
  CHECK(root["kernels"][1]["time_ns"] == 3000);     // of 1 GHz
  CHECK(root["kernels"][1]["elapsed_ns"] == 8000);  // with 5000 for the launch
  CHECK(root["copies"][1] == Json({{"kind", "peer_to_peer"},
                                   {"device", 1},
                                   {"address", "0000000000000abc"},
                                   {"bytes", 64},
                                   {"start_cycle", 7},
                                   {"cycles", 3000},
                                   {"time_ns", 3000.0}}));
  CHECK(root["system"]["name"] == "two \"devices\"");
  CHECK(root["system"]["devices"][1] ==
        Json({{"gpu", "a100"}, {"config_hash", "000000000000000b"}, {"core_khz", 1'000'000}}));
  CHECK_FALSE(Json::parse(to_json(sample_report()))["kernels"][0].contains("device"));
}

TEST_CASE("a link's busy time is its bytes at its bandwidth, its utilisation that of the whole run") {
  RunReport report = system_report();
  const LinkResult link{.from = "gpu0",
                        .to = "gpu1",
                        .kind = "nvlink",
                        .count = 2,
                        .bytes_per_second = 3'000'000'000,
                        .messages = 5,
                        .bytes = 1'000'000,
                        .data_bytes = 999,
                        .request_stall_ps = 17,
                        .reply_stall_ps = 19};
  report.system->links = {link, link};
  report.system->links[1].picojoules = 23;
  const Json links = Json::parse(to_json(report))["system"]["links"];
  // 10^6 bytes / (3 * 10^9 bytes/s) = 333.333 us, a third of 1 ms
  Json expected = {{"from", "gpu0"},
                   {"to", "gpu1"},
                   {"kind", "nvlink"},
                   {"count", 2},
                   {"bytes_per_second", 3'000'000'000},
                   {"messages", 5},
                   {"bytes", 1'000'000},
                   {"data_bytes", 999},
                   {"busy_ps", 333'333'333},
                   {"utilisation", 0.333333},
                   {"request_stall_ps", 17},
                   {"reply_stall_ps", 19}};
  CHECK(links[0] == expected);
  expected["energy_pj"] = 23;
  CHECK(links[1] == expected);
}

TEST_CASE("managed memory in stats.json: every counter by its name, and the kernels' time with the faults'") {
  RunReport report = sample_report(2);
  report.kernels[0].cycles = 1000;
  report.kernels[1].cycles = 200;
  report.managed = managed_report(100);
  report.managed->residency = {{10, 1}, {20, 2}};
  const Json m = Json::parse(to_json(report))["managed"];
  std::set<std::uint64_t> values;
  for (const uvm::CounterRow& row : uvm::counter_rows()) {
    CHECK(m[std::string(row.name)] == value(report.managed->counters, row));
    values.insert(m[std::string(row.name)].get<std::uint64_t>());
  }
  CHECK(values.size() == uvm::counter_rows().size());
  CHECK(m["allocations"] == 100);
  CHECK(m["footprint_bytes"] == 101);
  CHECK(m["device_bytes"] == 102);
  CHECK(m["kernel_cycles"] == 1200);
  CHECK(m["kernel_and_fault_cycles"] == 1700);
  CHECK(m["by_allocation"] == Json::array({{{"base", "0x7f00"},
                                            {"bytes", 4096},
                                            {"transfers", 1},
                                            {"faulted_pages", 5},
                                            {"bytes_to_device", 3},
                                            {"write_backs", 2},
                                            {"bytes_to_host", 4},
                                            {"evictions", 6}}}));
  CHECK(m["residency"] == Json({{10, 1}, {20, 2}}));
  CHECK(m["peers"] == Json::array({{{"device", 1},  // only those with traffic
                                    {"pages_in", 1},
                                    {"pages_out", 2},
                                    {"copies_in", 3},
                                    {"copies_out", 4}}}));
  CHECK(m["peer_lines"] == report.managed->counters.tlb.peer_lines);
}

TEST_CASE("managed memory of several devices: each with the time of its own kernels") {
  RunReport report = system_report();
  report.system->managed = {managed_report(1), managed_report(1000)};
  report.system->managed[0].peers.clear();
  const Json m = Json::parse(to_json(report))["managed"];
  REQUIRE(m.size() == 2);
  CHECK(m[0]["device"] == 0);
  CHECK(m[1]["device"] == 1);
  CHECK(m[0]["kernel_cycles"] == 6000);
  CHECK(m[1]["kernel_cycles"] == 3000);
  CHECK(m[1]["allocations"] == 1000);
  CHECK_FALSE(m[0].contains("peers"));
  CHECK_FALSE(m[0].contains("residency"));
}

TEST_CASE("a run by samples: estimates with half-widths rounded up, in the order of the counters") {
  RunReport report = sample_report(1);
  report.core_khz = 500'000;  // a cycle is 2 ns
  report.kernels[0].estimated = true;
  report.kernels[0].ctas_left_out = 77;
  report.sampling = {.error = 0.02,
                     .confidence = 0.95,
                     .seed = 3,
                     .warm_up = 4,
                     .launches = 50,
                     .launches_timed = 6,
                     .ctas = 700,
                     .ctas_timed = 8,
                     .overlap = true,
                     .cycles = {1000.4, 10.01},
                     .counters = {},
                     .groups = {}};
  for (std::size_t i = 0; i < descriptors().size(); ++i)
    report.sampling->counters.push_back({static_cast<double>(i), 0});
  report.sampling->groups = {{"a \"name\"", 9, 40, 5, 1e6, "linear", {900, 0.2}}};
  const Json root = Json::parse(to_json(report)), &s = root["sampling"];
  CHECK(s["estimates"]["cycles"] == Json({1000, 11}));
  CHECK(s["estimates"]["time_ns"] == Json({2001, 21}));
  for (std::size_t i = 0; i < descriptors().size(); ++i)
    CHECK(s["estimates"][std::string(descriptors()[i].name)] == Json({i, 0}));
  CHECK(s["groups"] == Json::array({{{"name", "a \"name\""},
                                     {"first_id", 9},
                                     {"launches", 40},
                                     {"timed", 5},
                                     {"warp_instructions", 1'000'000},
                                     {"model", "linear"},
                                     {"cycles", {900, 1}}}}));
  CHECK(s["error"] == 0.02);
  CHECK(s["confidence"] == 0.95);
  const std::pair<const char*, int> numbers[] = {{"seed", 3},           {"warm_up", 4}, {"launches", 50},
                                                 {"launches_timed", 6}, {"ctas", 700},  {"ctas_timed", 8}};
  for (const auto& [name, number] : numbers) CHECK(s[name] == number);
  CHECK(s["overlap"] == true);
  CHECK(root["kernels"][0]["estimated"] == true);
  CHECK(root["kernels"][0]["ctas_left_out"] == 77);
}

TEST_CASE("stats.csv: the device and what was left out are the last columns, where there are such") {
  RunReport report = system_report();
  const auto line = [&](std::size_t number) {
    std::istringstream lines(to_csv(report));
    std::string text;
    for (std::size_t i = 0; i <= number; ++i) std::getline(lines, text);
    return text;
  };
  const auto commas = [](const std::string& text) { return std::count(text.begin(), text.end(), ','); };
  CHECK_THAT(line(0), Catch::EndsWith("energy.average_mw,device"));
  CHECK_THAT(line(2), Catch::EndsWith(",1"));
  report.sampling.emplace();
  report.kernels[1].estimated = true;
  report.kernels[1].ctas_left_out = 5;
  CHECK_THAT(line(0), Catch::EndsWith(",device,estimated,ctas_left_out"));
  CHECK_THAT(line(2), Catch::EndsWith(",1,true,5"));
  CHECK_THAT(line(3), Catch::EndsWith(",0,false,0"));
  for (std::size_t row = 1; row <= 3; ++row) CHECK(commas(line(row)) == commas(line(0)));
}

TEST_CASE("compare finds a difference in each part of a system's statistics, in managed memory too") {
  RunReport report = system_report();
  report.system->links = {
      {.from = "gpu0", .to = "gpu1", .kind = "nvlink", .bytes_per_second = 1, .bytes = 1}};
  report.system->network.emplace();
  report.system->network->nics = {{.node = "nic0"}};
  report.system->managed = {managed_report(1), managed_report(1000)};
  report.sampling.emplace().seed = 1;
  REQUIRE_FALSE(differ(report, report));
  const auto changed = [&](auto change) {
    RunReport other = report;
    change(other);
    return differ(report, other);
  };
  CHECK(changed([](RunReport& r) { ++r.system->links[0].messages; }));
  CHECK(changed([](RunReport& r) { ++r.system->network->nics[0].doorbells; }));
  CHECK(changed([](RunReport& r) { ++r.sampling->seed; }));
  CHECK(changed([](RunReport& r) { ++r.copies[1].cycles; }));
  CHECK(changed([](RunReport& r) { ++r.unattributed.icnt.flits; }));
  CHECK(changed([](RunReport& r) { ++r.system->managed[1].counters.gmmu.faults; }));
  CHECK(changed([](RunReport& r) { ++r.system->managed[0].by_allocation[0].counters.evictions; }));
}

}  // namespace lockstep::stats
