// Kernels that use the network, beside the machine that serves them: live, from their recording, in all
// designs.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

/// Nodes of compnet_8 with another design.
std::string system_file(const Folder& folder, const std::string& design) {
  const bool apu = design == "apu";
  std::string text = run({"config", apu ? "compnet_apu_8" : "compnet_8"}).out;
  const std::string shipped = apu ? "design = apu" : "design = compnet";
  text.replace(text.find(shipped), shipped.size(), "design = " + design);
  std::ofstream(folder / (design + ".ini")) << text;
  return folder / (design + ".ini");
}

std::vector<std::string> ping_pong() {
  return {"--", std::string(LOCKSTEP_SHMEM_EXAMPLES) + "/ping_pong", "64", "3"};
}

std::string statistics(const Folder& folder, std::vector<std::string> command) {
  command.insert(command.begin() + 1, {"-q", "-o", folder / "out"});
  const Finished finished = run(std::move(command));
  INFO(finished.err);
  CHECK(finished.code == 0);
  return slurp(folder / "out/stats.json");
}

/// Rings over all nodes, on one thread and on three.
void check_rings(const std::string& system, const std::string& nodes) {
  INFO(nodes);
  const Folder folder;
  const auto bytes = [&](const char* threads) {
    return statistics(folder, {"exec", "-c", system, "--gpus", nodes, "-t", threads, "--",
                               std::string(LOCKSTEP_SHMEM_EXAMPLES) + "/allreduce_rings", "32", "2"});
  };
  const std::string expected = bytes("1");
  CHECK(bytes("3") == expected);
  // Each PE puts a chunk in each of 2 * (nodes - 1) steps of each of the two rings.
  std::uint64_t puts = 0;
  const auto results = nlohmann::json::parse(expected);
  for (const auto& nic : results["system"]["network"]["nics"]) puts += nic["puts"].get<std::uint64_t>();
  const std::uint64_t of_each = 2 * (std::stoul(nodes) - 1) * 2;
  CHECK(puts == std::stoul(nodes) * of_each);
}

}  // namespace

TEST_CASE("network: a program and its recording give the same bytes, in every way to run them", "[long]") {
  for (const char* design : {"compnet", "dgpu", "dgpu_host", "apu", "direct"}) {
    INFO(design);
    const Folder folder;
    const std::string system = system_file(folder, design), trace = folder / "kept.lst";
    std::vector<std::string> live{"exec", "-c", system, "--gpus", "2", "-t", "1", "--record", trace};
    for (const std::string& word : ping_pong()) live.push_back(word);
    const std::string expected = statistics(folder, live);
    CHECK(statistics(folder, {"run", trace, "-c", system, "--gpus", "2", "-t", "2"}) == expected);
    CHECK(statistics(folder, {"run", trace, "-c", system, "--gpus", "2", "-t", "2", "--window", "3",
                              "--shuffle", "7"}) == expected);

    std::uint64_t count = 0;
    const auto results = nlohmann::json::parse(expected);
    for (const auto& thread : results["system"]["network"]["threads"])
      if (const auto& operations = thread["operations"]; operations.contains("put"))
        count += operations["put"]["count"].get<std::uint64_t>();
    CHECK(count == 6);  // each way, three times
  }
}

