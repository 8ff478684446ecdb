// Kernels that are made to be bound by one thing: the report names it.
#include "report/diagnosis.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "report/page.hpp"
#include "report/sections.hpp"
#include "synth/kinds.hpp"
#include "tests/report/folder.hpp"

namespace lockstep::report {
namespace {

/// The diagnosis of the longest kernel of a run.
Diagnosis of_longest(const Run& run) {
  const auto kernels = judge(run);
  return longest(kernels).at(0)->diagnosis;
}

Diagnosis diagnosis(const std::string& kind, const test::SynthValues& values,
                    const gpu::RunOptions& options) {
  const ResultFolder folder(kind, values, options);
  return of_longest(load(folder.path()));
}

/// Each lane of a warp takes a path of its own, 8 FFMAs that do not depend on each other.
void write_divergent(const std::string& path) {
  synth::TraceFolder folder(path, {});
  trace::KernelHeader header;
  header.name = "divergent";
  header.registers = 16;
  synth::write_kernel(folder, header, 80, 256, [](synth::WarpText& w, std::uint32_t, std::uint32_t) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      for (int i = 0; i < 8; ++i)
        w.emit({.opcode = "FFMA", .to = 2 + i, .from = {2 + i, 10, 11}, .mask = LaneMask{1} << lane});
    w.emit({.opcode = "EXIT"});
  });
  folder.close();
}

/// Loads from a table of constants: each lane a word of its own, `stride` bytes apart.
void write_constants(const std::string& path, std::int64_t stride) {
  constexpr Address kTable = 0x7f0000000000;
  synth::TraceFolder folder(path, {});
  trace::KernelHeader header;
  header.name = "constants";
  header.registers = 16;
  synth::write_kernel(folder, header, 80, 256, [&](synth::WarpText& w, std::uint32_t, std::uint32_t) {
    for (int i = 0; i < 16; ++i)
      w.emit({.opcode = "LDC", .to = 2 + i % 8, .from = {12}, .access = synth::strided(4, kTable, stride)});
    w.emit({.opcode = "EXIT"});
  });
  folder.close();
}

/// 16 MiB go to the device for a kernel that reads 256 KiB of them.
void write_copied(const std::string& path) {
  synth::synthesize("streaming", {{"ctas", "64"}}, path);
  std::ifstream in(path + "/kernelslist.g");
  const std::string list((std::istreambuf_iterator<char>(in)), {});
  std::ofstream(path + "/kernelslist.g") << "MemcpyHtoD,0x7f7000000000,16777216\n" << list;
}

}  // namespace

TEST_CASE("constant loads whose lanes read different addresses are named, others are not") {
  for (const std::int64_t stride : {4, 0}) {
    const ResultFolder folder([&](const std::string& path) { write_constants(path, stride); },
                              small_options(1));
    const auto d = of_longest(load(folder.path()));
    CHECK((d.bound.key == "constant_replay") == (stride != 0));
    if (stride != 0) CHECK(d.bound.why.find("32.0 passes") != std::string::npos);
  }
}

TEST_CASE("bank conflicts of shared memory are named") {
  // All 32 lanes 32 words apart: one bank, 32 passes.
  const auto d =
      diagnosis("shared", {{"stride", "32"}, {"threads", "1024"}, {"passes", "8"}}, small_options(1));
  CHECK(d.bound.key == "shared_conflicts");
  CHECK(d.bound.why.find("32.0 passes") != std::string::npos);
}

TEST_CASE("shared memory without conflicts is not called conflicts") {
  const auto d =
      diagnosis("shared", {{"stride", "1"}, {"threads", "1024"}, {"passes", "8"}}, small_options(1));
  CHECK(d.bound.key == "shared_bandwidth");
}

TEST_CASE("DRAM bandwidth is named") {
  // 12 MiB through an L2 of less than 1 MiB, which the copies do not fill.
  gpu::RunOptions options = small_options();
  options.config.host.warms_l2 = false;
  CHECK(diagnosis("streaming", {{"ctas", "4096"}}, options).bound.key == "dram");
}

TEST_CASE("L2 bandwidth is named") {
  gpu::RunOptions options = small_options(80);
  options.config = config::resolve("v100");
  CHECK(diagnosis("l2_read", {}, options).bound.key == "l2");
}

