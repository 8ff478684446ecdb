// Managed memory on the whole machine: latencies to the cycle, counts that follow from footprint and policy,
// and the contract of identical bytes.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "listed_trace.hpp"
#include "managed_support.hpp"
#include "resume_support.hpp"
#include "trace/moved_addresses.hpp"
#include "util/error.hpp"

namespace lockstep::test {
namespace {

TEST_CASE(
    "UVMSmart's latencies, end to end: 102 cycles for a TLB miss, 103 and the transfer for a far fault") {
  // Pages A, B, A: with one TLB entry the third load finds its page on the device, not in the TLB.
  const LoadChain trace({kBase, kBase + 0x5000, kBase});
  for (const auto& [entries, extra] : {std::pair{"1", 2 * 2708 + 102}, std::pair{"4096", 2 * 2708}}) {
    const auto config = smart_gpu({std::string("uvm.l1_tlb_entries=") + entries, "uvm.prefetcher=none"});
    const auto managed = gpu::simulate(*trace, managed_options(config, "0x7f8000000000+4MiB"));
    gpu::RunOptions plain;
    plain.config = config;
    const auto without = gpu::simulate(*trace, plain);
    REQUIRE(managed.outcome == gpu::Outcome::kDone);
    CHECK(managed.report.kernels.at(0).cycles ==
          without.report.kernels.at(0).cycles + static_cast<Cycle>(extra));
    CHECK(counters(managed).gmmu.faults == 2);
    CHECK(counters(managed).gmmu.page_hits == (*entries == '1' ? 1u : 0u));
    CHECK(managed.report.managed->added_fault_cycles == 2 * 66645);
    CHECK_FALSE(without.report.managed.has_value());
  }
}

TEST_CASE("12 MB streamed: the published numbers of faults and transfers, on the whole machine") {
  std::vector<Address> pages;
  for (Address page = 0; page < 3072; ++page) pages.push_back(kBase + page * 4096);
  const LoadChain trace(pages);
  struct Expected {
    const char* setting;
    std::uint64_t faults, transfers;
  };
  for (const auto& e :
       {Expected{"uvm.prefetcher=none", 3072, 3072}, Expected{"uvm.prefetcher=sequential", 192, 384},
        Expected{"uvm.prefetcher=tbn", 36, 72}}) {
    INFO(e.setting);
    const auto result =
        gpu::simulate(*trace, managed_options(smart_gpu({e.setting}), "0x7f8000000000+12MiB"));
    CHECK(counters(result).gmmu.faults == e.faults);
    CHECK(counters(result).gmmu.transfers == e.transfers);
    CHECK(counters(result).gmmu.bytes_to_device == 12 << 20);
    CHECK(result.report.managed->added_fault_cycles == e.faults * 66645);
  }
}

TEST_CASE("the fault's cost on the link: 45 us more for each") {
  const LoadChain trace({kBase, kBase + 0x5000});
  const auto cycles = [&](const char* cost) {
    const auto config = smart_gpu({"uvm.prefetcher=none", std::string("uvm.fault_cost=") + cost});
    return gpu::simulate(*trace, managed_options(config, "all")).report.kernels.at(0).cycles;
  };
  CHECK(cycles("inline") == cycles("additive") + 2 * 66645);
}

TEST_CASE("a vector addition faults once a page without a prefetcher, once a block with one") {
  const OpenTrace trace({"streaming", "streaming", {{"ctas", "512"}}});  // three arrays of 512 KB
  const char* const ranges = "0x7f8000000000+512KiB,0x7f8010000000+512KiB,0x7f8020000000+512KiB";
  for (const bool smart : {true, false}) {
    const auto run = [&](const char* prefetcher) {
      auto config = smart ? smart_gpu() : small_gpu("v100");
      const auto names = uvm::prefetcher_names();
      const auto index = std::find(names.begin(), names.end(), prefetcher) - names.begin();
      config.uvm.prefetcher = config.uvm.prefetcher_oversubscribed = static_cast<std::uint8_t>(index);
      return gpu::simulate(*trace, managed_options(config, ranges));
    };
    const auto none = run("none"), sequential = run("sequential"), tree = run("tbn");
    CHECK(counters(none).gmmu.faults == 3 * 128);
    if (smart) CHECK(counters(none).gmmu.transfers == 3 * 128);
    if (smart) {  // the driver counts all pages of a batch
      CHECK(counters(sequential).gmmu.faults >= 3 * 8);
      CHECK(counters(sequential).gmmu.faults < 3 * 16);  // some pages of a block fault in the same cycle
      CHECK(counters(tree).gmmu.faults <= counters(sequential).gmmu.faults);
    }
    for (const auto* result : {&none, &sequential, &tree}) {
      REQUIRE(result->outcome == gpu::Outcome::kDone);
      const uvm::RunCounters& c = counters(*result);
      CHECK(c.gmmu.bytes_to_device == 3 * 512 * 1024);
      CHECK(c.gmmu.bytes_to_host == 0);
      CHECK(c.tlb.accesses == c.tlb.hits + c.tlb.misses);
      CHECK(c.tlb.replays == c.tlb.misses);
      if (smart) CHECK(c.gmmu.page_misses == c.gmmu.faults + c.gmmu.pending);
    }
    CHECK(tree.report.total_cycles < sequential.report.total_cycles);
    CHECK(sequential.report.total_cycles < none.report.total_cycles);
  }
}

TEST_CASE("room for one page: the page that comes back has thrashed") {
  const LoadChain trace({kBase, kBase + 0x5000, kBase});
  const auto result =
      gpu::simulate(*trace, managed_options(smart_gpu({"uvm.prefetcher=none"}), "all", "4096B"));
  CHECK(counters(result).gmmu.faults == 3);
  CHECK(counters(result).gmmu.evictions == 2);
  CHECK(counters(result).gmmu.thrashed_pages == 1);
}

TEST_CASE("less memory than data: pages leave, and the run ends") {
  const OpenTrace trace(kSmallRandom);
  const auto one = [&](config::GpuConfig config, const char* memory) {
    const auto result = gpu::simulate(*trace, managed_options(config, kTable, memory));
    CHECK(result.outcome == gpu::Outcome::kDone);
    return counters(result).gmmu;
  };
  auto config = small_gpu("v100");
  CHECK(one(config, "1.0x").evictions == 0);
  CHECK(one(config, "0.5x").evictions > 0);
  CHECK(one(config, "4096B").evictions > 0);  // one page
  for (std::uint8_t evictor = 0; evictor < uvm::evictors().size(); ++evictor) {
    config.uvm.evictor = evictor;
    CHECK(one(config, "0.1x").evictions > 0);
    auto smart = smart_gpu();
    smart.uvm.evictor = evictor;
    CHECK(one(smart, "0.1x").evictions > 0);
  }
}

TEST_CASE("identity with managed memory", "[matrix]") {
  struct Case {
    SmallTrace trace;
    const char *managed, *memory;
    bool smart;
    const char* setting;
  };
  const SmallTrace streaming = small_traces().at(0), mixed = small_traces().at(4);
  const SmallTrace chain{"chain", "chain", {{"iterations", "4"}}};
  const std::vector<Case> cases = {{streaming, "memcpy", "", false, "uvm.walkers=1"},
                                   {kSmallRandom, kTable, "0.3x", false, "uvm.evictor=lru_4k"},
                                   {kSmallRandom, kTable, "0.3x", false, "uvm.fault_mode=per_cycle"},
                                   {mixed, "all", "1MiB", false, "uvm.replay=block"},
                                   {kSmallRandom, kTable, "0.5x", true, "uvm.evictor=tbn"},
                                   {chain, "all", "", true, "uvm.fault_cost=inline"}};
  const Case one = cases.at(GENERATE(range(std::size_t{0}, std::size_t{6})));
  const OpenTrace trace(one.trace);
  auto config = one.smart
                    ? smart_gpu({one.setting})
                    : config::resolve("v100", {one.setting, "gpu.sms=10", "gpu.gpcs=4", "l2.partitions=4"});
  // A slow fault takes long when every cycle is visited.
  config.uvm.kib_ps = 0;
  config.uvm.link = 6;  // nvlink_c2c
  config.uvm.interrupt_ns = 200;
  config.uvm.batch_ns = 300;
  config.uvm.evict_ns = 100;
  config.uvm.page_fault_ns = 500;
  const auto bytes = [&](const Way& way) {
    return bytes_of(*trace, managed_options(config, one.managed, one.memory), one.smart, way);
  };
  const std::string expected = bytes({1, 0, true, false, false});
  CHECK(expected.find("\"faults\":0,") == std::string::npos);
  for (const Way& way : kWays) {
    INFO(one.trace.name << " " << one.setting << " threads " << way.threads << " window " << way.window
                        << " skip " << way.skip);
    CHECK((bytes(way) == expected));
  }
}

TEST_CASE("A run with managed memory goes on from its state") {
  struct Case {
    SmallTrace trace;
    const char *managed, *memory;
    bool smart;
    std::vector<std::string> settings;
  };
  const SmallTrace mixed = small_traces().at(4);
  const std::vector<Case> cases = {
      {kSmallRandom, kTable, "0.3x", false, {"uvm.evictor=lru_4k"}},
      {kSmallRandom, kTable, "0.5x", false, {"uvm.fault_mode=per_cycle", "uvm.evictor=random"}},
      {mixed, "all", "1MiB", false, {"uvm.thrashing=true"}},
      {mixed, "all", "", false, {"uvm.remote=counters"}},
      {kSmallRandom, kTable, "0.5x", true, {"uvm.evictor=tbn"}},
      {kSmallRandom, kTable, "0.3x", true, {"uvm.smart_runtime=true", "uvm.remote=adaptive"}}};
  const Case one = cases.at(GENERATE(range(std::size_t{0}, std::size_t{6})));
  INFO(one.trace.name << " " << one.settings.front() << " " << one.memory);
  const OpenTrace trace(one.trace);
  std::vector<trace::Command> again;
  for (unsigned i = 0; i < 3; ++i)
    again.insert(again.end(), trace->commands().begin(), trace->commands().end());
  std::vector<std::string> settings = {"gpu.sms=10", "gpu.gpcs=4", "l2.partitions=4"};
  settings.insert(settings.end(), one.settings.begin(), one.settings.end());
  gpu::RunOptions options = managed_options(
      one.smart ? smart_gpu(one.settings) : config::resolve("v100", settings), one.managed, one.memory);
  if (one.smart) options.window = 1;
  options.timeline = true;
  check_resume(WithCommands(*trace, {}, again), options, 3);
}

/// A span's start and end in picoseconds, from the text of the file.
std::pair<std::uint64_t, std::uint64_t> span_of(const nlohmann::json& event) {
  const auto ps = [&](const char* key) {
    return static_cast<std::uint64_t>(std::llround(event.at(key).get<double>() * 1e6));
  };
  return {ps("ts"), ps("ts") + ps("dur")};
}

TEST_CASE("the timeline holds every kernel and transfer, in the trace event format") {
  for (const bool smart : {false, true}) {
    const OpenTrace trace(kSmallRandom);
    auto options = managed_options(smart ? smart_gpu() : small_gpu("v100"), kTable, "0.3x");
    options.timeline = true;
    const auto result = gpu::simulate(*trace, options);
    const auto file = nlohmann::json::parse(result.timeline);
    CHECK(file.at("displayTimeUnit") == "ns");
    std::map<std::string, std::uint64_t> number, bytes;
    std::map<int, std::uint64_t> lane_end;
    for (const auto& e : file.at("traceEvents")) {
      const std::string phase = e.at("ph"), name = e.at("name");
      CHECK((phase == "X" || phase == "i" || phase == "M"));
      CHECK(e.at("pid").is_number_unsigned());
      CHECK(e.at("tid").is_number_unsigned());
      CHECK(e.at("args").is_object());
      ++number[name];
      if (e.at("args").contains("bytes")) bytes[name] += e["args"]["bytes"].get<std::uint64_t>();
      if (phase == "i") CHECK(e.at("s") == "t");
      if (phase != "X") continue;
      const auto [start, end] = span_of(e);
      if (name != "migration" && name != "prefetch" && name != "write-back") continue;
      std::uint64_t& free = lane_end[e["tid"].get<int>()];  // one transfer at a time in each direction
      CHECK(start + 1 >= free);                             // times are rounded down
      free = end;
    }
    const uvm::Counters& c = counters(result).gmmu;
    CHECK(number["migration"] + number["prefetch"] == c.transfers);
    CHECK(bytes["migration"] + bytes["prefetch"] == c.bytes_to_device);
    CHECK(number["write-back"] == c.write_backs);
    CHECK(bytes["write-back"] == c.bytes_to_host);
    CHECK(number["batch"] == c.batches);
    CHECK(bytes["far fault"] == c.faults * uvm::kPageBytes);
    CHECK(number["chase"] == 1);  // the kernel's, demangled
  }
}

TEST_CASE("what --managed and --gpu-memory take") {
  using Kind = gpu::ManagedOptions::Kind;
  CHECK(gpu::parse_managed("all").kind == Kind::kAll);
  CHECK(gpu::parse_managed("memcpy").kind == Kind::kCopies);
  const auto ranges = gpu::parse_managed("0x1000+64KiB,8192+10").ranges;
  CHECK(ranges == std::vector<std::pair<Address, std::uint64_t>>{{0x1000, 65536}, {8192, 10}});
  for (const char* bad : {"", "0x10", "0x10+", "+5", "1+2,", "1+99999999999GiB"})
    CHECK_THROWS_AS(gpu::parse_managed(bad), UserError);
  CHECK(gpu::parse_gpu_memory("0.8x").millionths == 800000);
  CHECK(gpu::parse_gpu_memory("1x").millionths == 1000000);
  for (const char* same : {"16MiB", "16 MiB", "16M", "16m", "16MB", "16mb", "16384K", "16384 kB", "16777216",
                           "16777216B", "0x4000KiB", "0x1000000", "0.015625 GB"}) {
    CAPTURE(same);
    CHECK(gpu::parse_gpu_memory(same).bytes == 16 << 20);
  }
  CHECK(gpu::parse_gpu_memory("1.5MiB").bytes == 1572864);
  for (const char* bad : {"", "x", "0x", "0.0x", "0", "4095B", "1.0000001x", "-1x", "0.5y", "16Mb", "16 M B",
                          "1.0000001G", "4096.3", "1.5.5M", "5.M", ".5M", "16 Mi", "0x16.5M"})
    CHECK_THROWS_AS(gpu::parse_gpu_memory(bad), UserError);
}

TEST_CASE("ranges are rounded to pages and united where they share one") {
  const LoadChain trace({kBase});
  gpu::ManagedOptions options = gpu::parse_managed("0x1004+4,0x1ff0+32,0x1004+4,0x9000+4096");
  const uvm::AddressSpace space = gpu::managed_space(*trace, options);
  REQUIRE(space.allocations().size() == 2);
  CHECK(space.allocations()[0].base == 0x1000);
  CHECK(space.allocations()[0].bytes == 0x2000);
  CHECK(space.allocations()[1].base == 0x9000);
  options.memory = gpu::parse_gpu_memory("0.5x");
  CHECK(gpu::managed_frames(space, options, 1 << 30) == 16);  // of two trees of 64 KB
  options.memory = {};
  CHECK(gpu::managed_frames(space, options, 1 << 30) == 1 << 18);
  CHECK_THROWS_WITH(gpu::managed_space(*trace, gpu::parse_managed("0x1000+0")),
                    Catch::Contains("at least 1 byte"));
  CHECK_THROWS_WITH(gpu::managed_space(*trace, gpu::parse_managed("0xffffffffffffff00+4096")),
                    Catch::Contains("below"));
  gpu::ManagedOptions all = gpu::parse_managed("all");
  all.memory = gpu::parse_gpu_memory("0.5x");
  CHECK_THROWS_WITH(gpu::managed_frames(gpu::managed_space(*trace, all), all, 1 << 30),
                    Catch::Contains("footprint"));
}

TEST_CASE("managed memory of any of 64 devices with separate address spaces has a place") {
  uvm::AddressSpace space;
  trace::Command command;
  command.kind = trace::Command::Kind::kManage;
  command.bytes = 8192;
  for (const int device : {0, 15, 16, 63}) {
    command.address =
        trace::device_region(static_cast<std::uint16_t>(device)) + 0x7f00'0000'0000 % trace::kRegionBytes;
    gpu::manage(space, command);
    CHECK(space.contains(command.address + 8191));
  }
  command.address = trace::device_region(64);
  CHECK_THROWS_WITH(gpu::manage(space, command), Catch::Contains("below 0x5000000000000"));

  const ListedTrace trace("Device,19\nkernel-1.traceg\n");
  const uvm::AddressSpace all = gpu::managed_space(*trace, gpu::parse_managed("all"));
  CHECK(all.contains(trace::device_region(20) - 1));
  CHECK_FALSE(all.contains(trace::device_region(20)));
  CHECK_FALSE(gpu::managed_space(*LoadChain({kBase}), gpu::parse_managed("all")).contains(Address{1} << 49));
}

}  // namespace
}  // namespace lockstep::test
