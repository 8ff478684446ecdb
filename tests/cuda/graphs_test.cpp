// Graphs by the driver API: cuGraph..., and what both APIs tell of a graph.
#include <catch2/catch.hpp>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep;
using namespace lockstep::cli;

TEST_CASE(
    "graphs of the driver API: nodes, edges, parameters, instances, captures, as the documentation says") {
  const Folder folder;
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/data/driver.ptx";
  const Finished done =
      run({"exec", "--functional", "--", LOCKSTEP_GRAPHS_PROGRAM, ptx, folder / "graph.dot"});
  CHECK(done.out == "PASS\n");
  CHECK(done.code == 0);
  CHECK(done.err.find("not supported") == std::string::npos);
  CHECK(slurp(folder / "graph.dot") == R"(digraph dot {
subgraph cluster_0 {
label="graph_0";
"graph_0_node_0"[shape=box,label="MEMSET\n0x5, 4 bytes"];
"graph_0_node_1"[shape=box,label="KERNEL\nscale\n1x1x1 CTAs of 1x1x1"];
"graph_0_node_2"[shape=box,label="MEMCPY\n4 bytes"];
"graph_0_node_3"[shape=box,label="HOST"];
"graph_0_node_0" -> "graph_0_node_1";
"graph_0_node_1" -> "graph_0_node_2";
"graph_0_node_2" -> "graph_0_node_3";
}
}
)");
}

TEST_CASE("graphs of the driver API: recordings and reports are those of any number of threads") {
  const Folder folder;
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/data/driver.ptx";
  const auto report = [&](const char* threads) {
    CHECK(run({"exec", "-q", "--threads", threads, "-o", folder / "out", "--", LOCKSTEP_GRAPHS_PROGRAM, ptx,
               folder / "graph.dot"})
              .out == "PASS\n");
    return slurp(folder / "out/stats.json");
  };
  const std::string one = report("1");
  CHECK(one.find("\"scale\"") != std::string::npos);
  CHECK(report("2") == one);
}

TEST_CASE("graph nodes: parameters and attributes that are set and told, batches, children, objects") {
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/data/driver.ptx";
  const Finished done = run({"exec", "--functional", "--", LOCKSTEP_GRAPH_NODES_PROGRAM, ptx});
  CHECK(done.out == "PASS\n");
  CHECK(done.code == 0);
  CHECK(done.err.find("not supported") == std::string::npos);
}

TEST_CASE("graph nodes: reports are those of any number of threads") {
  const Folder folder;
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/data/driver.ptx";
  const auto report = [&](const char* threads) {
    const Finished done = run(
        {"exec", "-q", "--threads", threads, "-o", folder / "out", "--", LOCKSTEP_GRAPH_NODES_PROGRAM, ptx});
    CHECK(done.out == "PASS\n");
    CHECK(done.err.find("waits for values in memory order work as the program needs it") !=
          std::string::npos);
    return slurp(folder / "out/stats.json");
  };
  const std::string one = report("1");
  CHECK(one.find("\"scale\"") != std::string::npos);
  CHECK(report("2") == one);
}
