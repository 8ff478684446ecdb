// The page's parts for runs whose statistics are made by hand, on a V100 with a clock of 1 GHz: a cycle is a
// nanosecond.
#include "tests/report/hand_made.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "config/config.hpp"
#include "report/sections.hpp"
#include "stats/files.hpp"
#include "stats/report.hpp"

namespace lockstep::report {
namespace {

using Catch::Contains;

std::string summary_of(const Run& run) {
  const auto kernels = judge(run);
  return summary_section(run, kernels, longest(kernels));
}

}  // namespace

TEST_CASE("hand-made run: the twenty longest copies, the longest first, with their rates") {
  stats::RunReport report = report_of(one_gigahertz());
  for (unsigned i = 1; i <= 25; ++i) report.copies.push_back({"fill", 0, 500 * i, i, 100 * i});
  const std::string html = system_section(load(HandMade(report).path()));
  CHECK(times_in(html, "<td>fill</td>") == 20);
  CHECK(times_in(html, ">5.00</td>") == 20);  // 500 bytes in 100 ns
  CHECK(html.find(">2.50</td>") < html.find(">2.40</td>"));
  CHECK(html.find(">2.40</td>") < html.find(">0.60</td>"));
  CHECK_THAT(html, !Contains(">0.50</td>") && Contains("The 20 longest of 25."));
  report.copies.resize(20);
  CHECK_THAT(system_section(load(HandMade(report).path())), !Contains("longest of"));
}

TEST_CASE("hand-made run: a link is as busy as its bytes need of the run's time") {
  stats::RunReport report = report_of(one_gigahertz());
  report.system = {
      .name = "pair", .devices = {{"v100", 1, 1'000'000}}, .links = {}, .network = {}, .managed = {}};
  report.system->links = {{.from = "gpu<0>",
                           .to = "gpu1",
                           .kind = "nvlink",
                           .count = 2,
                           .bytes_per_second = 1'000'000'000,
                           .messages = 7,
                           .bytes = 250'000}};
  const std::string html = system_section(load(HandMade(report).path()));
  CHECK_THAT(html, Contains("</span>25.0 %") && Contains("<td>2 nvlink</td>") && Contains("gpu&lt;0&gt;"));
}

TEST_CASE("hand-made run: managed memory in words, and its counters that are not zero") {
  stats::RunReport report = report_of(one_gigahertz());
  stats::ManagedReport managed;
  managed.device_bytes = 1 << 20;
  auto& c = managed.counters.gmmu;
  c.faults = 3;
  c.bytes_to_device = 12288;
  c.transfers = 2;
  c.bytes_to_host = 4096;
  c.peak_resident_pages = 2;
  report.managed = managed;
  const std::string html = system_section(load(HandMade(report).path()));
  CHECK_THAT(html, Contains("3 far faults; 12.0 KiB came to the device in 2 transfers, 4.0 KiB went back; at "
                            "most 8.0 KiB of 1.0 MiB were resident."));
  CHECK(times_in(html, "<tr>") == 1 + 5);  // the head and five counters
  CHECK_THAT(html, !Contains("Device "));
  report.managed.reset();
  report.system = {.name = "pair",
                   .devices = {{"v100", 1, 1'000'000}},
                   .links = {},
                   .network = {},
                   .managed = {managed, managed}};
  CHECK_THAT(system_section(load(HandMade(report).path())), Contains(">Device 0<") && Contains(">Device 1<"));
}

TEST_CASE("hand-made run: a size of more than 64 bits is shown as the largest one") {
  stats::RunReport report = report_of(one_gigahertz());
  report.managed = stats::ManagedReport{};
  const HandMade folder(report);
  folder.change([](Statistics& json) { json["managed"]["peak_resident_pages"] = std::uint64_t{1} << 60; });
  CHECK_THAT(system_section(load(folder.path())), Contains("at most 16777216.0 TiB of 0 B were resident."));
}

TEST_CASE("hand-made run: remarks, and why a run is partial") {
  stats::RunReport report = report_of(one_gigahertz());
  report.remarks = {"a < b", "second"};
  report.partial = true;
  report.partial_reason = "max-cycles";
  const HandMade folder(report);
  const Run run = load(folder.path());
  CHECK_THAT(system_section(run), Contains("<li>a &lt; b</li>\n<li>second</li>"));
  const std::string html = summary_of(run);
  CHECK_THAT(html, Contains("Partial results: the run was cut short (max-cycles).") &&
                       Contains("1 kernel, 0 copies, 1,000,000 core cycles or 1000.00 us in all."));
  report.partial = false;
  report.copies = {{"fill", 0, 1, 0, 1}};
  const HandMade whole(report);
  const Run complete = load(whole.path());
  CHECK_THAT(summary_of(complete), !Contains("Partial") && Contains(", 1 copy, "));
}

TEST_CASE("hand-made run: of many launches a row for each kernel, by its time, with its longest launch") {
  stats::RunReport report = report_of(one_gigahertz());
  report.kernels.clear();
  for (std::uint64_t i = 0; i < 31; ++i)
    report.kernels.push_back(i == 20 ? kernel_of("long", i, 9000)
                                     : kernel_of("short", i, i == 5 ? 700 : 100));
  const HandMade folder(report);
  const Run run = load(folder.path());
  const auto kernels = judge(run);
  const auto sections = longest(kernels);  // 9 us and 29 * 0.1 + 0.7 = 3.6 us
  REQUIRE(sections.size() == 2);
  CHECK(sections[0]->kernel->index == 20);
  CHECK(sections[1]->kernel->index == 5);
  CHECK_THAT(summary_section(run, kernels, sections, "b-"),
             Contains("href=\"#b-kernel-21\"") && Contains(">3.60</td>") && Contains(">30</td>") &&
                 Contains("</span>28.6 %"));  // 3.6 / 12.6
  report.kernels.resize(30);                  // few enough for a row each
  const HandMade few(report);
  const Run each = load(few.path());
  const auto all = judge(each);
  CHECK(times_in(summary_section(each, all, longest(all)), "<tr>") == 31);
  CHECK(longest(all).size() == 12);
}

TEST_CASE("hand-made run: what goes through the memory is bytes and hit rates of the counters") {
  stats::RunReport report = report_of(one_gigahertz());
  auto& sm = report.kernels[0].counters.sm;
  auto& mem = report.kernels[0].counters.mem;
  sm.l1.accesses = 1000;
  sm.l1.hits = 250;
  sm.l1.sectors_written = 10;  // of 32 bytes
  sm.l1.sectors_read = 20;
  sm.l1_load_sectors_sent = 50;
  sm.l1_store_sectors_sent = 3;
  sm.l1_atomic_sectors_sent = 4;
  mem.dram_reads = 3;
  mem.dram_writes = 1;
  mem.dram_bytes = 256;
  mem.dram_row_hits = 2;
  const HandMade folder(report);
  const Run run = load(folder.path());
  const std::string html = memory_chart(run, judge(run).at(0));
  CHECK_THAT(html, Contains("<span>25.0 % hits</span>") && Contains("<span>no accesses</span>") &&
                       Contains("<span>50 % row hits</span>") && Contains("<span>4 bursts</span>"));
  CHECK_THAT(html, Contains("<span>320B &rarr;</span><span>&larr; 640B</span>"));
  CHECK_THAT(html, Contains("<span>224B &rarr;</span><span>&larr; 1600B</span>"));  // 7 and 50 sectors
  CHECK_THAT(html, Contains("<span>64B &rarr;</span><span>&larr; 192B</span>"));
}

TEST_CASE("hand-made run: a kernel's points in the roofline are instructions a sector and a nanosecond") {
  stats::RunReport report = report_of(one_gigahertz());
  auto& counters = report.kernels[0].counters;
  counters.sm.warp_instructions = 6400;
  counters.sm.shared_wavefronts = 10;  // of 128 bytes: 40 sectors
  counters.mem.l2.accesses = 100;
  counters.mem.dram_bytes = 6400;  // 200 sectors
  const auto roofline_of = [&] {
    const HandMade folder(report);
    const Run run = load(folder.path());
    return roofline(run, judge(run).at(0));
  };
  CHECK_THAT(roofline_of(), Contains(">L1 and shared: 160, 6.4 G<") && Contains(">L2: 64, 6.4 G<") &&
                                Contains(">DRAM: 32, 6.4 G<"));
  counters.mem.dram_bytes = 0;
  CHECK_THAT(roofline_of(), !Contains(">DRAM: "));
  counters.sm.warp_instructions = 0;
  CHECK(roofline_of().empty());
}

TEST_CASE("hand-made run: how busy units are, over the cycles that there are") {
  const auto usage = [](const stats::KernelCounters& counters, const config::GpuConfig& machine) {
    stats::RunReport report = report_of(machine);
    report.kernels[0].counters = counters;
    const HandMade folder(report, machine);
    return judge(load(folder.path())).at(0).usage;
  };
  stats::KernelCounters c;
  c.sm.warp_instructions = 80'000;  // a quarter of 1000 cycles of 320 sub-cores
  c.sm.thread_instructions = 800'000;
  c.sm.pipes[static_cast<unsigned>(stats::Pipe::kFp64)] = 32'000;
  c.sm.stalls[static_cast<unsigned>(stats::Stall::kIssued)] = 80'000;
  c.sm.stalls[static_cast<unsigned>(stats::Stall::kWait)] = 120'000;
  c.sm.stalls[static_cast<unsigned>(stats::Stall::kEmpty)] = 20'000;  // and 100,000 without a reason
  c.sm.warp_cycles = 400'000;
  c.sm.l1_atomic_sectors_sent = 1;
  c.sm.l1_load_sectors_sent = 2;
  c.sm.l1_store_sectors_sent = 5;
  c.sm.const_instructions = 10;
  c.sm.const_passes = 35;
  c.sm.shared_instructions = 4;
  c.sm.shared_wavefronts = 6;
  config::GpuConfig machine = one_gigahertz();
  const Usage u = usage(c, machine);
  CHECK(u.issue == Approx(0.25));
  CHECK(u.lanes == Approx(10));
  CHECK(u.pipes[static_cast<unsigned>(stats::Pipe::kFp64)] == Approx(0.1));
  CHECK(u.top_pipe() == stats::Pipe::kFp64);
  CHECK(u.empty == Approx(0.375));
  CHECK(u.stalls[static_cast<unsigned>(stats::Stall::kIssued)] == Approx(0.4));
  CHECK(u.stalls[static_cast<unsigned>(stats::Stall::kWait)] == Approx(0.6));
  CHECK(u.top_stall() == stats::Stall::kWait);
  CHECK(u.warps == Approx(2));
  CHECK(u.atomic_share == Approx(0.125));
  CHECK(u.constant_passes == Approx(3.5));
  CHECK(u.wavefronts == Approx(1.5));
  machine.fp64_shared = true;  // one unit for four sub-cores
  CHECK(usage(c, machine).pipes[static_cast<unsigned>(stats::Pipe::kFp64)] == Approx(0.4));
}

TEST_CASE("the V100's peak bandwidths are those of its data sheet and its SMs") {
  const config::GpuConfig machine = config::resolve("v100");
  const Peaks peaks = peaks_of(machine);
  // HBM2, 4096 bits at 877 MHz with two transfers a cycle: 898 GB/s
  CHECK(peaks.dram_bytes * peaks.core_hz == Approx(4096 / 8 * 2 * 877e6).epsilon(0.001));
  CHECK(peaks.l1_bytes == 80 * 128);
  CHECK(peaks.subcores == 320);
}

TEST_CASE("hand-made runs: differences are those of launches with the same title, one after another") {
  stats::RunReport a = report_of(one_gigahertz()), b = a;
  a.kernels = {kernel_of("k", 1, 1000), kernel_of("k", 1, 2000), kernel_of("only", 2, 10)};
  b.kernels = {kernel_of("k", 1, 1500), kernel_of("k", 1, 2000)};
  b.kernels[0].counters.mem.l2.hits = 5;
  b.kernels[0].counters.sm.barriers = 3;
  a.kernels[0].counters.sm.barriers = 4;
  b.total_cycles = 750'000;
  const HandMade folder_a(a), folder_b(b);
  const Run run_a = load(folder_a.path()), run_b = load(folder_b.path());
  const auto of_a = judge(run_a), of_b = judge(run_b);
  const std::string html = difference_section(run_a, of_a, run_b, of_b);
  CHECK_THAT(html, Contains("Whole run: A 1000.00 us, B 750.00 us, -25.0 %. 2 of 3 kernels of A"));
  CHECK_THAT(html, Contains("+50.0 %") && !Contains("only"));
  CHECK_THAT(html, Contains("<td>l2.hits</td><td class=\"n\" data-v=\"0\">0</td><td class=\"n\" "
                            "data-v=\"5\">5</td><td class=\"n\" data-v=\"Infinity\">new</td>"));
  CHECK_THAT(html, Contains("data-v=\"-0.25\">-25.0 %</td>"));  // 3 barriers for 4
  CHECK(times_in(html, "All counters are the same.") == 1);     // of the second launch
}

TEST_CASE("hand-made run: intervals and lists that are none are named") {
  const HandMade folder(report_of(one_gigahertz()));
  const std::string file = folder.path() + "/stats.json: ";
  for (const char* intervals :
       {"5", "{}", R"({"columns":[1],"rows":[]})", R"({"columns":["a"],"rows":[[1,2]]})",
        R"({"columns":["a"],"rows":[["x"]]})", R"({"columns":["a"],"rows":[1]})",
        R"({"columns":{},"rows":[]})", R"({"columns":[],"rows":{}})"}) {
    folder.change([&](Statistics& json) { json["intervals"] = Statistics::parse(intervals); });
    CHECK(folder.error() == file + "\"intervals\" has no columns and rows of numbers");
  }
  folder.change([](Statistics& json) { json.erase("intervals"); });
  REQUIRE(folder.error() == "no error");
  folder.change([](Statistics& json) { json["managed"] = 5; });
  CHECK(folder.error() == file + "\"managed\" is neither a list nor an object");
}

TEST_CASE("hand-made run: a profile of a launch that the run has not is refused") {
  stats::RunReport report = report_of(one_gigahertz());
  report.kernels = {kernel_of("k", 1, 10), kernel_of("k", 2, 10)};
  report.codes = {{"k", {{0, "0 EXIT 0", "", "", 0}}}};
  report.kernels[1].profile.instructions.resize(1);
  const HandMade folder(report);
  const Run run = load(folder.path());
  CHECK(run.profile_of(run.kernels[0]) == nullptr);
  CHECK(run.profile_of(run.kernels[1]) != nullptr);
  folder.change([](Statistics& json) { json["kernels"].erase(1); });
  CHECK(folder.error() == folder.path() + "/profile.json: found kernel 1, expected one of stats.json's 1");
}

}  // namespace lockstep::report
