// Pages that stay on the host, advice and the other policies on the whole machine: times to the cycle where
// they have a closed form, counts, and the contract of identical bytes.
#include "uvm/remote.hpp"

#include <catch2/catch.hpp>

#include "managed_support.hpp"
#include "uvm/managed_command.hpp"

namespace lockstep::test {
namespace {

constexpr const char* kFourMib = "0x7f8000000000+4MiB";
constexpr Address kLine = 128;

gpu::RunResult run_managed(const trace::TraceSet& trace, const config::GpuConfig& config,
                           const char* managed = kFourMib, const char* memory = "") {
  auto result = gpu::simulate(trace, managed_options(config, managed, memory));
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  return result;
}
Cycle kernel_cycles(const gpu::RunResult& result) { return result.report.kernels.at(0).cycles; }

trace::Command advice(uvm::Advice what, bool host, std::uint64_t bytes) {
  trace::Command c;
  c.kind = trace::Command::Kind::kAdvise;
  c.address = kBase;
  c.bytes = bytes;
  c.advice = static_cast<std::uint8_t>(what);
  c.host = host;
  return c;
}

TEST_CASE("remote: a slot takes the walk, 200 cycles and one, and the page is then in the TLB") {
  // With one TLB entry, pages A, B, A, B walk four times; with many, twice.
  const LoadChain trace({kBase, kBase + 0x5000, kBase + kLine, kBase + 0x5000 + kLine});
  for (const auto& [entries, slots] : {std::pair{"1", 4u}, std::pair{"4096", 2u}}) {
    const auto config = smart_gpu({std::string("uvm.l1_tlb_entries=") + entries, "uvm.remote=static"});
    gpu::RunOptions plain;
    plain.config = config;
    const auto managed = run_managed(*trace, config);
    CHECK(kernel_cycles(managed) == kernel_cycles(gpu::simulate(*trace, plain)) + slots * 303);
    CHECK(counters(managed).gmmu.remote_reads == slots);
    CHECK(counters(managed).gmmu.faults == 0);
    CHECK(counters(managed).gmmu.bytes_to_device == 0);
  }
}

TEST_CASE("remote: each line crosses the link each time, and its latency counts in full") {
  std::vector<Address> lines;
  for (Address i = 0; i < 6; ++i) lines.push_back(kBase + i % 3 * kLine);  // each line twice
  const LoadChain trace(lines);
  const auto with = [&](const char* latency) {
    return run_managed(*trace,
                       smart_gpu({"uvm.remote=static", "uvm.remote_threshold=100", "uvm.remote_path=link",
                                  std::string("uvm.remote_latency_ns=") + latency}));
  };
  const auto fast = with("1000"), slow = with("3000");
  CHECK(kernel_cycles(slow) - kernel_cycles(fast) == 6 * 2 * 1481);
  const uvm::RunCounters& c = counters(fast);
  CHECK(c.gmmu.remote_reads == 6);
  CHECK(c.tlb.remote_lines == 6);
  CHECK(c.tlb.misses == 1);  // the mapping stays in the TLB
  CHECK(c.gmmu.remote_bytes_to_host == 6 * 18);
  CHECK(c.gmmu.remote_bytes_to_device == 6 * (18 + 128));
  CHECK(fast.report.kernels.at(0).counters.sm.l1.requests == 0);
}

TEST_CASE("remote: a line takes the crossbar and its slice on the way to the link and back") {
  // All clocks are equal. The kernels' instructions are in one line, so their difference is that of their
  // loads.
  const auto cycles = [](unsigned loads, const char* request, const char* reply, const char* slice) {
    std::vector<Address> lines;
    for (Address i = 0; i < loads; ++i) lines.push_back(kBase + i * kLine);
    return kernel_cycles(run_managed(
        *LoadChain(lines),
        smart_gpu({"uvm.remote=static", "uvm.remote_threshold=100", "uvm.remote_path=link",
                   std::string("icnt.request_latency=") + request, std::string("icnt.reply_latency=") + reply,
                   std::string("l2.latency=") + slice})));
  };
  const Cycle slow = cycles(6, "27", "41", "63") - cycles(2, "27", "41", "63"),
              fast = cycles(6, "20", "30", "50") - cycles(2, "20", "30", "50");
  CHECK(slow - fast == 4 * 2 * ((27 - 20) + (41 - 30) + (63 - 50)));
}

TEST_CASE("remote: a stream is as fast as the link") {
  const OpenTrace trace({"streaming", "streaming", {{"ctas", "64"}}});
  const auto config =
      smart_gpu({"uvm.remote=counters", "uvm.remote_threshold=60000", "uvm.remote_path=link"});
  const auto result = run_managed(*trace, config, "all");
  const uvm::Counters& c = counters(result).gmmu;
  REQUIRE(c.remote_reads > 500);
  CHECK(c.faults == 0);
  // The direction to the device carries the loads; 2 MB take 242080 cycles.
  const double wire = static_cast<double>(c.remote_bytes_to_device) * 242080 / (2 << 20);
  CHECK(static_cast<double>(kernel_cycles(result)) > wire);
  CHECK(static_cast<double>(kernel_cycles(result)) < 1.3 * wire + 10000);
}

TEST_CASE("remote: the hardware's access counters migrate 64 KiB at their threshold") {
  std::vector<Address> loads;
  for (Address i = 0; i < 60; ++i) loads.push_back(kBase + i % 32 * kLine);
  const LoadChain trace(loads);
  config::GpuConfig config = small_gpu("v100");
  config.uvm.remote = 4;
  REQUIRE(uvm::remote_policies()[config.uvm.remote] == &uvm::kRemoteCounters);
  config.uvm.remote_threshold = 20;
  const auto result = run_managed(*trace, config);
  const uvm::Counters& c = counters(result).gmmu;
  CHECK(c.remote_reads >= 20);
  CHECK(c.remote_reads < 60);
  CHECK(c.counted_migrations == 16);
  CHECK(c.faults == 0);
  CHECK(c.bytes_to_device == 65536);
}

TEST_CASE("advice on the whole machine: pages that stay, pages that are copies") {
  using uvm::Advice;
  const OpenTrace trace({"streaming", "streaming", {{"ctas", "64"}}});
  const auto config = small_gpu("v100");
  constexpr std::uint64_t kEverything = std::uint64_t{1} << 31;
  const auto with = [&](std::vector<trace::Command> before, const char* memory) {
    const WithCommands both(*trace, std::move(before));
    return counters(run_managed(both, config, "0x7f8000000000+1GiB", memory)).gmmu;
  };
  const auto plain = with({}, "");
  CHECK(plain.faults > 0);
  const auto prefers = with({advice(Advice::kSetPreferredLocation, true, kEverything)}, "");
  CHECK(prefers.bytes_to_device == 0);
  CHECK(prefers.remote_reads + prefers.remote_writes > 0);
  CHECK(prefers.buffer_entries > 0);
  const auto accessed = with({advice(Advice::kSetAccessedBy, false, 1 << 20)}, "");
  CHECK(accessed.remote_reads + accessed.remote_writes > 0);
  const auto read_mostly = with({advice(Advice::kSetReadMostly, false, kEverything)}, "");
  CHECK(read_mostly.duplicated_pages > 0);
  CHECK(read_mostly.bytes_to_device == plain.bytes_to_device);
}

TEST_CASE("a blocking TLB lets nothing pass a miss") {
  const OpenTrace trace({"streaming", "streaming", {{"ctas", "64"}}});
  config::GpuConfig config = small_gpu("v100");
  const auto passing = run_managed(*trace, config, "all");
  config.uvm.blocking_misses = true;
  const auto blocking = run_managed(*trace, config, "all");
  CHECK(counters(blocking).gmmu.bytes_to_device == counters(passing).gmmu.bytes_to_device);
  CHECK(counters(blocking).tlb.merged == 0);
  CHECK(counters(passing).tlb.merged > 0);
  CHECK(kernel_cycles(blocking) > kernel_cycles(passing));
}

TEST_CASE("a shootdown of everything costs entries and its own time") {
  const OpenTrace trace(kSmallRandom);
  const auto with = [&](const char* scope) {
    return run_managed(*trace, smart_gpu({"uvm.evictor=lru_4k", std::string("uvm.shootdown=") + scope}),
                       kTable, "0.5x");
  };
  const auto entry = with("entry"), all = with("all");
  REQUIRE(counters(entry).gmmu.evictions > 0);
  CHECK(counters(all).tlb.shot_down > counters(entry).tlb.shot_down);
  CHECK(counters(all).tlb.hits <= counters(entry).tlb.hits);
}

TEST_CASE("identity with pages that stay on the host") {
  struct Case {
    SmallTrace trace;
    const char *managed, *memory;
    bool smart;
    std::vector<std::string> settings;
  };
  const SmallTrace streaming = small_traces().at(0);
  const std::vector<Case> cases = {
      {kSmallRandom,
       kTable,
       "0.3x",
       true,
       {"uvm.remote=adaptive", "uvm.remote_threshold=200", "uvm.prefetcher=none", "uvm.evictor=tbn"}},
      {kSmallRandom,
       kTable,
       "0.3x",
       true,
       {"uvm.remote=oversubscribed", "uvm.remote_threshold=200", "uvm.prefetcher=none",
        "uvm.remote_path=link"}},
      {kSmallRandom, kTable, "0.5x", false, {"uvm.remote=counters", "uvm.remote_threshold=4"}},
      {kSmallRandom,
       kTable,
       "0.5x",
       false,
       {"uvm.remote=static", "uvm.remote_threshold=60", "uvm.remote_outstanding=3"}},
      {streaming, "memcpy", "", false, {"uvm.blocking_misses=true"}},
      {kSmallRandom, kTable, "0.3x", true, {"uvm.smart_runtime=true", "uvm.shootdown=all"}}};
  const Case one = cases.at(GENERATE(range(std::size_t{0}, std::size_t{6})));
  const OpenTrace trace(one.trace);
  std::vector<std::string> settings = one.settings;
  if (!one.smart) settings.insert(settings.end(), {"gpu.sms=10", "gpu.gpcs=4", "l2.partitions=4"});
  auto config = one.smart ? smart_gpu(settings) : config::resolve("v100", settings);
  config.uvm.kib_ps = 0;  // a slow fault takes long when every cycle is visited
  config.uvm.link = 6;    // nvlink_c2c
  config.uvm.interrupt_ns = 200;
  config.uvm.batch_ns = 300;
  config.uvm.evict_ns = 100;
  const auto bytes = [&](const Way& way) {
    return bytes_of(*trace, managed_options(config, one.managed, one.memory), one.smart, way);
  };
  const std::string expected = bytes({1, 0, true, false, false});
  if (one.settings.at(0).starts_with("uvm.remote"))
    CHECK(expected.find("\"remote_reads\":0,") == std::string::npos);
  for (const Way& way : kWays) {
    INFO(one.trace.name << " " << one.settings.at(0) << " threads " << way.threads << " window " << way.window
                        << " skip " << way.skip);
    CHECK((bytes(way) == expected));
  }
}

}  // namespace
}  // namespace lockstep::test
