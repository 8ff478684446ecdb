// What migrations do to the rest of the machine: crossbar, L2, DRAM, the host link; kernels that fight for
// memory.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "gpu/managed_file.hpp"
#include "managed_support.hpp"
#include "trace/byte_source.hpp"
#include "util/error.hpp"
#include "uvm/evictor.hpp"

namespace lockstep::test {
namespace {

/// Kernels of one warp in a stream each, whose loads wait for one another, and a copy behind them.
class Chains {
 public:
  explicit Chains(const std::vector<std::vector<Address>>& kernels, const std::string& copy = "") {
    const auto path = folder_.path();
    std::ofstream list(path / "kernelslist.g");
    for (std::size_t k = 1; k <= kernels.size(); ++k) {
      const std::string file = "kernel-" + std::to_string(k) + ".traceg";
      list << file << "\n";
      std::ofstream out(path / file);
      out << "-kernel name = chain\n-kernel id = " << k
          << "\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 32\n-binary version = 70\n"
             "-cuda stream id = "
          << k - 1
          << "\n-shmem base_addr = 0x0\n-local mem base_addr = 0x0\n-nvbit version = 1.7\n"
             "-accelsim tracer version = 3\n\n#traces format = PC mask dest_num [reg_dests] opcode src_num "
             "[reg_srcs] mem_width [adrrescompress?] [mem_addresses]\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\n"
             "warp = 0\ninsts = "
          << kernels[k - 1].size() + 1 << "\n"
          << std::hex;
      std::uint32_t pc = 0x10;
      for (const Address a : kernels[k - 1]) {
        out << pc << " ffffffff 1 R4 LDG.E 1 R4 4 1 0x" << a << " 4\n";
        pc += 0x10;
      }
      out << pc << " ffffffff 0 EXIT 0 0\n\n#END_TB\n";
    }
    if (!copy.empty()) list << copy << "\n";
    list.close();
    trace_ = trace::open_trace(path.string());
  }
  [[nodiscard]] const trace::TraceSet& operator*() const { return *trace_; }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<trace::TraceSet> trace_;
};

/// Loads of `count` pages of kBase and the next ones, one after the other, `times` times.
std::vector<Address> page_sweep(unsigned count, unsigned times, Address first = kBase) {
  std::vector<Address> addresses;
  for (unsigned t = 0; t < times; ++t)
    for (unsigned p = 0; p < count; ++p) addresses.push_back(first + Address{p} * 4096);
  return addresses;
}

config::GpuConfig quick_v100(const std::vector<std::string>& more = {}) {
  std::vector<std::string> set = {"gpu.sms=4",
                                  "gpu.gpcs=2",
                                  "l2.partitions=4",
                                  "uvm.interrupt_ns=200",
                                  "uvm.batch_ns=300",
                                  "uvm.evict_ns=100",
                                  "uvm.prefetcher=none",
                                  "uvm.kib_ps=0",
                                  "uvm.prefetcher_oversubscribed=none"};
  set.insert(set.end(), more.begin(), more.end());
  return config::resolve("v100", set);
}

TEST_CASE("each line of a migration is one request of the crossbar, in both directions") {
  const Chains trace({page_sweep(4, 2)});
  for (const bool through : {true, false}) {
    const auto config = quick_v100({through ? "uvm.through_l2=true" : "uvm.through_l2=false"});
    const auto result = gpu::simulate(*trace, managed_options(config, "0x7f8000000000+64KiB", "4096B"));
    REQUIRE(result.outcome == gpu::Outcome::kDone);
    const uvm::Counters& c = counters(result).gmmu;
    CHECK(c.bytes_to_device == 8 * 4096);  // one page at a time
    CHECK(c.bytes_to_host == 7 * 4096);
    const auto& rest = result.report.unattributed;
    CHECK(rest.icnt.requests == (through ? 15 * 4096 / 128 : 0));
    // What came in is in the L2 when its page leaves: DRAM has no part in it.
    CHECK(rest.mem.l2.misses == (through ? 8 * 4096 / 32 : 0));  // sectors that are written there first
  }
}

TEST_CASE("pages that leave take their lines out of the L2; what the L2 has lost is read from DRAM") {
  // 16 MiB of pages through an L2 of a fraction of that: write-backs and victims use DRAM.
  const Chains trace({page_sweep(512, 2)});
  const auto config = quick_v100({"l2.slice_bytes=12288", "uvm.through_l2=true"});
  const auto result = gpu::simulate(*trace, managed_options(config, "0x7f8000000000+2MiB", "1MiB"));
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  const auto& rest = result.report.unattributed;
  CHECK(counters(result).gmmu.bytes_to_host > 0);
  CHECK(rest.mem.l2_writebacks > 0);
  CHECK(rest.mem.dram_bytes > 0);
}

TEST_CASE("a copy and migrations take turns on the link") {
  const Chains trace({page_sweep(8, 1)}, "MemcpyHtoD,0x7e0000000000,1048576");
  const auto run = [&](const char* shares) {
    const auto config = quick_v100({"host.copy_mode=overlapped", std::string("uvm.shares_link=") + shares});
    return gpu::simulate(*trace, managed_options(config, "0x7f8000000000+64KiB")).report;
  };
  const auto shared = run("true"), apart = run("false");
  REQUIRE(shared.copies.size() == 1);
  // A page of the copy, at most, stands before each of the eight transfers; each stands before the copy.
  CHECK(shared.copies[0].cycles > apart.copies[0].cycles);
  CHECK(shared.kernels[0].cycles >= apart.kernels[0].cycles);
  CHECK(shared.kernels[0].cycles <= apart.kernels[0].cycles + 8 * 2 * 500);  // 4 KiB take 460 cycles
}

TEST_CASE("two streams fight for one page, in every policy, and both get through") {
  const Chains trace({page_sweep(2, 3), page_sweep(2, 3, kBase + 0x10000)});
  for (std::uint8_t evictor = 0; evictor < uvm::evictors().size(); ++evictor)
    for (const bool smart : {false, true}) {
      auto config = smart ? smart_gpu() : quick_v100();
      config.uvm.evictor = evictor;
      const auto result = gpu::simulate(*trace, managed_options(config, "0x7f8000000000+2MiB", "4096B"));
      INFO("evictor " << unsigned{evictor} << " smart " << smart);
      CHECK(result.outcome == gpu::Outcome::kDone);
      CHECK(result.report.kernels.size() == 2);
    }
}

TEST_CASE("migrations with copies beside them: the same bytes for every way", "[long]") {
  const Chains trace({page_sweep(24, 2), page_sweep(8, 2, kBase + 0x100000)},
                     "MemcpyDtoH,0x7e0000000000,65536");
  const auto config = quick_v100({"host.copy_mode=overlapped"});
  const auto bytes = [&](const Way& way) {
    auto options = managed_options(config, "0x7f8000000000+2MiB", "64KiB");
    options.threads = way.threads;
    options.window = way.window;
    options.skip = way.skip;
    options.schedule = way.dynamic ? gpu::Schedule::kDynamic : gpu::Schedule::kStatic;
    if (way.shuffle) options.shuffle = 42;
    options.interval = 5000;
    options.timeline = true;
    const auto result = gpu::simulate(*trace, options);
    CHECK(result.outcome == gpu::Outcome::kDone);
    return stats::to_json(result.report) + result.timeline;
  };
  const std::string expected = bytes({1, 0, true, false, false});
  CHECK(expected.find("\"residency\"") != std::string::npos);
  for (const Way& way : kWays) {
    INFO("threads " << way.threads << " window " << way.window << " skip " << way.skip);
    CHECK((bytes(way) == expected));
  }
}

TEST_CASE("a timeline of a run that was stopped is whole, and spans of a row do not overlap") {
  const Chains trace({page_sweep(24, 2), page_sweep(8, 2, kBase + 0x100000)},
                     "MemcpyHtoD,0x7e0000000000,65536");
  const auto config = quick_v100({"host.copy_mode=overlapped"});
  for (const Cycle limit : {Cycle{0}, Cycle{30000}, Cycle{100}}) {
    auto options = managed_options(config, "0x7f8000000000+2MiB", "64KiB");
    options.timeline = true;
    options.max_cycles = limit;
    const auto result = gpu::simulate(*trace, options);
    const auto file = nlohmann::json::parse(result.timeline);
    std::map<std::uint64_t, double> free;
    std::set<std::uint64_t> named;
    for (const auto& e : file.at("traceEvents")) {
      const auto row = e.at("tid").get<std::uint64_t>();
      if (e.at("ph") == "M") {
        CHECK(e.at("name") == "thread_name");
        CHECK(named.insert(row).second);
        continue;
      }
      CHECK(named.count(row) == 1);
      CHECK(e.at("ts").get<double>() >= 0);
      if (e.at("ph") != "X") continue;
      CHECK(e.at("dur").get<double>() >= 0);
      CHECK(e.at("ts").get<double>() >= free[row] - 2e-6);  // rounded down to a picosecond
      free[row] = e.at("ts").get<double>() + e.at("dur").get<double>();
    }
  }
}

TEST_CASE("no timeline is kept unless it is asked for") {
  const Chains trace({page_sweep(2, 1)});
  CHECK(gpu::simulate(*trace, managed_options(quick_v100(), "all")).timeline.empty());
}

TEST_CASE("a file of allocations") {
  const auto read = [](const char* text) {
    return gpu::read_managed_file(trace::TextStream(trace::open_memory(text), "side.txt"));
  };
  using Ranges = std::vector<std::pair<Address, std::uint64_t>>;
  CHECK(read("# made by hand\n0x1000 4096 weights\n\n 8192\t0x10\n") == Ranges{{0x1000, 4096}, {8192, 16}});
  for (const char* bad : {"", "# only\n", "0x1000\n", "0x1000 x\n", "weights 4096\n", "0x1000 0\n", "-1 4\n",
                          "0xffffffffffffffff 4096\n", "0x1000 99999999999999999999\n", "0x 1\n"})
    CHECK_THROWS_WITH(read(bad), Catch::Contains("side.txt"));
  CHECK_THROWS_WITH(read("0x1000 1\n0x1000 0\n"), Catch::Contains("side.txt:2"));
  CHECK_THROWS_AS(gpu::parse_managed("no-such-file"), UserError);
}

}  // namespace
}  // namespace lockstep::test
