// Multicast memory of several devices in time: what switches copy and reduce.
#include <catch2/catch.hpp>
#include <map>

#include "config/system_config.hpp"
#include "listed_trace.hpp"
#include "util/error.hpp"

namespace lockstep::test {
namespace {

using Catch::Matchers::Contains;

// The generated "streaming": each thread reads 4 bytes of both inputs, and writes 4.
constexpr std::uint64_t kStreamedBytes = 48 * 256 * 4;  // of each, of 48 CTAs of 256 threads

config::SystemConfig multicasting(std::uint32_t devices) {
  config::SystemConfig system = config::resolve_system("dgx_a100", devices);
  system.multicast.insert("nvswitch");
  return system;
}

/// The window stands for memory of each device, at addresses of its own.
std::string window(unsigned devices, const char* at, unsigned place) {
  std::string text;
  for (unsigned d = 0; d < devices; ++d) {
    char memory[32];
    std::snprintf(memory, sizeof memory, "0x%llx", (d + 1ull) << 40 | place * 0x10000000ull);
    text += "Device," + std::to_string(d) + "\nPlace," + memory + ",16777216\nMulticast," + at + "," +
            memory + ",16777216\n";
  }
  return text;
}

std::map<std::pair<std::string, std::string>, stats::LinkResult> links_of(const stats::RunReport& report) {
  std::map<std::pair<std::string, std::string>, stats::LinkResult> links;
  for (const stats::LinkResult& link : report.system->links) links[{link.from, link.to}] = link;
  return links;
}

std::string gpu(unsigned d) { return "gpu" + std::to_string(d); }

TEST_CASE(
    "A multicast store goes up once and down to every device, its writer too; it is acknowledged once") {
  constexpr unsigned kDevices = 4;
  const auto report =
      report_of_list(window(kDevices, kOutput, 0) + "Device,0\nkernel-1.traceg\n", multicasting(kDevices));
  auto links = links_of(report);
  const std::uint64_t lines = kStreamedBytes / 128;
  const auto& up = links[{"gpu0", "nvswitch"}];
  CHECK(up.data_bytes == kStreamedBytes);
  CHECK(up.messages == 2 * lines);  // and the acknowledgements of its own copies
  CHECK(up.bytes == lines * (128 + 16 + 32 + 1));
  for (unsigned d = 0; d < kDevices; ++d) {
    const auto& down = links[{"nvswitch", gpu(d)}];
    CHECK(down.data_bytes == kStreamedBytes);
    CHECK(down.messages == (d == 0 ? 2 : 1) * lines);
    CHECK(down.bytes == lines * (128 + 16 + 32 + (d == 0 ? 1 : 0)));
    if (d > 0) CHECK(links[{gpu(d), "nvswitch"}].bytes == lines);
  }
  CHECK(report.unattributed.icnt.requests == kDevices * lines);  // each device's slices, once a line
}

TEST_CASE("A reducing load reads every device's memory, and one answer comes back") {
  constexpr unsigned kDevices = 4;
  const auto report = report_of_list(window(kDevices, kFirstInput, 0) + "Device,0\nkernel-1.traceg\n",
                                     multicasting(kDevices));
  auto links = links_of(report);
  const std::uint64_t lines = kStreamedBytes / 128;
  for (unsigned d = 0; d < kDevices; ++d) {
    const auto &down = links[{"nvswitch", gpu(d)}], &up = links[{gpu(d), "nvswitch"}];
    CHECK(up.data_bytes == kStreamedBytes);
    CHECK(down.data_bytes == (d == 0 ? kStreamedBytes : 0));
    if (d > 0) CHECK((down.messages == lines && down.bytes == lines * 16));
  }
}

TEST_CASE("The time of multicast stores and loads is that of the fullest wire") {
  // All devices at once. Stores: n times their own go down to each. Loads: the data of n devices' loads go
  // up.
  constexpr unsigned kDevices = 4;
  config::SystemConfig system = multicasting(kDevices);
  for (config::LinkKind& kind : system.kinds) kind.bytes_per_second = 1'000'000'000;  // links are the limit
  const char* const what = GENERATE(kOutput, kFirstInput);
  std::string list = window(kDevices, what, 0);
  for (unsigned d = 0; d < kDevices; ++d) list += "Device," + std::to_string(d) + "\nkernel-1.traceg\n";
  const auto report = report_of_list(list, system);
  const bool stores = what == kOutput;
  const double bytes = static_cast<double>(kDevices * kStreamedBytes) / 128 *
                       (stores ? 128 + 16 + 32 + 1.0 / kDevices : 128 + 16 + 16.0 / kDevices);
  const double release = stores ? system.devices[0].sync.membar_system / 1410e6 : 0;  // at the kernels' ends
  const double seconds = bytes / (12 * 1e9) + release;
  CHECK(static_cast<double>(report.total_cycles) / 1410e6 == Approx(seconds).epsilon(0.15));
}

TEST_CASE("Threads, windows, skipping and the order of domains change no byte of multicast memory",
          "[long]") {
  const unsigned devices = GENERATE(2u, 4u, 8u);
  const config::SystemConfig system = multicasting(devices);
  std::string list = window(devices, kOutput, 0) + window(devices, kFirstInput, 1);
  for (unsigned d = 0; d < devices; ++d) list += "Device," + std::to_string(d) + "\nkernel-1.traceg\n";
  const std::string one = bytes_of(report_of_list(list, system));
  struct Way {
    unsigned threads;
    Cycle window;
    bool skip;
    std::uint64_t shuffle;
  };
  for (const Way& way : {Way{2, 0, true, 0}, Way{3, 7, false, 5}, Way{1, 1, true, 9}, Way{4, 2, true, 3}}) {
    gpu::RunOptions options;
    options.threads = way.threads;
    options.window = way.window;
    options.skip = way.skip;
    if (way.shuffle) options.shuffle = way.shuffle;
    INFO("threads " << way.threads << ", window " << way.window << ", devices " << devices);
    CHECK((bytes_of(report_of_list(list, system, options)) == one));
  }
}

TEST_CASE("Lines of multicast memory are shared out between the switches that can") {
  config::SystemConfig system = multicasting(2);
  system.switches = {"left", "right"};
  system.multicast = {"left", "right"};
  system.edges = {{0, 2, 0, 6}, {0, 3, 0, 6}, {1, 2, 0, 6}, {1, 3, 0, 6}};
  auto links = links_of(report_of_list(window(2, kOutput, 0) + "Device,0\nkernel-1.traceg\n", system));
  CHECK(links[{"gpu0", "left"}].data_bytes == kStreamedBytes / 2);
  CHECK(links[{"gpu0", "right"}].data_bytes == kStreamedBytes / 2);
  CHECK(links[{"left", "gpu1"}].data_bytes == kStreamedBytes / 2);
}

TEST_CASE("Multicast memory needs a switch that multicasts, with links to all of its devices") {
  const std::string list = window(2, kOutput, 0) + "Device,0\nkernel-1.traceg\n";
  CHECK_THROWS_WITH(report_of_list(list, config::resolve_system("dgx_a100", 2)),
                    Contains("multicast = true"));
  config::SystemConfig apart = multicasting(3);
  apart.switches = {"left", "right"};
  apart.multicast = {"left", "right"};
  apart.edges = {{0, 3, 0, 6}, {1, 4, 0, 6}, {2, 3, 0, 6}, {3, 4, 0, 6}};
  CHECK_THROWS_WITH(report_of_list(list, apart), Contains("links to it and to all devices"));
  CHECK_THROWS_WITH(
      report_of_list("Multicast,0x7f8020000000,0x10000000040,4096\nkernel-1.traceg\n", multicasting(2)),
      Contains("expected multiples of 128"));
}

}  // namespace
}  // namespace lockstep::test
