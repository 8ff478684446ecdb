// Copies and fills of managed memory, the host's accesses between kernels, and faults that take long, on the
// whole machine.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "managed_support.hpp"
#include "uvm/managed_command.hpp"

namespace lockstep::test {
namespace {

constexpr std::uint64_t kManagedBytes = 65536;
constexpr Address kElsewhere = 0x7e0000000000;  // not managed

trace::Command managed_command(CommandKind kind, Address address = kBase, std::uint64_t bytes = kManagedBytes,
                               bool write = false) {
  trace::Command c;
  c.kind = kind;
  c.address = address;
  c.bytes = bytes;
  c.write = write;
  return c;
}

/// Loads of four pages, one after the other; the trace's own copy is not to managed memory.
const std::vector<Address> kLoads = {kBase, kBase + 0x1000, kBase + 0x5000, kBase + 0xf000};

gpu::RunResult run_to_end(const trace::TraceSet& trace, const config::GpuConfig& config) {
  gpu::RunOptions options;
  options.config = config;
  auto result = gpu::simulate(trace, options);
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  return result;
}

TEST_CASE(
    "what the device copies into or fills is there when the kernel begins; what the host writes is not") {
  const LoadChain chain(kLoads, kElsewhere);
  const auto config = small_gpu("v100");
  const trace::Command begin = managed_command(CommandKind::kManage);
  struct Case {
    trace::Command first;
    std::uint64_t came_before, faults, copies;
  };
  for (const Case& c :
       {Case{managed_command(CommandKind::kStreamCopyToDevice), 16, 0, 2},
        Case{managed_command(CommandKind::kDeviceAccess, kBase, kManagedBytes, true), 16, 0, 1},
        Case{managed_command(CommandKind::kDeviceAccess, kBase, 8192), 2, 2, 1},
        Case{managed_command(CommandKind::kHostAccess, kBase, kManagedBytes, true), 0, 4, 1}}) {
    const WithCommands trace(*chain, {begin, c.first});
    auto none = config;
    none.uvm.prefetcher = none.uvm.prefetcher_oversubscribed = 0;
    const auto result = run_to_end(trace, none);
    CHECK(counters(result).gmmu.device_accessed_pages == c.came_before);
    CHECK(counters(result).gmmu.faults == c.faults);
    CHECK(counters(result).gmmu.bytes_to_device == (c.came_before + c.faults) * 4096);
    CHECK(result.report.copies.size() == c.copies);
  }
}

TEST_CASE("a copy back is made by the device: its pages stay; memory that is said to be managed goes back") {
  const LoadChain chain(kLoads, kElsewhere);
  const auto config = small_gpu("v100");
  const WithCommands real(*chain, {managed_command(CommandKind::kManage)},
                          {managed_command(CommandKind::kStreamCopyToHost)});
  const auto by_device = run_to_end(real, config);
  CHECK(counters(by_device).gmmu.bytes_to_host == 0);
  CHECK(counters(by_device).gmmu.bytes_to_device == kManagedBytes);
  CHECK(by_device.report.copies.size() == 2);
  const WithCommands said(*chain, {managed_command(CommandKind::kCopyToDevice)},
                          {managed_command(CommandKind::kCopyToHost)});
  const auto by_host = gpu::simulate(said, managed_options(config, "memcpy"));
  CHECK(counters(by_host).gmmu.host_faults == 1);
  CHECK(counters(by_host).gmmu.bytes_to_host == counters(by_host).gmmu.bytes_to_device);
  CHECK(by_host.report.copies.empty());
}

/// A kernel, the command, the same kernel again. When the pages of the command came, and the kernels, cycles.
struct Between {
  Cycle first_end, came_from, came_until, second_start;
};
Between between_kernels(const trace::Command& what, std::uint64_t pages) {
  const LoadChain chain({kBase}, kElsewhere);
  const WithCommands trace(*chain, {managed_command(CommandKind::kManage)},
                           {what, managed_command(CommandKind::kKernel)});
  gpu::RunOptions options;
  options.config = small_gpu("v100");
  options.config.uvm.prefetcher = options.config.uvm.prefetcher_oversubscribed = 0;
  options.timeline = true;
  const auto result = gpu::simulate(trace, options);
  REQUIRE(result.report.kernels.size() == 2);
  const auto& gmmu = counters(result).gmmu;
  CHECK(gmmu.device_accessed_pages + gmmu.user_prefetched_pages == pages);
  const auto& kernels = result.report.kernels;
  Between b{kernels[0].start_cycle + kernels[0].cycles, 0, 0, kernels[1].start_cycle};
  const auto cycles = [&](const nlohmann::json& us) {
    return static_cast<Cycle>(us.get<double>() * 1e-3 * static_cast<double>(options.config.clock.core_khz));
  };
  const auto file = nlohmann::json::parse(result.timeline);
  for (const auto& e : file.at("traceEvents")) {
    if (!e.contains("args") || e["args"].value("bytes", std::uint64_t{0}) != pages * 4096) continue;
    b.came_from = cycles(e.at("ts"));
    b.came_until = cycles(nlohmann::json(e["ts"].get<double>() + e["dur"].get<double>()));
  }
  REQUIRE(b.came_until > 0);
  return b;
}

TEST_CASE("a stream's fill or prefetch waits for the kernel before it and holds up the one behind it") {
  for (const CommandKind kind : {CommandKind::kDeviceAccess, CommandKind::kStreamPrefetch}) {
    const Between b = between_kernels(managed_command(kind, kBase + 0x8000, 0x8000, true), 8);
    CHECK(b.came_from >= b.first_end);
    CHECK(b.came_until <= b.second_start);
  }
}

TEST_CASE("a prefetch of another stream runs beside the kernels; one of no stream holds up what follows") {
  trace::Command prefetch = managed_command(CommandKind::kStreamPrefetch, kBase + 0x4000, 0xc000);
  prefetch.stream = 5;
  const Between beside = between_kernels(prefetch, 12);
  CHECK(beside.came_from < beside.first_end);
  const Between before = between_kernels(managed_command(CommandKind::kPrefetch, kBase + 0x4000, 0xc000), 12);
  CHECK(before.came_until <= before.second_start);
}

TEST_CASE("a prefetch beside a kernel ends in memory that is too small for either") {
  std::vector<Address> loads;
  for (Address i = 0; i < 32; ++i) loads.push_back(kBase + i * 5 % 16 * 0x1000);
  const LoadChain chain(loads, kElsewhere);
  trace::Command there = managed_command(CommandKind::kStreamPrefetch), back = there;
  there.stream = 5;
  back.stream = 6;
  back.host = true;
  const WithCommands trace(*chain, {managed_command(CommandKind::kManage)},
                           {there, back, there, managed_command(CommandKind::kKernel), back});
  const char* const memory = GENERATE("1p", "0.2x", "0.9x");
  for (const bool smart : {false, true}) {
    gpu::RunOptions options;
    options.config = smart ? smart_gpu() : small_gpu("v100");
    options.managed.memory = gpu::parse_gpu_memory(memory == std::string("1p") ? "4KiB" : memory);
    const auto result = gpu::simulate(trace, options);
    CHECK(result.outcome == gpu::Outcome::kDone);
    CHECK(counters(result).gmmu.user_prefetched_pages > 0);
  }
}

TEST_CASE("a fault whose handling takes 100 ms is no deadlock") {
  const LoadChain chain({kBase}, kElsewhere);
  const auto config =
      smart_gpu({"uvm.prefetcher=none", "uvm.fault_cost=inline", "uvm.page_fault_ns=100000000"});
  const auto result = gpu::simulate(*chain, managed_options(config, "0x7f8000000000+64KiB"));
  CHECK(result.outcome == gpu::Outcome::kDone);
  CHECK(result.report.kernels.at(0).cycles > 148'100'000);
}

TEST_CASE("identity with copies, fills and the host's accesses", "[matrix]") {
  const LoadChain chain(kLoads, kElsewhere);
  const char* const access = GENERATE("migrate", "advised", "remote");
  const bool smart = GENERATE(false, true);
  trace::Command advice = managed_command(CommandKind::kAdvise, kBase, 0x8000);
  advice.advice = static_cast<std::uint8_t>(uvm::Advice::kSetAccessedBy);
  advice.host = true;
  trace::Command prefetch = managed_command(CommandKind::kStreamPrefetch, kBase + 0x1000, 0x6000);
  prefetch.stream = 3;
  const WithCommands trace(*chain,
                           {managed_command(CommandKind::kManage), advice,
                            managed_command(CommandKind::kDeviceAccess, kBase + 0x4000, 0x9000, true)},
                           {managed_command(CommandKind::kWait),
                            managed_command(CommandKind::kHostAccess, kBase, kManagedBytes, true),
                            managed_command(CommandKind::kKernel), prefetch,
                            managed_command(CommandKind::kStreamCopyToHost, kBase + 0x2000, 0x3000),
                            managed_command(CommandKind::kKernel)});
  config::GpuConfig config = smart ? smart_gpu({std::string("uvm.host_access=") + access})
                                   : config::resolve("v100", {std::string("uvm.host_access=") + access,
                                                              "gpu.sms=10", "gpu.gpcs=4", "l2.partitions=4"});
  config.uvm.interrupt_ns = 200;  // when every cycle is visited a slow fault takes long
  config.uvm.batch_ns = config.uvm.block_ns = 300;
  config.uvm.host_fault_ns = 500;
  config.uvm.kib_ps = 0;
  config.uvm.link = 6;  // nvlink_c2c
  gpu::RunOptions options;
  options.config = config;
  options.managed.memory = gpu::parse_gpu_memory("0.5x");
  const std::string expected = bytes_of(trace, options, smart, {1, 0, true, false, false});
  CHECK(expected.find("\"device_accessed_pages\":0,") == std::string::npos);
  for (const Way& way : kWays) {
    INFO(access << " smart " << smart << " threads " << way.threads << " window " << way.window << " skip "
                << way.skip);
    CHECK((bytes_of(trace, options, smart, way) == expected));
  }
}

}  // namespace
}  // namespace lockstep::test
