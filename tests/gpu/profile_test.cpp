// What --profile counts for instructions: the kernel's own counters, divided; the same for every way to run.
#include <catch2/catch.hpp>

#include "end_to_end.hpp"
#include "gpu/run.hpp"

namespace lockstep::test {
namespace {

using stats::Stall;

gpu::RunOptions profiled(const char* model = "v100") {
  gpu::RunOptions options;
  options.config = small_gpu(model);
  options.profile = true;
  return options;
}

/// The sums over instructions are the kernel's counters, of which `empty` alone has no instruction.
void check_sums(const stats::KernelResult& kernel) {
  stats::InstructionCounters sum;
  for (const stats::InstructionCounters& i : kernel.profile.instructions) stats::add(sum, i);
  const stats::SmCounters& sm = kernel.counters.sm;
  for (unsigned s = 0; s < stats::kStalls; ++s) {
    INFO("reason " << s);
    CHECK(sum.stalls[s] == (static_cast<Stall>(s) == Stall::kEmpty ? 0 : sm.stalls[s]));
  }
  CHECK(sum.stalls[0] == sm.warp_instructions);
  CHECK(sum.threads == sm.thread_instructions);
  CHECK(sum.l1_sectors == sm.l1.accesses);
  CHECK(sum.l2_sectors == sm.l1_load_sectors_sent + sm.l1_store_sectors_sent + sm.l1_atomic_sectors_sent);
  CHECK(sum.shared_wavefronts == sm.shared_wavefronts);
  CHECK(sum.constant_passes <= sm.const_passes);  // loads without addresses are not distinguished
}

/// So are the sums over sub-cores, none of which was busy longer than the kernel ran on all SMs.
void check_subcores(const stats::KernelResult& kernel, unsigned subcores) {
  REQUIRE(kernel.profile.subcores.size() == subcores);
  stats::StallCycles sum{};
  for (const stats::StallCycles& subcore : kernel.profile.subcores) {
    std::uint64_t cycles = 0;
    for (unsigned s = 0; s < stats::kStalls; ++s) sum[s] += subcore[s], cycles += subcore[s];
    CHECK(cycles <= kernel.cycles * kernel.subcores / subcores);
  }
  for (unsigned s = 0; s < stats::kStalls; ++s) {
    INFO("reason " << s);
    CHECK(sum[s] == (static_cast<Stall>(s) == Stall::kEmpty ? 0 : kernel.counters.sm.stalls[s]));
  }
}

/// Issues of each text of a kernel, counted in the trace alone.
std::map<std::string, std::uint64_t> issues_in_trace(const trace::TraceSet& set, std::uint32_t kernel) {
  std::map<std::string, std::uint64_t> issues;
  const auto feed = set.open(kernel);
  for (std::uint64_t i = 0; i < set.kernels()[kernel].grid.count(); ++i) {
    feed->decode_now(i + 1);
    trace::CtaTrace* cta = feed->take(i);
    for (const trace::WarpSpan& warp : cta->warps)
      for (std::uint32_t r = 0; r < warp.record_count; ++r)
        ++issues[std::string(feed->traced(cta->records[warp.first_record + r].inst()).text)];
    feed->release(cta);
  }
  return issues;
}

}  // namespace

TEST_CASE("the sums over instructions are the kernel's counters") {
  for (const char* model : {"v100", "h100_pcie"})
    for (const SmallTrace& small : small_traces()) {
      INFO(model << " " << small.name);
      const OpenTrace trace(small);
      const stats::RunReport report = gpu::simulate(*trace, profiled(model)).report;
      REQUIRE(report.has_profile());
      for (const stats::KernelResult& kernel : report.kernels) {
        REQUIRE(kernel.profile.instructions.size() == report.codes[kernel.code].instructions.size());
        check_sums(kernel);
        check_subcores(kernel, 4);
      }
    }
}

TEST_CASE("a CTA of one warp keeps one sub-core busy, a CTA of five warps one of them twice") {
  for (const unsigned warps : {1u, 2u, 5u}) {
    // Every warp of `ffma` issues as many instructions.
    const OpenTrace trace({"ffma", "ffma", {{"threads", std::to_string(32 * warps)}}});
    const stats::KernelResult kernel = gpu::simulate(*trace, profiled()).report.kernels.at(0);
    std::vector<std::uint64_t> issued;
    for (const stats::StallCycles& subcore : kernel.profile.subcores) issued.push_back(subcore[0]);
    std::sort(issued.begin(), issued.end());
    const std::uint64_t each = kernel.counters.sm.warp_instructions / warps;
    std::vector<std::uint64_t> expected(4);
    for (unsigned w = 0; w < warps; ++w) expected[3 - w % 4] += each;
    CHECK(issued == expected);
  }
}

TEST_CASE("instructions are issued as often as the trace has them") {
  const OpenTrace trace({"mixed", "mixed", {}});
  const stats::RunReport report = gpu::simulate(*trace, profiled()).report;
  for (const stats::KernelResult& kernel : report.kernels) {
    std::map<std::string, std::uint64_t> issues;
    for (std::size_t i = 0; i < kernel.profile.instructions.size(); ++i)
      issues[report.codes[kernel.code].instructions[i].text] += kernel.profile.instructions[i].stalls[0];
    CHECK(issues == issues_in_trace(*trace, static_cast<std::uint32_t>(kernel.id - 1)));
  }
}

TEST_CASE("a run that ends before its kernels has what they did until then") {
  const OpenTrace trace({"sgemm", "sgemm", {{"tiles-x", "2"}, {"tiles-y", "2"}}});
  gpu::RunOptions options = profiled();
  const stats::KernelResult whole = gpu::simulate(*trace, options).report.kernels.at(0);
  options.max_cycles = whole.start_cycle + whole.cycles / 2;
  const stats::RunReport report = gpu::simulate(*trace, options).report;
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].partial);
  CHECK(report.kernels[0].counters.sm.warp_instructions > 0);
  check_sums(report.kernels[0]);
}

