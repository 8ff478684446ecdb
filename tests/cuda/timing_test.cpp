// Simulated time in a program that runs: events, queries, clocks, streams.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "paths.hpp"
#include "support.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;
using lockstep::cuda::kTimingPtx;

namespace {

Finished run_timing(const std::string& which, std::vector<std::string> options = {"-q"}) {
  options.insert(options.begin(), "exec");
  for (const std::string& word : {std::string("--"), std::string(LOCKSTEP_CUDA_TIMING), kTimingPtx, which})
    options.push_back(word);
  return run(std::move(options));
}

std::vector<long> numbers(const std::string& text) {
  std::istringstream in(text);
  std::vector<long> all;
  for (long n = 0; in >> n;) all.push_back(n);
  return all;
}

}  // namespace

TEST_CASE("a kernel's clock shows the product's latencies: Jia et al. 2018 for the V100", "[long]") {
  const Finished done = run_timing("clocks");
  CHECK(done.err.empty());
  const auto found = numbers(done.out);
  REQUIRE(found.size() == 2);
  CHECK(found[0] ==
        Approx(400).margin(10));  // FFMA: 4 cycles; the clock itself is read once more than 128 times
  CHECK(found[1] == Approx(2800).margin(100));  // L1: 28 cycles
}

TEST_CASE("a kernel that waits for its clock ends, and it is said that its trace is a guess", "[long]") {
  const Finished done = run_timing("spin");
  CHECK(done.out == "1\n");
  CHECK(done.err.find("spin: what it executes depends on its clock") != std::string::npos);
}

TEST_CASE("kernels of two streams run side by side, those of one do not", "[long]") {
  const Finished done = run_timing("streams", {"-q", "--set", "launch.call_ns=0"});
  CHECK(done.err.empty());
  const auto found = numbers(done.out);
  REQUIRE(found.size() == 3);
  const double one = static_cast<double>(found[0]);
  CHECK(one > 2000 * 4 / 1.38);  // its dependent multiply-adds alone
  CHECK(static_cast<double>(found[1]) == Approx(2 * one).epsilon(0.15));
  CHECK(static_cast<double>(found[2]) == Approx(one).epsilon(0.15));
}

TEST_CASE("events without work between them are complete behind a wait for all or for their stream") {
  const Finished done = run_timing("settled");
  CHECK(done.err.empty());
  const auto found = numbers(done.out);
  REQUIRE(found.size() == 6);  // the first two: no wait, whatever the event's own time
  CHECK(std::vector<long>(found.begin() + 2, found.end()) == std::vector<long>{0, 0, 0, 0});
}

