// Several devices and their links, from a trace that names devices.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "config/system_config.hpp"
#include "listed_trace.hpp"
#include "resume_support.hpp"
#include "run_ways.hpp"
#include "util/error.hpp"

namespace lockstep::test {
namespace {

using Catch::Matchers::Contains;

std::string place(int device, const char* address, const char* bytes) {
  return "Device," + std::to_string(device) + "\nPlace," + address + "," + bytes + "\n";
}

/// Each device has 4 GiB from (device + 1) << 40 on; then the copies; a kernel, because there must be one.
std::string copies(unsigned devices, const std::vector<std::pair<int, int>>& from_to, std::uint64_t bytes) {
  std::string text;
  const auto base = [](int d) {
    char hex[32];
    std::snprintf(hex, sizeof hex, "0x%llx", (static_cast<unsigned long long>(d) + 1) << 40);
    return std::string(hex);
  };
  for (unsigned d = 0; d < devices; ++d)
    text += place(static_cast<int>(d), base(static_cast<int>(d)).c_str(), "4294967296");
  for (const auto& [from, to] : from_to)
    text += "Device," + std::to_string(from) + "\nMemcpyPeer," + base(to) + "," + base(from) + "," +
            std::to_string(bytes) + "," + std::to_string(100 + to) + "\n";
  return text + "Device,0\nkernel-1.traceg\n";
}

/// Bytes a second of the slowest of these copies, from two sizes: start-up cancels out.
double slope(const config::SystemConfig& system, const std::vector<std::pair<int, int>>& from_to) {
  constexpr std::uint64_t kSmall = 1 << 20, kLarge = 3 << 20;
  const auto slowest = [&](std::uint64_t bytes) {
    Cycle most = 0;
    for (const stats::CopyResult& copy :
         report_of_list(copies(static_cast<unsigned>(system.devices.size()), from_to, bytes), system)
             .copies) {
      CHECK(copy.kind == "peer_to_peer");
      most = std::max(most, copy.cycles);
    }
    return most;
  };
  const double seconds = static_cast<double>(slowest(kLarge) - slowest(kSmall)) /
                         (static_cast<double>(system.devices[0].clock.core_khz) * 1000);
  return static_cast<double>(kLarge - kSmall) / seconds;
}

TEST_CASE("Copies over four links of NVLink 3 are as fast as four A100 do them", "[long]") {
  // a100_4x_nvlink.json: 94.06 GB/s one way, 93.22 each way at once, 281.65 from one to the three others.
  const config::SystemConfig system = config::resolve_system("hgx_a100_4");
  CHECK(slope(system, {{0, 1}}) / 1e9 == Approx(94.06).epsilon(0.01));
  CHECK(slope(system, {{0, 1}, {1, 0}}) / 1e9 == Approx(93.22).epsilon(0.01));
  CHECK(3 * slope(system, {{0, 1}, {0, 2}, {0, 3}}) / 1e9 == Approx(281.65).epsilon(0.01));
}

TEST_CASE("A copy through NVSwitches is as fast as on a DGX A100") {
  // nvbandwidth README @66746a3, HGX A100 8x: 274.9 to 276.8 GB/s.
  const config::SystemConfig system = config::resolve_system("dgx_a100", 2);
  CHECK(slope(system, {{0, 1}}) / 1e9 == Approx(275.9).epsilon(0.05));
}

TEST_CASE("Copies over NVLink 4 are as fast as H100s do them", "[long]") {
  // p2pBandwidthLatencyTest: 371.0 to 376.8 GB/s one way on eight H100 SXM (NVIDIA/nccl#1264), 260.9 in both
  // directions together over six links (NVIDIA/cuda-samples#392); headers were derived from another system.
  const config::SystemConfig switched = config::resolve_system("dgx_h100", 2);
  CHECK(slope(switched, {{0, 1}}) / 1e9 == Approx(374).epsilon(0.05));
  const config::SystemConfig direct = config::resolve_system("gh200_4", 2);
  CHECK(2 * slope(direct, {{0, 1}, {1, 0}}) / 1e9 == Approx(260.9).epsilon(0.03));
  // The closed form: a line of 128 bytes takes 150 bytes of 450 and of 150 GB/s.
  CHECK(slope(switched, {{0, 1}}) / 1e9 == Approx(450 * 128.0 / 150).epsilon(0.01));
  CHECK(slope(direct, {{0, 1}}) / 1e9 == Approx(150 * 128.0 / 150).epsilon(0.01));
}

TEST_CASE("A copy of nothing ends") {
  const auto done = report_of_list(copies(2, {{0, 1}}, 0), config::resolve_system("dgx_a100", 2)).copies;
  REQUIRE(done.size() == 1);
  CHECK(done[0].bytes == 0);
}

TEST_CASE("Two copies to one device share its link") {
  const config::SystemConfig system = config::resolve_system("dgx_a100", 3);
  CHECK(2 * slope(system, {{0, 2}, {1, 2}}) == Approx(slope(system, {{0, 2}})).epsilon(0.02));
}

/// Two devices that use each other's memory in every way.
std::string entangled(int devices) {
  std::string text = place(1, kOutput, "16777216") + place(0, kFirstInput, "16777216");
  for (int d = 0; d < devices; ++d)
    text += "Device," + std::to_string(d) + "\nkernel-1.traceg\nEventRecord,0\n";
  text += "Device,1\nStreamWait,5,0\nMemcpyPeer,";
  return text + kFirstInput + "," + kOutput + ",100001,5\nWait\nDevice,0\nkernel-1.traceg\n";
}

void check_identity(int devices) {
  const config::SystemConfig system = config::resolve_system("dgx_a100", static_cast<std::uint32_t>(devices));
  const std::string list = entangled(devices);
  const std::string one = bytes_of(report_of_list(list, system));
  for (const RunWay& way : kRunWays) {
    INFO("threads " << way.threads << ", window " << way.window << ", devices " << devices);
    CHECK((bytes_of(report_of_list(list, system, way.options())) == one));
  }
}

TEST_CASE("Threads, windows, schedule, skipping and the order of domains change no byte of two devices",
          "[matrix]") {
  check_identity(2);
}
TEST_CASE("Threads, windows, schedule, skipping and the order of domains change no byte of four devices",
          "[long]") {
  check_identity(4);
}
TEST_CASE("Threads, windows, schedule, skipping and the order of domains change no byte of eight devices",
          "[long]") {
  check_identity(8);
}

TEST_CASE("A run of devices that use each other's memory goes on from its state") {
  const ListedTrace trace(entangled(2) + entangled(2));
  gpu::RunOptions options;
  options.system = config::resolve_system("dgx_a100", 2);
  options.config = options.system->devices.front();
  check_resume(*trace, options, 2, 3);
}

TEST_CASE("What goes into a link comes out, and each request has its reply") {
  const config::SystemConfig system = config::resolve_system("dgx_a100", 2);
  const stats::RunReport report =
      report_of_list(place(1, kOutput, "16777216") + "Device,0\nkernel-1.traceg\n", system);
  REQUIRE(report.system);
  std::map<std::pair<std::string, std::string>, stats::LinkResult> links;
  for (const stats::LinkResult& link : report.system->links) links[{link.from, link.to}] = link;
  const auto& out = links[{"gpu0", "nvswitch"}];
  const auto& in = links[{"nvswitch", "gpu1"}];
  // 48 CTAs of 256 threads store 4 bytes each; whole lines.
  CHECK(out.data_bytes == 48 * 256 * 4);
  CHECK(out.messages == 48 * 256 * 4 / 128);
  CHECK(out.bytes == out.messages * (128 + 16 + 32));
  CHECK((in.data_bytes == out.data_bytes && in.bytes == out.bytes && in.messages == out.messages));
  const auto& acks = links[{"nvswitch", "gpu0"}];
  CHECK((acks.messages == out.messages && acks.data_bytes == 0 && acks.bytes == out.messages));
  const stats::KernelCounters& kernel = report.kernels.at(0).counters;
  CHECK(kernel.icnt.requests > 0);
  CHECK(report.unattributed.icnt.requests == out.messages);  // device 1's slices were asked for each, once
}

TEST_CASE("A peer's memory is farther than one's own; loads take a round trip more") {
  const config::SystemConfig system = config::resolve_system("dgx_a100", 2);
  const auto cycles = [&](const std::string& list) {
    return report_of_list(list, system).kernels.at(0).cycles;
  };
  const Cycle own = cycles("kernel-1.traceg\n");
  CHECK(cycles(place(0, kFirstInput, "16777216") + "kernel-1.traceg\n") == own);
  // Both inputs: two links of 150 ns each way, at 1410 MHz.
  const Cycle there_and_back = 4 * 150 * 1410 / 1000;
  const Cycle far = cycles(place(1, kFirstInput, "536870912") + "Device,0\nkernel-1.traceg\n");
  CHECK(far > own + there_and_back);
  CHECK(far < own + 3 * there_and_back);
}

TEST_CASE(
    "A kernel that has stored to another device ends with a release of system scope, and no other does") {
  config::SystemConfig system = config::resolve_system("dgx_a100", 2);
  const auto cycles = [&](std::uint32_t membar, const std::string& list, std::uint16_t device = 0) {
    for (config::GpuConfig& each : system.devices) each.sync.membar_system = membar;
    for (const stats::KernelResult& kernel : report_of_list(list, system).kernels)
      if (kernel.device == device) return kernel.cycles;
    return kNever;
  };
  const std::string kernel = "Device,0\nkernel-1.traceg\n";
  const std::string stores = place(1, kOutput, "16777216") + kernel;
  CHECK(cycles(3000, stores) == cycles(1000, stores) + 2000);
  const std::string loads = place(1, kFirstInput, "536870912") + kernel;
  CHECK(cycles(3000, loads) == cycles(1000, loads));
  const std::string both = stores + "Device,1\nkernel-1.traceg\n";  // device 1 stores to its own memory
  CHECK(cycles(3000, both, 1) == cycles(1000, both, 1));
}

TEST_CASE("One device keeps every cycle, whether its memory is named or not") {
  const config::SystemConfig one = config::unlinked_system(config::resolve("a100"), 1);
  const stats::RunReport plain = report_of_list("kernel-1.traceg\n", one);
  const stats::RunReport named =
      report_of_list(std::string("Place,") + kOutput + ",4096\nkernel-1.traceg\n", one);
  CHECK(plain.total_cycles == named.total_cycles);
  CHECK_FALSE(plain.system);
  CHECK_THAT(stats::to_json(plain), Contains("\"schema\":1") && !Contains("\"device\""));
}

TEST_CASE(
    "Where no link leads, copies go through the host, and accesses are an error that names both devices") {
  const config::SystemConfig dgx1 = config::resolve_system("dgx1_v100");
  const auto staged = report_of_list(copies(8, {{0, 5}}, 65536), dgx1).copies;
  REQUIRE(staged.size() == 2);
  CHECK((staged[0].kind == "device_to_host" && staged[0].device == 0));
  CHECK((staged[1].kind == "host_to_device" && staged[1].device == 5));
  const config::SystemConfig apart = config::unlinked_system(config::resolve("a100"), 2);
  CHECK_THROWS_WITH(report_of_list(place(1, kOutput, "16777216") + "Device,0\nkernel-1.traceg\n", apart),
                    Contains("device 0 accesses the memory of device 1, and no link leads there"));
}

TEST_CASE("Devices of different GPU models keep their own clocks, and run side by side") {
  config::SystemConfig system = config::resolve_system("dgx_a100", 2);
  system.devices[1] = config::resolve("v100");
  const stats::RunReport report =
      report_of_list("Device,1\nkernel-1.traceg\nDevice,0\nkernel-1.traceg\n", system);
  const auto alone = [](const char* gpu) {
    return report_of_list("kernel-1.traceg\n", config::unlinked_system(config::resolve(gpu), 1))
        .kernels.at(0)
        .cycles;
  };
  REQUIRE(report.kernels.size() == 2);
  for (const stats::KernelResult& kernel : report.kernels)
    CHECK(kernel.cycles == alone(kernel.device == 0 ? "a100" : "v100"));
}

TEST_CASE("Work of a device that is not there, and ranges of managed memory of several, are refused") {
  const config::SystemConfig two = config::resolve_system("dgx_a100", 2);
  CHECK_THROWS_WITH(report_of_list("Device,2\nkernel-1.traceg\n", two),
                    Contains("the trace has work of device 2"));
  CHECK_THROWS_WITH(
      report_of_list("Device,1\nkernel-1.traceg\n", config::unlinked_system(config::resolve("v100"), 1)),
      Contains("--gpus 2"));
  gpu::RunOptions options;
  options.managed.kind = gpu::ManagedOptions::Kind::kAll;
  CHECK_THROWS_WITH(report_of_list("kernel-1.traceg\n", two, options),
                    Contains("of --managed are for one device"));
}

}  // namespace
}  // namespace lockstep::test