TEST_CASE("memory latency is named") {
  CHECK(diagnosis("pointer_chase", {}, small_options()).bound.key == "memory_latency");
}

TEST_CASE("the latency of dependent arithmetic is named") {
  const auto d = diagnosis("ffma", {}, small_options());
  CHECK(d.bound.key == "dependence");
  CHECK(std::any_of(d.also.begin(), d.also.end(), [](const Finding& f) { return f.key == "grid"; }));
}

TEST_CASE("the tensor unit is named") {
  const test::SynthValues values{
      {"op", "HMMA.884.F32.F32.STEP0"}, {"chains", "4"}, {"ctas", "40"}, {"threads", "512"}, {"passes", "4"}};
  CHECK(diagnosis("pipe", values, small_options()).bound.key == "pipe.tensor");
}

TEST_CASE("the FP64 unit is named") {
  const test::SynthValues values{
      {"op", "DFMA"}, {"chains", "4"}, {"ctas", "40"}, {"threads", "256"}, {"passes", "2"}};
  CHECK(diagnosis("pipe", values, small_options()).bound.key == "pipe.fp64");
  gpu::RunOptions shared = small_options();
  shared.config.fp64_shared = true;  // one unit for four sub-cores
  CHECK(diagnosis("pipe", values, shared).bound.key == "pipe.fp64");
}

TEST_CASE("atomics are named") {
  for (const char* op : {"ATOMG.E.ADD.STRONG.GPU", "RED.E.ADD.STRONG.GPU"}) {
    INFO(op);
    CHECK(diagnosis("atomics", {{"op", op}, {"ctas", "40"}, {"threads", "256"}, {"passes", "2"}},
                    small_options())
              .bound.key == "atomics");
  }
}

TEST_CASE("divergence is named") {
  const ResultFolder folder(write_divergent, small_options());
  const auto d = of_longest(load(folder.path()));
  CHECK(d.bound.key == "divergence");
  CHECK(d.bound.why.find("1.") != std::string::npos);  // lanes
}

TEST_CASE("launch overhead is named") {
  CHECK(diagnosis("empty", {{"ctas", "16"}}, small_options()).bound.key == "launch");
}

TEST_CASE("the host link is named") {
  const ResultFolder folder(write_copied, small_options());
  const Run run = load(folder.path());
  CHECK(diagnose_run(run).key == "host_link");
  // 16 MiB and a little over a link with that many bytes per second, and most of the run is that.
  const double seconds = 16777216.0 / static_cast<double>(run.machine.host.bytes_per_second);
  const double total = run.whole.number("total_cycles") / (run.whole.number("core_khz") * 1000);
  CHECK(time_shares(run).copies * total == Approx(seconds).epsilon(0.05));
}

TEST_CASE("pages that come over the host link are named") {
  gpu::RunOptions options = small_options();
  options.managed = gpu::parse_managed("all");
  const auto d = diagnosis("streaming", {{"ctas", "256"}}, options);
  CHECK((d.bound.key == "host_link" || d.bound.key == "page_faults"));
}

TEST_CASE("a grid that leaves the GPU empty is named") {
  const test::SynthValues values{
      {"op", "FFMA"}, {"chains", "8"}, {"ctas", "1"}, {"threads", "1024"}, {"passes", "4"}};
  CHECK(diagnosis("pipe", values, small_options()).bound.key == "grid");
}

TEST_CASE("the bottleneck does not depend on --profile") {
  const test::SynthValues values{{"stride", "32"}, {"threads", "1024"}};
  CHECK(diagnosis("shared", values, small_options(1, false)).bound.key ==
        diagnosis("shared", values, small_options(1, true)).bound.key);
}

TEST_CASE("the first screen and the JSON say the same") {
  const ResultFolder folder("shared", {{"stride", "32"}, {"threads", "1024"}, {"passes", "8"}},
                            small_options(1));
  std::vector<Run> runs;
  runs.push_back(load(folder.path()));
  const auto json = nlohmann::json::parse(bottlenecks_json(runs));
  CHECK(json["runs"][0]["kernels"][0]["bound"] == "shared_conflicts");
  const std::string html = page(runs);
  const auto named = html.find("Shared-memory bank conflicts"), section = html.find("id=\"kernel-1\"");
  CHECK(named < section);
}

}  // namespace lockstep::report
