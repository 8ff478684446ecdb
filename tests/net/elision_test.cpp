// Waits whose polls are counted, against waits whose polls are simulated one by one (sync.poll_elision).
#include <nlohmann/json.hpp>

#include "support.hpp"

namespace lockstep::test {
namespace {

/// Messages of both devices in turn, each after a time in which nothing happens but polls of words that
/// change at the end of it.
NetScenario turns(int nanoseconds) {
  NetScenario scenario;
  scenario.queue(0);
  scenario.queue(1);
  for (unsigned turn = 0; turn < 4; ++turn) {
    const auto from = static_cast<std::uint16_t>(turn % 2), to = static_cast<std::uint16_t>(1 - from);
    scenario.sleep(from, nanoseconds + 37 * static_cast<int>(turn));
    trace::NetOperation message = put(to, NetScenario::data(from), NetScenario::data(to), 512);
    message.signal = NetScenario::word(to, turn);
    scenario.wait(from, 0, scenario.request(from, message));
    scenario.await(to, NetScenario::word(to, turn), 1);
  }
  return scenario;
}

gpu::RunResult run(const NetScenario& scenario, config::SystemConfig system, bool elision,
                   const gpu::RunOptions& options = {}) {
  for (config::GpuConfig& device : system.devices) device.sync.poll_elision = elision;
  return scenario.run(system, options);
}

/// All statistics but the configuration's hash.
nlohmann::json statistics(const gpu::RunResult& result) {
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  nlohmann::json all = nlohmann::json::parse(stats::to_json(result.report));
  all.erase("config_hash");
  all.erase("overrides");
  for (auto& device : all["system"]["devices"]) device.erase("config_hash");
  return all;
}

}  // namespace

TEST_CASE("Where nothing else is under way, waits end as those of polls taken one by one") {
  for (const char* design : {"compnet", "dgpu", "apu", "direct"})
    for (const int nanoseconds : {700, 5'000, 40'000}) {
      INFO(design << ", " << nanoseconds << " ns");
      const NetScenario scenario = turns(nanoseconds);
      const nlohmann::json elided = statistics(run(scenario, nodes(2, design), true)),
                           simulated = statistics(run(scenario, nodes(2, design), false));
      // A message may meet one that is not sent, or one that says that a word is watched: a cycle each.
      const auto near = [&](const char* pointer, double margin) {
        const nlohmann::json::json_pointer at(pointer);
        INFO(pointer);
        CHECK(elided[at].get<double>() == Approx(simulated[at].get<double>()).margin(margin));
      };
      near("/kernels/0/cycles", 4);
      near("/kernels/1/cycles", 4);
      // Polls are counted as if they had been sent: lookups, requests, replies, and what the L2 had of them.
      for (const char* counter :
           {"icnt/requests", "icnt/replies", "icnt/flits", "l2/accesses", "l2/hits", "l2/requests"})
        for (const char* of : {"/total/", "/unattributed/"}) near((std::string(of) + counter).c_str(), 4);
      for (std::size_t t = 0; t < simulated["system"]["network"]["threads"].size(); ++t) {
        const std::string thread = "/system/network/threads/" + std::to_string(t);
        for (const char* count : {"/polls", "/found", "/record_polls", "/records"})
          near((thread + count).c_str(), 1);
        near((thread + "/instructions").c_str(), 24);  // two polls
        near((thread + "/active_ps").c_str(), 10'000);
      }
      CHECK(simulated["kernels"][0]["icnt"]["requests"] > 2 * nanoseconds / 200);  // a poll each 130 ns
    }
}

TEST_CASE("Threads, windows and the order of domains do not change a run with elided polls") {
  const NetScenario scenario = turns(9'000);
  const nlohmann::json one = statistics(run(scenario, nodes(), true));
  for (const unsigned way : {1u, 2u, 3u}) {
    gpu::RunOptions options;
    options.threads = 1 + way;
    options.window = way == 1 ? 0 : 2 * way;
    options.skip = way != 2;
    options.shuffle = way + 1;
    CHECK(statistics(run(scenario, nodes(), true, options)) == one);
  }
}

}  // namespace lockstep::test