TEST_CASE("network: programs of hosts and their recordings give the same bytes, in every way to run them",
          "[long]") {
  for (const std::string design : {"inter_kernel", "cpu"}) {
    INFO(design);
    const Folder folder;
    const std::string system = system_file(folder, design), trace = folder / "kept.lst";
    const std::string program = std::string(LOCKSTEP_SHMEM_EXAMPLES) + "/jacobi";
    const std::string form = design == "cpu" ? "cpu" : "inter";
    const std::string expected = statistics(folder, {"exec", "-c", system, "--gpus", "4", "-t", "1",
                                                     "--record", trace, "--", program, "32", "3", form});
    CHECK(statistics(folder, {"run", trace, "-c", system, "--gpus", "4", "-t", "2"}) == expected);
    CHECK(statistics(folder, {"run", trace, "-c", system, "--gpus", "4", "-t", "2", "--window", "3",
                              "--shuffle", "7"}) == expected);
    CHECK(statistics(folder, {"run", trace, "-c", system, "--gpus", "4", "-t", "1", "--no-skip"}) ==
          expected);
    const auto info = nlohmann::json::parse(run({"info", trace, "--json"}).out)["network"];
    for (std::size_t d = 0; d < 4; ++d) {
      const bool inner = d == 1 || d == 2;
      const std::size_t messages = 3 * ((inner ? 2 : 1) + 2);
      CHECK(info[d]["tasks"]["sends"] == messages);
      CHECK(info[d]["tasks"]["receives"] == messages);
      CHECK(info[d]["tasks"]["sent_bytes"] == 3 * ((inner ? 2 : 1) * 32 * 4 + 2 * 4));
    }
    const auto results = nlohmann::json::parse(expected);
    CHECK(results["kernels"].size() == (design == "cpu" ? 0 : 4 * 3));
    for (const auto& process : results["system"]["network"]["processes"]) {
      const bool inner = process["device"] == 1 || process["device"] == 2;
      // Rows to one or two neighbours, and two rounds of the residual, in each iteration.
      CHECK(process["tasks"]["send"]["count"] == 3 * ((inner ? 2 : 1) + 2));
      CHECK(process["tasks"]["receive"]["count"] == 3 * ((inner ? 2 : 1) + 2));
      CHECK(process["bytes_sent"] == 3 * ((inner ? 2 : 1) * 32 * 4 + 2 * 4));
    }
  }
}

TEST_CASE("network: an all-reduce of hosts sends 2 (n - 1) / n of its data from each", "[long]") {
  const Folder folder;
  const std::string system = system_file(folder, "cpu");
  for (const std::uint64_t n : {2u, 4u}) {
    const auto results = nlohmann::json::parse(
        statistics(folder, {"exec", "-c", system, "--gpus", std::to_string(n), "--",
                            std::string(LOCKSTEP_SHMEM_EXAMPLES) + "/allreduce_rings", "1024", "2", "cpu"}));
    const std::uint64_t data = n * 2 * 1024 * 4, steps = 2 * (n - 1), signal = 32;  // a sector
    unsigned nics = 0;
    for (const auto& link : results["system"]["links"]) {
      if (link["to"] != "net") continue;
      ++nics;
      CHECK(link["data_bytes"] == data * steps / n + steps * signal);
    }
    CHECK(nics == n);
  }
}

TEST_CASE("network: the halves of an L2 forward polls that are answered sector by sector", "[long]") {
  const Folder folder;
  std::string text = run({"config", "compnet_8"}).out;
  const std::size_t halves = text.find("l2.halves");
  REQUIRE(halves != std::string::npos);
  text.replace(halves, text.find('\n', halves) - halves, "l2.halves = 2");
  std::ofstream(folder / "halves.ini") << text;
  const auto results = nlohmann::json::parse(
      statistics(folder, {"exec", "-c", folder / "halves.ini", "--gpus", "2", "--",
                          std::string(LOCKSTEP_SHMEM_EXAMPLES) + "/full_load", "64", "1", "32"}));
  for (const auto& nic : results["system"]["network"]["nics"]) CHECK(nic["gets"] == 64);
}

TEST_CASE("network: each PE waits for the other's put as long as that takes", "[long]") {
  const Folder folder;
  const auto time_of = [&](const std::string& wire_ps) {
    std::string text = run({"config", "compnet_8"}).out;
    const std::size_t wire = text.find("latency_ps", text.find("[wire]"));
    text.replace(wire, text.find('\n', wire) - wire, "latency_ps = " + wire_ps);
    std::ofstream(folder / "wire.ini") << text;
    std::vector<std::string> live{"exec", "-c", folder / "wire.ini", "--gpus", "2", "-t", "1"};
    for (const std::string& word : ping_pong()) live.push_back(word);
    return nlohmann::json::parse(statistics(folder, live))["kernels"][0]["cycles"].get<double>() / 1.5;
  };
  // Three round trips: a message and its signal over two wires each way. Acknowledgements come meanwhile. An
  // agent looks at its queues in rounds, so that each of the six messages may be seen a round earlier or
  // later.
  CHECK(time_of("20050 ns") - time_of("50 ns") == Approx(3 * 2 * 2 * 20000).epsilon(0.01));
}

TEST_CASE("network: 1, 2 and 8 nodes sum by rings, with the same bytes for every number of threads",
          "[long]") {
  for (const char* nodes : {"1", "2", "8"}) check_rings("compnet_8", nodes);
}

TEST_CASE("network: 64 nodes sum by rings, with the same bytes for every number of threads", "[long]") {
  check_rings("compnet_64", "64");
}
