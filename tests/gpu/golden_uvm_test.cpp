// The golden values of UVMSmart (tests/uvm/golden.json) once more end to end: the same transfers,
// write-backs, faults and cycles in stats.json and in the timeline of a whole run.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "managed_support.hpp"
#include "paths.hpp"

namespace lockstep::test {
namespace {

using nlohmann::json;

json golden() {
  std::ifstream in(LOCKSTEP_SOURCE_DIR "/tests/uvm/golden.json");
  return json::parse(in);
}

struct Seen {
  json transfers = json::array(), write_backs = json::array();     // [first page or leaf, KB]
  std::vector<std::pair<std::uint64_t, std::uint64_t>> durations;  // KB, picoseconds
  std::uint64_t faults = 0;
  std::set<double> fault_times;
  json managed;  // of stats.json
};

using Pages = std::vector<unsigned>;

/// Loads of the first byte of each page, by CTA one after the other; each CTA has an SM of its own, and all
/// begin in one cycle.
Seen run(const std::vector<Pages>& ctas, std::vector<std::string> settings, const char* managed,
         const char* memory = "") {
  LoadChain::Ctas all;
  for (const Pages& pages : ctas) {
    auto& of_cta = all.loads.emplace_back();
    for (const unsigned page : pages) of_cta.push_back(kBase + Address{page} * 4096);
  }
  const LoadChain trace(all);
  settings.push_back("launch.dispatch_interval_milli=1");
  auto options = managed_options(smart_gpu(settings), managed, memory);
  options.config.gpu.sms =
      std::max<std::uint32_t>(options.config.gpu.sms, static_cast<std::uint32_t>(ctas.size()));
  options.timeline = true;
  const auto result = gpu::simulate(*trace, options);
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  Seen seen;
  seen.managed = json::parse(stats::to_json(result.report)).at("managed");
  const json file = json::parse(result.timeline);
  for (const json& e : file.at("traceEvents")) {
    const std::string name = e.at("name");
    seen.faults += name == "far fault" ? e["args"]["bytes"].get<std::uint64_t>() / 4096 : 0;
    if (name == "far fault") seen.fault_times.insert(e.at("ts").get<double>());
    const bool in = name == "migration" || name == "prefetch";
    if (!in && name != "write-back") continue;
    const Address address = std::stoull(e["args"]["address"].get<std::string>(), nullptr, 16) - kBase;
    const std::uint64_t kb = e["args"]["bytes"].get<std::uint64_t>() / 1024;
    (in ? seen.transfers : seen.write_backs).push_back({address / (in ? 4096 : 65536), kb});
    seen.durations.emplace_back(kb,
                                static_cast<std::uint64_t>(std::llround(e.at("dur").get<double>() * 1e6)));
  }
  return seen;
}

/// The transfers of all steps, and the pages that fault, by CTA: pages of one step fault in one cycle.
std::vector<Pages> steps(const json& scenario, json& transfers) {
  transfers = json::array();
  std::vector<Pages> ctas(1);
  for (const json& step : scenario.at("steps")) {
    const auto faults = step.at("faults").get<Pages>();
    if (faults.size() > 1) REQUIRE(scenario["steps"].size() == 1);  // CTAs would drift apart
    if (ctas.size() < faults.size()) ctas.resize(faults.size());
    for (std::size_t i = 0; i < faults.size(); ++i) ctas[i].push_back(faults[i]);
    for (const json& t : step.at("transfers")) transfers.push_back(t);
  }
  return ctas;
}

void check_times(const Seen& seen) {
  const json cycles = golden().at("arctan");
  for (const auto& [kb, ps] : seen.durations)
    CHECK(ps == cycles.at(std::to_string(kb)).get<std::uint64_t>() * 1000000000 / 1481000);
}

TEST_CASE("golden transfers and cycles come out of a whole run") {
  unsigned scenarios = 0;
  const json all = golden();
  for (const json& scenario : all.at("prefetch")) {
    INFO(scenario.at("policy") << " " << scenario.at("name"));
    json expected;
    const std::vector<Pages> ctas = steps(scenario, expected);
    const std::string managed =
        "0x7f8000000000+" + std::to_string(scenario.at("pages").get<unsigned>() * 4) + "KiB";
    const Seen seen =
        run(ctas, {"uvm.prefetcher=" + scenario.at("policy").get<std::string>()}, managed.c_str());
    CHECK(seen.transfers == expected);
    std::size_t faults = 0;
    for (const Pages& pages : ctas) faults += pages.size();
    CHECK(seen.faults == faults);
    CHECK(seen.managed.at("faults") == faults);
    if (ctas.size() > 1) CHECK(seen.fault_times.size() == 1);  // one cycle
    CHECK(seen.managed.at("transfers") == expected.size());
    check_times(seen);
    ++scenarios;
  }
  CHECK(scenarios == 21);
}

TEST_CASE("golden write-backs of tree eviction come out of a whole run") {
  // The first 2 MB come in six faults, their leaves in ascending order; then the second 2 MB, page by page.
  std::vector<unsigned> pages = {0, 16, 32, 64, 128, 256};
  for (unsigned page = 512; page < 1024; ++page) pages.push_back(page);
  const Seen seen =
      run({pages}, {"uvm.prefetcher=tbn", "uvm.prefetcher_oversubscribed=none", "uvm.evictor=tbn"},
          "0x7f8000000000+4MiB", "2MiB");
  json expected = json::array();
  const json all = golden();
  for (const json& scenario : all.at("evict")) {
    if (scenario.at("name") != "2MB_full_ascending") continue;
    for (const json& step : scenario.at("steps"))
      for (const json& w : step.at("write_backs")) expected.push_back(w);
  }
  CHECK(expected.size() == 6);
  CHECK(seen.write_backs == expected);
  CHECK(seen.managed.at("write_backs") == expected.size());
  CHECK(seen.managed.at("bytes_to_host") == 2 << 20);
  check_times(seen);
}

TEST_CASE("a kernel ends when the link is idle, with UVMSmart's values") {
  const LoadChain trace({kBase});
  for (const bool waits : {false, true}) {
    auto options = managed_options(
        smart_gpu({"uvm.prefetcher=tbn", waits ? "uvm.exits_wait=true" : "uvm.exits_wait=false"}),
        "0x7f8000000000+64KiB");
    options.timeline = true;
    const auto result = gpu::simulate(*trace, options);
    const auto& kernel = result.report.kernels.at(0);
    const json file = json::parse(result.timeline);
    double end_of_link = 0;
    for (const json& e : file.at("traceEvents"))
      if (e.at("name") == "prefetch") end_of_link = e["ts"].get<double>() + e["dur"].get<double>();
    const auto link = static_cast<Cycle>(std::llround(end_of_link * 1.481e3));  // core cycles
    if (waits) {
      CHECK(kernel.start_cycle + kernel.cycles == link + 1);
    } else {
      CHECK(kernel.start_cycle + kernel.cycles < link);
    }
  }
}

}  // namespace
}  // namespace lockstep::test