TEST_CASE("--clock simulated: the program's clocks agree with its events, for every number of threads",
          "[long]") {
  const Finished done = run_timing("host-clocks", {"-q", "--clock", "simulated"});
  CHECK(done.err.empty());
  const auto found = numbers(done.out);
  REQUIRE(found.size() == 14);
  constexpr long kCalls = 20'000;  // ns: what the calls take beside the kernel; the host's loop takes longer
  for (std::size_t i = 0; i < 10; i += 2) {
    CHECK(static_cast<double>(found[i]) > 100'000 * 4 / 1.38);
    CHECK(found[i + 1] >= found[i]);
    CHECK(found[i + 1] < found[i] + kCalls);
  }
  CHECK(found[10] >= found[8]);  // the copy waits for the kernel
  CHECK(found[10] < found[8] + 2 * kCalls);
  CHECK(found[11] == 2'000'000 + 25);  // a sleep of 2 ms, one read
  CHECK(found[12] == 1'000'000 / 25 - 1);
  CHECK(found[13] == 946'684'800);  // date -u -d 2000-01-01 +%s
  for (const char* threads : {"1", "2", "3"})
    CHECK(run_timing("host-clocks", {"-q", "--clock", "simulated", "--threads", threads}).out == done.out);
}

TEST_CASE("--clock: the results say that it was simulated; there must be a simulation", "[long]") {
  const Finished done = run_timing("queries", {"--clock", "simulated"});
  CHECK(done.code == 0);
  CHECK_THAT(done.out, Catch::Contains("remark: the program's clocks showed simulated time"));
  CHECK_THAT(run_timing("queries", {"--clock", "host"}).out, !Catch::Contains("simulated time"));
  const auto refused = [](std::vector<std::string> options, const std::string& why) {
    const Finished end = run_timing("queries", std::move(options));
    CHECK(end.code == 2);
    CHECK_THAT(end.err, Catch::Contains("--clock") && Catch::Contains(why));
  };
  refused({"--clock", "sundial"}, "found 'sundial', expected host or simulated");
  refused({"--clock", "simulated", "--functional"}, "nothing is simulated");
  refused({"--clock", "simulated", "--managed", "all"}, "needs the whole trace");
}

TEST_CASE("queries: not ready (600) at the host's time, then the end is waited for", "[long]") {
  const Finished done = run_timing("queries");
  CHECK(done.err.empty());
  CHECK(done.out == "600 -600\n1 1\n");
}

TEST_CASE("a copy overlaps with a kernel of another stream, not with one of its own", "[long]") {
  const auto found = numbers(run_timing("copies").out);
  REQUIRE(found.size() == 2);
  const double copy = (1 << 20) / 12.0;  // ns, at 12 GB/s of the link; the kernel takes about as long
  CHECK(static_cast<double>(found[0]) > copy + 30000 * 4 / 1.38);
  CHECK(static_cast<double>(found[1]) < static_cast<double>(found[0]) - 0.8 * copy);
}

TEST_CASE("a fill and a copy within the device take their bytes over what STREAM reaches, beside the floor",
          "[long]") {
  const auto found = numbers(run_timing("fills").out);
  REQUIRE(found.size() == 4);
  // gpu-benches on a V100: init 897 GB/s, scale 809 GB/s; an empty kernel 1240 ns; the end is heard 24 ns
  // later.
  const double fill = 1264 + 4194304 / 0.897e3, copy = 1264 + 2 * 4194304 / 0.809e3;
  CHECK(static_cast<double>(found[0]) == Approx(fill).epsilon(0.01));
  CHECK(static_cast<double>(found[1]) == Approx(copy).epsilon(0.01));
  // Pages that are on the device do not fault: an order there and back more.
  CHECK(static_cast<double>(found[2]) == Approx(fill).margin(150));
  CHECK(static_cast<double>(found[3]) == Approx(copy).margin(150));
}

TEST_CASE("the report of a live run is that of its recording, whatever threads and windows",
          "[matrix][long]") {
  for (const std::string which : {"streams", "copies", "many", "queries", "clocks", "fills"}) {
    INFO(which);
    const Folder folder;
    const Finished one =
        run_timing(which, {"-q", "--threads", "1", "--record", folder / "kept.lst", "-o", folder / "one"});
    CHECK(one.code == 0);
    const std::string stats = slurp(folder / "one/stats.json");
    CHECK(stats.find("\"partial\":false") != std::string::npos);
    CHECK(run({"run", folder / "kept.lst", "-q", "-o", folder / "two"}).code == 0);
    CHECK(slurp(folder / "two/stats.json") == stats);
    CHECK(
        run_timing(which, {"-q", "--threads", "2", "--window", "7", "--shuffle", "3", "-o", folder / "three"})
            .out == one.out);
    CHECK(slurp(folder / "three/stats.json") == stats);
  }
}

namespace {

// A fault costs 2 + 3 us and its page on the link.
const std::vector<std::string> kFaults = {"-q",
                                          "--set",
                                          "uvm.prefetcher=none",
                                          "--set",
                                          "uvm.interrupt_ns=2000",
                                          "--set",
                                          "uvm.batch_ns=3000",
                                          "--set",
                                          "uvm.block_ns=0",
                                          "--set",
                                          "uvm.kib_ps=0"};

std::vector<std::string> with_faults(const std::vector<std::string>& more) {
  std::vector<std::string> options = kFaults;
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

}  // namespace

TEST_CASE("a program sees managed memory in simulated time: faults, a prefetch, what ran before", "[long]") {
  const Folder folder;
  const Finished done = run_timing("managed", with_faults({"-o", folder / "out"}));
  CHECK(done.err.empty());
  const auto found = numbers(done.out);
  REQUIRE(found.size() == 7);
  const auto report = nlohmann::json::parse(slurp(folder / "out/stats.json"));
  // The first kernel ran before the memory was managed; the report is of a machine with a GMMU from the
  // start.
  const auto& first = report.at("kernels").at(0);
  const double cycles = first.at("launch_cycles").get<double>() + first.at("cycles").get<double>();
  CHECK(static_cast<double>(found[0]) == Approx(1806 + cycles / 1.38).margin(2));  // launch.call_ns
  const long fault = found[1] - found[2];
  CHECK(fault >= 5000);
  CHECK(fault < 5000 + 4000);  // a page of 4 KB, a walk
  CHECK(found[3] == 600);      // cudaErrorNotReady
  CHECK(static_cast<double>(found[4]) == Approx(3e9 * 1048576 / 12e9).epsilon(0.05));  // PCIe 3: 12 GB/s
  CHECK(found[5] < found[2] + 10000);                                                  // no fault
  CHECK(static_cast<double>(found[6] - found[2]) == Approx(32.0 * static_cast<double>(fault)).epsilon(0.04));
  CHECK(report.at("managed").at("faults") == 1 + 32);
}

TEST_CASE("a live run with managed memory is that of its recording, whatever threads and windows",
          "[matrix][long]") {
  const Folder folder;
  for (const std::vector<std::string>& memory :
       {std::vector<std::string>{}, std::vector<std::string>{"--gpu-memory", "64KiB"},
        std::vector<std::string>{"--gpu-memory", "0.3x"}, std::vector<std::string>{"--managed", "none"}}) {
    const auto options = [&](std::vector<std::string> more, const char* out) {
      more.insert(more.end(), memory.begin(), memory.end());
      // A small GPU: --no-skip visits all of it in every cycle that a fault takes.
      for (const char* value : {"gpu.sms=2", "gpu.gpcs=1", "l2.partitions=1"})
        more.insert(more.end(), {"--set", value});
      more.insert(more.end(), {"-o", folder / out});
      return with_faults(more);
    };
    INFO((memory.empty() ? std::string("all of it") : memory.back()));
    const Finished one = run_timing("managed", options({"-t", "1", "--record", folder / "kept.lst"}, "one"));
    CHECK(one.code == 0);
    const std::string stats = slurp(folder / "one/stats.json");
    CHECK((stats.find("\"managed\"") == std::string::npos) == (!memory.empty() && memory.back() == "none"));
    const auto same = [&](const std::vector<std::string>& more) {
      CHECK(run_timing("managed", options(more, "two")).out == one.out);
      CHECK(slurp(folder / "two/stats.json") == stats);
    };
    same({"-t", "2", "--window", "7", "--shuffle", "3"});
    same({"-t", "2", "--no-skip", "--schedule", "static"});
    std::vector<std::string> replay = options({}, "three");
    replay.insert(replay.begin(), {"run", folder / "kept.lst"});
    CHECK(run(replay).code == 0);
    CHECK(slurp(folder / "three/stats.json") == stats);
  }
}

TEST_CASE("device memory as a share grows with what the program has managed so far", "[long]") {
  const Folder folder;
  const auto managed = [&](const char* share) -> std::pair<std::vector<long>, nlohmann::json> {
    const Finished done = run_timing("managed", with_faults({"--gpu-memory", share, "-o", folder / share}));
    CHECK(done.code == 0);
    return {numbers(done.out),
            nlohmann::json::parse(slurp(folder / (std::string(share) + "/stats.json"))).at("managed")};
  };
  const auto [all_times, all] = managed("1x");
  CHECK(all.at("evictions") == 0);
  CHECK(all.at("device_bytes") == all.at("footprint_bytes"));
  // An eighth of the first MiB is 32 pages, and the list that is chased there is one. An eighth of 4 MiB is
  // less than the 3 MiB that are prefetched then.
  const auto [times, some] = managed("0.125x");
  REQUIRE(times.size() == all_times.size());
  const std::uint64_t footprint = some.at("footprint_bytes");
  CHECK(times[1] == all_times[1]);  // simulated time: a fault
  CHECK(times[2] == all_times[2]);
  CHECK(some.at("evictions") > 0);
  CHECK(some.at("device_bytes") == footprint / 8);
}

TEST_CASE("an amount of device memory where nothing is managed", "[long]") {
  const Finished none = run_timing("streams", {"-q", "--gpu-memory", "0.8x"});
  CHECK(none.code == 2);
  CHECK(none.err.find("has no managed memory") != std::string::npos);
}

TEST_CASE("a simulation that stops early leaves the program running to its end", "[long]") {
  const Folder folder;
  const Finished done = run_timing("many", {"-q", "--max-cycles", "3000", "-o", folder / "out"});
  CHECK(done.code == 0);
  CHECK(done.out == "40\n");
  CHECK(slurp(folder / "out/stats.json").find("max-cycles") != std::string::npos);
}

TEST_CASE("a program that crashes: its exit code, and what it had launched as a partial report", "[long]") {
  const Folder folder;
  const Finished done = run({"exec", "-q", "-o", folder / "out", "--", LOCKSTEP_CUDA_PROGRAM,
                             std::string(LOCKSTEP_SOURCE_DIR) + "/examples/ptx/vector_add.ptx", "crash"});
  CHECK(done.code == 134);
  CHECK(done.err.find("was ended by signal") != std::string::npos);
  const std::string stats = slurp(folder / "out/stats.json");
  CHECK(stats.find("\"partial\":true") != std::string::npos);
  CHECK(stats.find("\"program\"") != std::string::npos);
}

TEST_CASE("a kernel that never ends: --max-cycles stops it and says where it stands", "[long]") {
  const Folder folder;
  const Finished done = run_timing("never", {"-q", "--max-cycles", "20000", "-o", folder / "out"});
  CHECK(done.code == 5);
  CHECK(done.out == "cudaErrorLaunchTimeout\n");
  CHECK(done.err.find(
            "kernel endless has no end within --max-cycles; its warps stand at\n  CTA (0,0,0) warp 0") !=
        std::string::npos);
  CHECK(done.err.find("  CTA (0,0,0) warp 0 and 1 more: ") != std::string::npos);
  const std::string stats = slurp(folder / "out/stats.json");
  CHECK(stats.find("\"name\":\"work\"") != std::string::npos);
  CHECK(stats.find("\"partial\":true,\"partial_reason\":\"max-cycles\"") != std::string::npos);
}

TEST_CASE("a kernel that never ends: Ctrl-C stops it, says where it stands and keeps the results", "[long]") {
  const Folder folder;
  Launch launch;
  launch.arguments = {"exec", "-q", "-o", folder / "out", "--", LOCKSTEP_CUDA_TIMING, kTimingPtx, "never"};
  Program program(launch);
  std::this_thread::sleep_for(std::chrono::milliseconds(3000));
  program.send(SIGINT);
  const Finished done = program.wait();
  CHECK(done.code == 130);
  CHECK(done.err.find("stopped in kernel endless; its warps stand at\n  CTA (0,0,0) warp 0") !=
        std::string::npos);
  const std::string stats = slurp(folder / "out/stats.json");
  CHECK(stats.find("\"partial\":true") != std::string::npos);
  CHECK(stats.find("\"name\":\"work\"") != std::string::npos);
}