TEST_CASE("a chain of loads waits at the instruction that uses the result") {
  // `random`: each load's address comes from the load before, through an instruction or two.
  const OpenTrace trace({"random", "random", {{"ctas", "4"}, {"loads", "8"}}});
  const stats::RunReport report = gpu::simulate(*trace, profiled()).report;
  const stats::KernelResult& kernel = report.kernels.at(0);
  const auto& instructions = report.codes[kernel.code].instructions;
  std::uint64_t at_loads = 0, long_scoreboard = 0;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const std::uint64_t cycles =
        kernel.profile.instructions[i].stalls[static_cast<unsigned>(Stall::kLongScoreboard)];
    long_scoreboard += cycles;
    // Nothing before the first load has a result of memory to wait for.
    const bool load = instructions[i].text.find("LDG") != std::string::npos;
    if (load) at_loads += kernel.profile.instructions[i].l1_sectors;
    if (at_loads == 0) CHECK(cycles == 0);
  }
  CHECK(long_scoreboard > 0);
  CHECK(at_loads == kernel.counters.sm.l1.sectors_read);
}

TEST_CASE("profiling changes no cycle, and the profile is the same for every way to run") {
  for (const SmallTrace& small : {small_traces()[1], small_traces()[4]}) {
    const OpenTrace trace(small);
    gpu::RunOptions options = profiled();
    options.config.gpu.sms = 4;
    options.threads = 1;
    const stats::RunReport first = gpu::simulate(*trace, options).report;
    const std::string expected = stats::profile_json(first);
    options.profile = false;
    const stats::RunReport plain = gpu::simulate(*trace, options).report;
    CHECK_FALSE(plain.has_profile());
    CHECK(stats::to_json(plain) == stats::to_json(first));
    options.profile = true;
    for (const unsigned threads : {1u, 3u})
      for (const Cycle window : {Cycle{1}, Cycle{0}})
        for (const bool skip : {true, false}) {
          INFO(small.name << ", threads " << threads << ", window " << window << ", skip " << skip);
          options.threads = threads;
          options.window = window;
          options.skip = skip;
          if (threads > 1) options.shuffle = 42;
          CHECK(stats::profile_json(gpu::simulate(*trace, options).report) == expected);
        }
  }
}

TEST_CASE("launches of the same code share it") {
  const OpenTrace trace({"chain", "cache_read", {{"ctas", "2"}, {"footprint", "16384"}}});
  const stats::RunReport report = gpu::simulate(*trace, profiled()).report;
  REQUIRE(report.kernels.size() > 1);
  for (std::size_t a = 0; a < report.codes.size(); ++a)
    for (std::size_t b = a + 1; b < report.codes.size(); ++b)
      CHECK_FALSE((report.codes[a].kernel == report.codes[b].kernel &&
                   report.codes[a].instructions == report.codes[b].instructions));
  for (const stats::KernelResult& kernel : report.kernels)
    CHECK(report.codes[kernel.code].kernel == kernel.name);
}

TEST_CASE("units are taken for as long as their instructions say") {
  // 2 CTAs of one warp, each 2 passes of 256 dependent FFMA: V100's FP32 unit has 16 lanes, so each takes it
  // for 2 cycles.
  const OpenTrace trace({"pipe", "pipe", {{"op", "FFMA"}, {"ctas", "2"}}});
  const stats::RunReport report = gpu::simulate(*trace, profiled()).report;
  const auto& pipes = report.kernels.at(0).counters.sm.pipes;
  std::uint64_t fma = 0;
  const auto& code = report.codes.at(0).instructions;
  for (std::size_t i = 0; i < code.size(); ++i)
    if (code[i].text.find("FFMA") != std::string::npos || code[i].text.find("IMAD") != std::string::npos)
      fma += 2 * report.kernels[0].profile.instructions[i].stalls[0];
  CHECK(fma >= 2u * 2 * 256 * 2);
  CHECK(pipes[static_cast<unsigned>(stats::Pipe::kFma)] == fma);
  CHECK(pipes[static_cast<unsigned>(stats::Pipe::kTensor)] == 0);
}

}  // namespace lockstep::test
