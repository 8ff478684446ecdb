// Times and rates of operations on an unloaded network against closed forms.
#include <map>
#include <string>

#include "support.hpp"

namespace lockstep::test {

TEST_CASE("What the links and the host's memory take is what the configuration says") {
  // A command in host memory: 24 bytes there and 64 + 24 back over two links of 15.75 GB/s, 325 ns each way,
  // and the memory's 80 ns. A completion record: a sector and 24 bytes.
  const Stages stages = alone(nodes(2, "dgpu"), some_put(8), "put");
  const double bytes_ns = 1 / 15.75;
  CHECK(stage(stages, "fetched") == Approx(2 * 325 + 80 + 2 * (24 + 88) * bytes_ns).margin(4));
  CHECK(stage(stages, "noticed") == Approx(325 + 2 * (32 + 24) * bytes_ns).margin(4));
  CHECK(stage(stages, "rung") == Approx(325 + 2 * (32 + 24) * bytes_ns).margin(4));
}

TEST_CASE("Each latency of the configuration is in the stages that pass it, as often as they pass it") {
  struct Change {
    const char* what;
    void (*apply)(config::SystemConfig&);
    double rung, fetched, sent, complete, noticed;  // ns more, of a put
  };
  const Change changes[] = {
      {"wire", [](config::SystemConfig& s) { kind(s, "wire").latency_ps += 200'000; }, 0, 0, 0, 4 * 200, 0},
      {"pcie_nic", [](config::SystemConfig& s) { kind(s, "pcie_nic").latency_ps += 200'000; }, 200, 400, 400,
       400, 200},
      {"nic.process", [](config::SystemConfig& s) { s.network.nic.process_ps += 300'000; }, 0, 0, 300, 300,
       0},
      {"nic.op_occupancy", [](config::SystemConfig& s) { s.network.nic.op_occupancy_ps += 400'000; }, 0, 0, 0,
       0, 0},
  };
  const Stages before = alone(nodes(), some_put(128), "put");
  for (const Change& change : changes) {
    INFO(change.what);
    config::SystemConfig system = nodes();
    change.apply(system);
    const Stages after = alone(system, some_put(128), "put");
    const auto more = [&](const char* name) { return stage(after, name) - stage(before, name); };
    CHECK(more("rung") == Approx(change.rung).margin(3));
    CHECK(more("fetched") == Approx(change.fetched).margin(3));
    // Reads of data wait for a DRAM that refreshes at times of its own; polls of records have a period.
    CHECK(more("sent") == Approx(change.sent).margin(25));
    CHECK(more("complete") == Approx(change.complete).margin(25));
    CHECK(more("noticed") == Approx(change.noticed).margin(150));
  }
}

TEST_CASE("A call's instructions take their time: n over the instructions per cycle") {
  config::SystemConfig system = nodes();
  const double before = stage(alone(system, some_put(8), "put"), "issued");
  system.network.service.issue_instructions += 1600;
  CHECK(stage(alone(system, some_put(8), "put"), "issued") - before == Approx(1600 / 0.8 / 2.0).margin(3));
  system = nodes(2, "dgpu");
  const double host = stage(alone(system, some_put(8), "put"), "issued");
  system.network.service.issue_instructions += 1800;
  CHECK(stage(alone(system, some_put(8), "put"), "issued") - host == Approx(1800 / 1.8 / 4.0).margin(3));
}

TEST_CASE("Data of an inlined put are not read; those of others are") {
  trace::NetOperation inlined = some_put(8);
  inlined.inlined = true;
  CHECK(stage(alone(nodes(), inlined, "put"), "sent") == Approx(50).margin(2));  // nic.process_ps
  CHECK(stage(alone(nodes(), some_put(8), "put"), "sent") > 50 + 2 * 325);
}

TEST_CASE("A long operation moves as fast as the slowest link") {
  for (const char* design : kDesigns)
    for (const bool puts : {true, false}) {
      INFO(design << (puts ? ", put" : ", get"));
      const auto time = [&](std::uint64_t bytes) {
        return puts ? stage(alone(nodes(2, design), some_put(bytes), "put"), "complete")
                    : stage(alone(nodes(2, design), get(1, NetScenario::data(0), NetScenario::data(1), bytes),
                                  "get"),
                            "complete");
      };
      const double bytes_per_ns = (1 << 18) / (time(1 << 19) - time(1 << 18));
      CHECK(bytes_per_ns > 0.95 * 12.5);
      CHECK(bytes_per_ns <= 12.5);
    }
}

TEST_CASE("Small operations begin one every nic.op_occupancy_ps") {
  config::SystemConfig system = quick_agents();
  system.network.nic.op_occupancy_ps = 2'000'000;
  const auto time = [&](unsigned operations) {
    NetScenario scenario;
    scenario.queue(0);
    for (unsigned i = 0; i < operations; ++i) {
      trace::NetOperation one = some_put(8, false);
      one.inlined = true;
      scenario.request(0, one);
    }
    return static_cast<double>(longest_activity(scenario.run(system))) / 1000;
  };
  CHECK(time(40) - time(20) == Approx(20 * 2000).epsilon(0.02));
}

TEST_CASE("Two NICs that send to one share its link equally") {
  NetScenario scenario(3);
  for (std::uint16_t d : {std::uint16_t{0}, std::uint16_t{1}}) {
    scenario.queue(d);
    scenario.wait(
        d, 0,
        scenario.request(d, put(2, NetScenario::data(d), NetScenario::data(2) + d * 0x1000000, 1 << 19)));
  }
  const gpu::RunResult result = scenario.run(nodes(3));
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  std::map<std::string, double> ends;
  for (const auto& thread : network(result).threads)
    if (thread.operations[0].count > 0) ends[thread.node] = stage(thread.operations[0], "complete");
  REQUIRE(ends.size() == 2);
  CHECK(ends["gpu0"] == Approx(2 * (1 << 19) / 12.5).epsilon(0.05));
  CHECK(ends["gpu0"] == Approx(ends["gpu1"]).epsilon(0.01));
}

/// Printed: ComP-Net's paper has more than 2 below 512 bytes; no number was set to come near that.
TEST_CASE("A host needs longer for a small get than a command processor, and as long for a large one",
          "[slow]") {
  for (const std::uint64_t bytes : {8u, 64u, 512u, 4096u, 65536u, 1048576u}) {
    std::map<std::string, double> ns;
    for (const char* design : {"compnet", "dgpu"}) {
      NetScenario scenario;
      scenario.queue(0);
      for (unsigned i = 0; i < 8; ++i)
        scenario.wait(0, 0, scenario.request(0, get(1, NetScenario::data(0), NetScenario::data(1), bytes)));
      const gpu::RunResult result = scenario.run(nodes(2, design));
      for (const stats::KernelResult& kernel : result.report.kernels)
        if (kernel.device == 0) ns[design] = static_cast<double>(kernel.cycles) / 1.5 / 8;
      std::printf("%s, %llu bytes: %.0f ns a get\n", design, static_cast<unsigned long long>(bytes),
                  ns[design]);
    }
    const double ratio = ns["dgpu"] / ns["compnet"];
    std::printf("  dgpu / compnet: %.2f\n", ratio);
    CHECK((bytes <= 512 ? ratio > 1.2 : ratio > 1));
    if (bytes == 1048576) CHECK(ratio < 1.1);
  }
}

}  // namespace lockstep::test
