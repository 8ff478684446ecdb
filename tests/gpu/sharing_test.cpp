// Managed memory of several devices on the whole machine.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "config/system_config.hpp"
#include "resume_support.hpp"
#include "shared_pages.hpp"
#include "util/error.hpp"
#include "uvm/managed_command.hpp"

namespace lockstep::test {
namespace {

using Catch::Matchers::Contains;
constexpr unsigned kSeeds = 12;  // of random programs

/// Nothing but what is asked for is brought.
config::SystemConfig machine(const std::string& name, std::uint32_t devices = 0) {
  config::SystemConfig system = config::resolve_system(name, devices);
  for (config::GpuConfig& device : system.devices)
    device.uvm.prefetcher = device.uvm.prefetcher_oversubscribed = 0;
  return system;
}

gpu::RunResult simulate(const trace::TraceSet& trace, const config::SystemConfig& system,
                        gpu::RunOptions options = {}) {
  options.config = system.devices.front();
  options.system = system;
  auto result = gpu::simulate(trace, options);
  INFO(result.dump);
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  return result;
}

const stats::ManagedReport& managed(const gpu::RunResult& result, std::size_t device) {
  return result.report.system->managed.at(device);
}

std::uint64_t data_bytes(const gpu::RunResult& result, const std::string& from, const std::string& to) {
  for (const stats::LinkResult& link : result.report.system->links)
    if (link.from == from && link.to == to) return link.data_bytes;
  return 0;
}

TEST_CASE("A page that two devices use in turn migrates each time, over their link") {
  constexpr unsigned kRounds = 3, kCount = 4;
  Listed trace({pages(kCount, true)});
  for (unsigned r = 0; r < kRounds; ++r) trace.then(0, 0).then(1, 0);
  const auto result = simulate(trace, machine("hgx_a100_4", 2));
  const uvm::PeerPages &of0 = managed(result, 0).peers.at(1), &of1 = managed(result, 1).peers.at(0);
  CHECK(of1.in == kRounds * kCount);
  CHECK(of0.in == (kRounds - 1) * kCount);
  CHECK((of0.out == of1.in && of1.out == of0.in));
  CHECK((of0.copies_in == 0 && of1.copies_in == 0));
  // From the host they came once.
  CHECK(managed(result, 0).counters.gmmu.bytes_to_device == kCount * kPage);
  CHECK(managed(result, 1).counters.gmmu.bytes_to_device == 0);
  CHECK(managed(result, 0).counters.gmmu.bytes_to_host + managed(result, 1).counters.gmmu.bytes_to_host == 0);
  CHECK(data_bytes(result, "gpu0", "gpu1") == of1.in * kPage);
  CHECK(data_bytes(result, "gpu1", "gpu0") == of0.in * kPage);
}

/// Cycles from the prefetch of a range by device 1 to its end, where device 0 has it.
Cycle migration(const config::SystemConfig& system, std::uint64_t bytes) {
  const auto total = [&](bool migrates) {
    Listed trace({{{kBase, false}}});
    trace.prefetch(0, bytes).wait();
    if (migrates) trace.prefetch(1, bytes).wait();
    trace.run(migrates ? 1 : 0, 0);
    const auto result = simulate(trace, system);
    CHECK(managed(result, 1).peers.at(0).in == (migrates ? bytes / kPage : 0));
    return result.report.total_cycles;
  };
  return total(true) - total(false);
}

TEST_CASE("A migration between devices takes its bytes over their link, behind a fixed time") {
  const config::SystemConfig system = machine("hgx_a100_4", 2);
  const config::GpuConfig& gpu = system.devices[0];
  constexpr std::uint64_t kSmall = 512 << 10, kLarge = 1536 << 10;
  const Cycle small = migration(system, kSmall), large = migration(system, kLarge);
  const double hertz = static_cast<double>(gpu.clock.core_khz) * 1000;
  const double rate = static_cast<double>(kLarge - kSmall) / (static_cast<double>(large - small) / hertz);
  CHECK(rate / 1e9 == Approx(94.06).epsilon(0.01));  // as copies: a100_4x_nvlink.json
  // Fixed: the host's order and its end; the call; acquire, revoke, revoked, copy, copied, arrived; the
  // shootdown; a read of the L2 and a write to the other one with its acknowledgement, over the link.
  const auto cycles = [&](double ps) { return ps * hertz * 1e-12; };
  const double word = cycles(gpu.host.command_latency_ps);
  const double least = cycles(gpu.uvm.prefetch_ns * 1e3) + 8 * word + gpu.uvm.reply_latency +
                       gpu.uvm.l1_shootdown + gpu.uvm.request_latency +
                       2 * cycles(static_cast<double>(system.kinds[0].latency_ps));
  const double fixed = static_cast<double>(small) - static_cast<double>(kSmall) / (94.06e9 / hertz);
  CHECK(fixed > least);
  CHECK(fixed < least + 1500);  // two accesses of an L2 and the crossbars, some 300 cycles each
}

TEST_CASE("Read-mostly pages come to each reader once; a store takes the others' copies away") {
  constexpr unsigned kCount = 4;
  Listed trace({pages(kCount), pages(kCount, true)});
  trace.advise(uvm::Advice::kSetReadMostly, 0);
  trace.then(0, 0).then(1, 0).then(2, 0).then(1, 0).then(2, 0);
  const auto read = simulate(trace, machine("hgx_a100_4", 3));
  // From the nearest: a device with a link before the host.
  CHECK(managed(read, 0).counters.gmmu.bytes_to_device == kCount * kPage);
  CHECK(managed(read, 1).peers.at(0).copies_in == kCount);
  CHECK(managed(read, 2).peers.at(0).copies_in == kCount);
  CHECK(managed(read, 0).peers.at(1).copies_out == kCount);
  for (std::size_t d = 0; d < 3; ++d) CHECK(managed(read, d).counters.gmmu.duplicated_pages == kCount);
  CHECK(data_bytes(read, "gpu0", "gpu1") == kCount * kPage);

  trace.then(1, 1).then(0, 0).then(2, 0);
  const auto written = simulate(trace, machine("hgx_a100_4", 3));
  CHECK(managed(written, 1).counters.gmmu.collapsed_pages == kCount);
  CHECK(managed(written, 0).counters.gmmu.clean_drops > 0);
  CHECK(managed(written, 0).peers.at(1).copies_in == kCount);  // device 1 has the only copy now
  CHECK(managed(written, 2).peers.at(0).copies_in == 2 * kCount);
  CHECK(managed(written, 1).peers.at(0).in == 0);
}

TEST_CASE("A device reaches pages that another one is to keep over their link") {
  constexpr unsigned kCount = 4;
  const bool prefetched = GENERATE(false, true);  // else the first fault brings them there
  Listed trace({pages(kCount), pages(kCount, true)});
  trace.advise(uvm::Advice::kSetPreferredLocation, 0);
  if (prefetched) trace.prefetch(0, kCount * kPage);
  trace.then(1, 0).then(1, 1).then(0, 0);
  const auto result = simulate(trace, machine("hgx_a100_4", 2));
  CHECK(managed(result, 0).counters.gmmu.bytes_to_device == kCount * kPage);
  CHECK(managed(result, 0).counters.gmmu.buffer_entries == 0);
  CHECK(managed(result, 1).counters.gmmu.bytes_to_device == 0);
  CHECK(managed(result, 1).counters.tlb.peer_lines == 2 * kCount);
  CHECK(managed(result, 1).counters.tlb.remote_lines == 0);
  CHECK(managed(result, 1).peers.at(0) == uvm::PeerPages{});
  CHECK(managed(result, 0).peers.at(1) == uvm::PeerPages{});
  CHECK(data_bytes(result, "gpu0", "gpu1") == kCount * 128);  // a line of each page comes
  CHECK(data_bytes(result, "gpu1", "gpu0") == kCount * 128);  // and one goes
}

TEST_CASE("What a device is said to access is mapped without a fault, wherever it is") {
  constexpr unsigned kCount = 4;
  const auto holder = static_cast<std::uint16_t>(GENERATE(0, 2));
  Listed trace({pages(kCount)});
  trace.prefetch(holder, kSharedBytes).wait().advise(uvm::Advice::kSetAccessedBy, 1);
  trace.then(1, 0).wait().prefetch(0, kSharedBytes).then(1, 0);
  const auto result = simulate(trace, machine("hgx_a100_4", 3));
  CHECK(managed(result, 1).counters.gmmu.buffer_entries == 0);
  CHECK(managed(result, 1).counters.tlb.peer_lines == 2 * kCount);
  CHECK(managed(result, 0).peers.at(2).in == (holder == 2 ? kSharedBytes / kPage : 0));
  CHECK(data_bytes(result, "gpu0", "gpu1") == (holder == 2 ? 1 : 2) * kCount * 128);
}

TEST_CASE("Where no link leads pages go through the host") {
  constexpr unsigned kCount = 4;
  Listed trace({pages(kCount, true)});
  trace.then(0, 0).then(1, 0);
  config::SystemConfig apart = config::unlinked_system(config::resolve("a100"), 2);
  for (config::GpuConfig& device : apart.devices) device.uvm.prefetcher = 0;
  const auto result = simulate(trace, apart);
  CHECK(managed(result, 0).counters.gmmu.bytes_to_host == kCount * kPage);
  CHECK(managed(result, 1).counters.gmmu.bytes_to_device == kCount * kPage);
  CHECK(managed(result, 1).peers.at(0) == uvm::PeerPages{});

  Listed mapped({pages(kCount)});
  mapped.prefetch(0, kCount * kPage).wait().advise(uvm::Advice::kSetAccessedBy, 1).then(1, 0);
  const auto through = simulate(mapped, apart);
  CHECK(managed(through, 0).counters.gmmu.bytes_to_host == kCount * kPage);
  CHECK(managed(through, 1).counters.tlb.remote_lines == kCount);
}

TEST_CASE("The host takes pages back from whoever has them") {
  Listed trace({pages(4, true), pages(8, true)});
  trace.then(0, 1).then(1, 0).wait();
  trace.add(CommandKind::kHostAccess, kBase, 8 * kPage);
  trace.run(1, 1);
  const auto result = simulate(trace, machine("hgx_a100_4", 2));
  CHECK(managed(result, 0).counters.gmmu.bytes_to_host == 4 * kPage);
  CHECK(managed(result, 1).counters.gmmu.bytes_to_host == 4 * kPage);
  CHECK(managed(result, 1).counters.gmmu.bytes_to_device == 8 * kPage);
}

TEST_CASE("Threads, windows, schedule, skipping and the order of domains change no byte of shared pages",
          "[matrix]") {
  const auto devices = static_cast<std::uint16_t>(GENERATE(2, 4, 8));
  const bool tight = devices == 4;  // memory is short
  const config::SystemConfig system = small_machine(devices);
  gpu::RunOptions options;
  if (tight) options.managed.memory.bytes = 4 << 20;
  const auto trace = crowd(devices);
  const auto bytes = [&](const Way& way) {
    options.threads = way.threads;
    options.window = way.window;
    options.skip = way.skip;
    options.schedule = way.dynamic ? gpu::Schedule::kDynamic : gpu::Schedule::kStatic;
    options.shuffle = way.shuffle ? std::optional<std::uint64_t>(42) : std::nullopt;
    options.interval = 20000;
    options.timeline = true;
    const auto result = simulate(*trace, system, options);
    return stats::to_json(result.report) + stats::intervals_csv(result.report) + result.timeline;
  };
  const std::string one = bytes(kWays[0]);
  for (const Way& way : kWays) {
    INFO("threads " << way.threads << ", window " << way.window << ", devices " << devices);
    CHECK((bytes(way) == one));
  }
}

TEST_CASE("A run of devices that share pages goes on from its state") {
  const auto devices = static_cast<std::uint16_t>(GENERATE(2, 4));
  gpu::RunOptions options;
  options.system = small_machine(devices);
  options.config = options.system->devices.front();
  if (devices == 4) options.managed.memory.bytes = 4 << 20;
  options.interval = 20000;
  options.timeline = true;
  check_resume(*crowd(devices), options, 2);
}

/// What each device says of the others is what these say of it.
void check_books(const gpu::RunResult& result, std::uint16_t devices) {
  for (std::uint16_t a = 0; a < devices; ++a)
    for (std::uint16_t b = 0; b < devices; ++b) {
      const uvm::PeerPages &here = managed(result, a).peers.at(b), &there = managed(result, b).peers.at(a);
      CHECK((here.in == there.out && here.copies_in == there.copies_out));
    }
}

TEST_CASE("What one device gives another one gets, and the links carry it") {
  constexpr std::uint16_t kDevices = 4;
  const auto trace = crowd(kDevices);
  const auto result = simulate(*trace, machine("hgx_a100_4", kDevices));
  std::uint64_t moved = 0;
  for (std::uint16_t a = 0; a < kDevices; ++a) {
    for (std::uint16_t b = 0; b < kDevices; ++b) {
      const uvm::PeerPages& here = managed(result, a).peers.at(b);
      moved += here.in + here.copies_in;
      // Lines that are accessed where they are are much fewer bytes than a page.
      const std::uint64_t bytes = data_bytes(result, "gpu" + std::to_string(b), "gpu" + std::to_string(a));
      CHECK(bytes / kPage == here.in + here.copies_in);
    }
  }
  CHECK(moved > 100);
  check_books(result, kDevices);
}

TEST_CASE("Whatever devices and the host do with shared pages, it ends, and the books are even") {
  constexpr std::uint16_t kDevices = 3;
  const char* const name = GENERATE("hgx_a100_4", "dgx1_v100");
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    INFO(name << ", seed " << seed);
    std::mt19937 random(seed);
    const auto trace = any_program(random, kDevices);
    config::SystemConfig system = small_machine(kDevices, name);
    if (seed % 3 == 0) std::erase_if(system.edges, [](const auto& e) { return e.a == 0 || e.b == 0; });
    gpu::RunOptions options;
    if (seed % 2 == 0) options.managed.memory.bytes = 4 << 20;
    options.max_cycles = 100000000;
    check_books(simulate(*trace, system, options), kDevices);
  }
}

TEST_CASE("Whatever was done with shared pages, a run goes on from its state") {
  constexpr std::uint16_t kDevices = 3;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto trace = any_program(random, kDevices);
    gpu::RunOptions options;
    options.system = small_machine(kDevices, seed % 2 == 0 ? "hgx_a100_4" : "dgx1_v100");
    options.config = options.system->devices.front();
    if (seed % 2 == 0) options.managed.memory.bytes = 4 << 20;
    check_resume(*trace, options, 1, 3);
  }
}

