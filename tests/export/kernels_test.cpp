// Kernels, copies, streams and events: the graph alone takes as long as the simulation.
#include "replayer.hpp"
#include "support.hpp"

namespace lockstep::test {
namespace {

// The host learns of an end this much later (launch.done_latency_ps, host.data_latency_ps), which no kernel's
// and no copy's time includes.
constexpr double kNotice = 200;

}  // namespace

TEST_CASE("Kernels of one stream: the makespan is their sum, and the run") {
  const ListedTrace trace("kernel-1.traceg\nkernel-1.traceg\nkernel-1.traceg\n");
  const Simulated run(*trace, one_gpu());
  const exporter::Graph graph = run.graph();
  double sum = 0;
  for (const stats::KernelResult& kernel : run.result.report.kernels)
    sum += static_cast<double>(kernel.launch_cycles + kernel.cycles) * 1e6 /
           static_cast<double>(run.result.report.core_khz);
  REQUIRE(graph.nodes.size() == 3);
  CHECK(computed(graph, (*trace).kernels()[0].name) == Approx(sum).margin(0.01));
  const double makespan = Goal(run.goal()).makespan();
  CHECK(makespan == Approx(sum).margin(1));
  CHECK(makespan == Approx(run.ns()).margin(10));
}

TEST_CASE("Copies and kernels of several streams overlap as in the simulation") {
  // Stream 1 copies while stream 0 computes; then stream 2 waits for both, and copies back.
  const std::string commands =
      "MemcpyHtoD,0x7f8000000000,65536,0\nkernel-1.traceg\nMemcpyHtoD,0x7f8010000000,262144,1\nkernel-1."
      "traceg\n"
      "EventRecord,0\nEventRecord,1\nStreamWait,2,0\nStreamWait,2,1\nMemcpyDtoH,0x7f8020000000,131072,"
      "2\nWait\n"
      "kernel-1.traceg\n";
  const ListedTrace trace(commands);
  const Simulated run(*trace, one_gpu());
  const exporter::Graph graph = run.graph();
  const double makespan = Goal(run.goal()).makespan();
  CHECK(makespan == Approx(run.ns()).margin(4 * kNotice));
  const double kernels = computed(graph, (*trace).kernels()[0].name);
  const double to_device = computed(graph, "host_to_device"), to_host = computed(graph, "device_to_host");
  CHECK(makespan < kernels + to_device + to_host - 1000);
  CHECK(makespan > kernels + to_host);
}

TEST_CASE("Copies in one direction share a link, copies in both do not") {
  const auto makespan = [](const char* second) {
    const ListedTrace trace(std::string("MemcpyHtoD,0x7f8000000000,1048576,1\n") + second +
                            ",0x7f8010000000,1048576,2\nkernel-1.traceg\n");
    const Simulated run(*trace, one_gpu());
    CHECK(Goal(run.goal()).makespan() == Approx(run.ns()).margin(2 * kNotice));
    return run.ns();
  };
  CHECK(makespan("MemcpyHtoD") > 1.8 * makespan("MemcpyDtoH"));
}

TEST_CASE("Copies of a trace without streams, in both modes") {
  const ListedTrace trace(
      "MemcpyHtoD,0x7f8000000000,65536\nMemcpyHtoD,0x7f8010000000,65536\nkernel-1.traceg\n"
      "MemcpyDtoH,0x7f8020000000,262144\nkernel-1.traceg\n");
  for (const char* mode : {"host.copy_mode=blocking", "host.copy_mode=overlapped"}) {
    CAPTURE(mode);
    const Simulated run(*trace, one_gpu({mode}));
    CHECK(Goal(run.goal()).makespan() == Approx(run.ns()).margin(5 * kNotice));
  }
  const Simulated slow(*trace, one_gpu({"host.copy_start_ns=5000ns"}));
  CHECK(Goal(slow.goal()).makespan() == Approx(slow.ns()).margin(5 * kNotice));
}

TEST_CASE("The host's calls take their time, each thread's one after another") {
  const ListedTrace trace(
      "HostCall,0,1\nkernel-1.traceg\nHostCall,1,1\nMemcpyHtoD,0x7f8000000000,65536,3\nHostCall,0,1\n"
      "kernel-1.traceg\nWait\nHostCall,0,2\nHostCall,0,1\nkernel-1.traceg\n");
  const Simulated run(*trace, one_gpu());
  const Goal goal(run.goal());
  CHECK(goal.makespan() == Approx(run.ns()).margin(3 * kNotice));
  const config::LaunchGroup launch = one_gpu().devices[0].launch;
  CHECK(computed(run.graph(), "call") == 4.0 * launch.call_ns);
  CHECK(computed(run.graph(), "return") == 1.0 * launch.wait_ns);
}

TEST_CASE("A copy between devices is a message, and so is a wait for another device") {
  config::SystemConfig system = config::resolve_system("dgx_a100", 2);
  const std::string list =
      "Device,0\nPlace,0x10000000000,4294967296\nDevice,1\nPlace,0x20000000000,4294967296\nDevice,0\n"
      "kernel-1.traceg\nMemcpyPeer,0x20000000000,0x10000000000,1048576,0\nEventRecord,0\nDevice,"
      "1\nStreamWait,0,0\n"
      "kernel-1.traceg\nWait\nDevice,0\nkernel-1.traceg\n";
  const ListedTrace trace(list);
  const Simulated run(*trace, system);
  const exporter::Graph graph = run.graph();
  using Kind = exporter::Node::Kind;
  REQUIRE(graph.ranks == 2);
  // The copy; back to device 0, whose stream waits for its end; from device 1's kernel to device 0.
  CHECK(count(graph, Kind::kSend) == 3);
  std::uint64_t bytes = 0;
  for (const exporter::Node& node : graph.nodes)
    if (node.kind == Kind::kSend) bytes += node.bytes;
  CHECK(bytes == 1048576);
  const auto& copies = run.result.report.copies;
  REQUIRE(copies.size() == 1);
  const double copy_ns =
      static_cast<double>(copies[0].cycles) * 1e6 / static_cast<double>(run.result.report.core_khz);
  Network network;
  network.eager_bytes = 1e18;
  network.per_byte = copy_ns / 1048576;
  CHECK(Goal(run.goal()).makespan(network) == Approx(run.ns()).margin(4 * kNotice));
}

}  // namespace lockstep::test
