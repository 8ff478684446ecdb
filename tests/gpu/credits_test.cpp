// Systems whose links have too few credits.
#include <catch2/catch.hpp>
#include <string>

#include "config/system_config.hpp"
#include "listed_trace.hpp"
#include "resume_support.hpp"
#include "run_ways.hpp"

namespace lockstep::test {
namespace {

constexpr std::uint32_t kStore = 16 + 32 + 128;  // bytes of a line's store on NVLink 3: the largest message
constexpr std::uint32_t kCopiedLine = 128 + 8;

std::string base(unsigned device) {
  char hex[32];
  std::snprintf(hex, sizeof hex, "0x%llx", (device + 1ull) << 40);
  return hex;
}

/// Each device copies to its successor, and runs a kernel that reads and writes other devices' memory.
std::string ring_of_work(unsigned devices, std::uint64_t bytes) {
  std::string text;
  for (unsigned d = 0; d < devices; ++d)
    text += "Device," + std::to_string(d) + "\nPlace," + base(d) + ",4294967296\n";
  text +=
      "Device,1\nPlace," + std::string(kOutput) + ",16777216\nDevice,0\nPlace," + kFirstInput + ",16777216\n";
  for (unsigned d = 0; d < devices; ++d)
    text += "Device," + std::to_string(d) + "\nMemcpyPeer," + base((d + 1) % devices) + "," + base(d) + "," +
            std::to_string(bytes) + "," + std::to_string(100 + d) + "\nkernel-1.traceg\n";
  return text;
}

config::SystemConfig with_credits(config::SystemConfig system, std::uint32_t bytes) {
  for (config::LinkKind& kind : system.kinds) {
    REQUIRE((bytes == 0 || bytes >= largest_message(kind)));
    kind.request_credit_bytes = kind.reply_credit_bytes = bytes;
  }
  return system;
}

TEST_CASE("A copy is as fast as its link's receive buffer goes round") {
  // Four links of 25 GB/s and 300 ns directly between two A100.
  const std::uint32_t lines = GENERATE(1u, 4u, 16u);  // that fit in a link's buffer
  const config::SystemConfig system =
      with_credits(config::resolve_system("hgx_a100_4", 2), std::max(lines * kCopiedLine, kStore));
  const auto cycles = [&](std::uint64_t bytes) {
    const std::string list = "Device,0\nPlace," + base(0) + ",4294967296\nDevice,1\nPlace," + base(1) +
                             ",4294967296\nDevice,0\nMemcpyPeer," + base(1) + "," + base(0) + "," +
                             std::to_string(bytes) + ",5\nkernel-1.traceg\n";
    const stats::RunReport report = run_list(list, system).report;
    CHECK(report.system->links.at(0).request_stall_ps > 0);
    return static_cast<double>(report.copies.at(0).cycles);
  };
  constexpr std::uint64_t kSmall = 1 << 18, kLarge = 3 << 18;
  const double seconds = (cycles(kLarge) - cycles(kSmall)) / 1410e6;
  const double under_way = 4 * std::max(lines * kCopiedLine, kStore) / kCopiedLine;
  const double round_trip = 600e-9 + kCopiedLine / 100e9;
  CHECK((kLarge - kSmall) / 128. / seconds == Approx(under_way / round_trip).epsilon(0.02));
}

TEST_CASE("Buffers of bandwidth times round trip change no byte of the statistics") {
  // 25 GB/s a link, 150 ns each way, and all that begins in a cycle.
  const config::SystemConfig system = config::resolve_system("dgx_a100", 2);
  const std::string list = ring_of_work(2, 100'001);
  const std::string unbounded = all_bytes(run_list(list, system));
  CHECK((all_bytes(run_list(list, with_credits(system, 7500 + 300))) == unbounded));
  CHECK((all_bytes(run_list(list, with_credits(system, 2000))) != unbounded));
}

TEST_CASE("With room for one message, every topology goes on to its end, as long rings do") {
  const std::string kind = GENERATE("ring\n", "torus2d\ncolumns = 2\n", "full_mesh\n");
  TemporaryFolder folder;
  const auto path = folder.path() / "s.ini";
  std::ofstream(path)
      << "[system]\ndevices = v100 * 6\n[devices]\ngpu.sms = 12\n[wire]\nbytes_per_second = 25 GB/s\n"
         "latency_ps = 150 ns\npacket_bytes = 256\nheader_bytes = 16\nstore_bytes = 32\n"
         "ack_bytes = 1\nrequest_credit_bytes = 176\nreply_credit_bytes = 176\n[topology]\n"
         "link = wire\nkind = "
      << kind;
  const gpu::RunResult result = run_list(ring_of_work(6, 20'000), config::resolve_system(path.string()));
  CHECK(result.outcome == gpu::Outcome::kDone);
  std::uint64_t stalled = 0;
  for (const stats::LinkResult& link : result.report.system->links) stalled += link.request_stall_ps;
  CHECK(stalled > 0);
}

TEST_CASE("Lack of credits is the same for all threads, windows, schedules and orders of domains",
          "[matrix]") {
  const config::SystemConfig system = with_credits(config::resolve_system("dgx_a100", 2), kStore);
  const std::string list = ring_of_work(2, 20'001);
  const std::string one = all_bytes(run_list(list, system));
  for (const RunWay& way : kRunWays) {
    INFO("threads " << way.threads << ", window " << way.window);
    CHECK((all_bytes(run_list(list, system, way.options())) == one));
  }
}

TEST_CASE("A run whose links lack credits goes on from its state") {
  const ListedTrace trace(ring_of_work(2, 60'001) + ring_of_work(2, 60'001));
  gpu::RunOptions options;
  options.system = with_credits(config::resolve_system("dgx_a100", 2), kStore);
  options.config = options.system->devices.front();
  check_resume(*trace, options, 1, 3);
}

}  // namespace
}  // namespace lockstep::test