TEST_CASE("However many devices write a page, each gets through") {
  constexpr std::uint16_t kDevices = 8;
  Listed trace({{{kBase, true}, {kBase + 64, false}, {kBase + 128, true}}});
  for (std::uint16_t d = 0; d < kDevices; ++d) trace.run(d, 0);
  const auto result = simulate(trace, machine("dgx_a100"));
  std::uint64_t moves = 0;
  for (std::uint16_t a = 0; a < kDevices; ++a)
    for (const uvm::PeerPages& p : managed(result, a).peers) moves += p.in;
  CHECK(moves >= kDevices - 1);
  CHECK(moves <= 3 * kDevices);  // at worst each access of each device
}

TEST_CASE("What shared pages do not know is refused by name") {
  Listed trace({pages(1)});
  trace.run(1, 0);
  config::SystemConfig system = machine("hgx_a100_4", 2);
  system.devices[1].uvm.fault_mode = uvm::FaultMode::kPerCycle;
  CHECK_THROWS_WITH(simulate(trace, system), Contains("uvm.fault_mode = per_cycle"));
  system = machine("hgx_a100_4", 2);
  Listed far({pages(1)});
  far.prefetch(2, kPage).run(0, 0);
  CHECK_THROWS_WITH(simulate(far, system), Contains("names device 2"));
}

}  // namespace
}  // namespace lockstep::test
