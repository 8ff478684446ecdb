// States of a run between kernels, on one device. Of managed memory and of several devices: with the tests of
// these (managed_test, sharing_test, system_test).
#include <catch2/catch.hpp>
#include <fstream>

#include "managed_support.hpp"
#include "resume_support.hpp"
#include "util/archive.hpp"

namespace lockstep::test {
namespace {

/// The bundled traces as one program, several times over, with its copies.
class Program {
 public:
  explicit Program(unsigned rounds) {
    const auto path = folder_.path();
    std::string round;
    unsigned kernels = 0;
    for (const SmallTrace& small : small_traces()) {
      synth::synthesize(small.kind, small.values, (path / small.name).string());
      std::ifstream list(path / small.name / "kernelslist.g");
      for (std::string line; std::getline(list, line);) {
        if (line.ends_with(".traceg")) {
          const std::string own = "kernel-" + std::to_string(++kernels) + ".traceg";
          std::filesystem::copy_file(path / small.name / line, path / own);
          line = own;
        }
        round += line + "\n";
      }
    }
    std::ofstream list(path / "kernelslist.g");
    for (unsigned i = 0; i < rounds; ++i) list << round << "MemcpyDtoH,0x7f8000000000,65536\n";
    list.close();
    trace_ = trace::open_trace(path.string());
  }
  [[nodiscard]] const trace::TraceSet& operator*() const { return *trace_; }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<trace::TraceSet> trace_;
};

TEST_CASE("A run goes on from its state between any two kernels") {
  const Program program(2);
  gpu::RunOptions options;
  const char* const model = GENERATE("v100", "a100", "h100_pcie", "gtx1080ti");
  INFO(model);
  options.config = small_gpu(model);
  check_resume(*program, options, 10, 5, true);
}

TEST_CASE("Series and profiles go on, too") {
  const Program program(1);
  gpu::RunOptions options;
  options.config = small_gpu("v100");
  options.interval = 1000;
  options.profile = options.timeline = true;
  check_resume(*program, options, 4);
}

/// The program's commands, with copies and fills of other streams that take longer than its kernels before
/// each.
std::vector<trace::Command> with_work_beside(const trace::TraceSet& trace) {
  using Kind = trace::Command::Kind;
  std::vector<trace::Command> commands;
  constexpr std::uint64_t kQuiet = 99;  // a stream in which nothing else is
  std::uint64_t stream = 100;
  std::uint32_t events = 0;
  for (const trace::Command& own : trace.commands()) {
    if (own.kind == Kind::kKernel) {
      for (const Kind kind :
           {Kind::kStreamCopyToDevice, Kind::kFill, Kind::kDeviceCopy, Kind::kStreamCopyToHost}) {
        trace::Command& beside = commands.emplace_back();
        beside.kind = kind;
        beside.address = kBase + (stream << 24);
        beside.bytes = 2'000'000;
        beside.stream = ++stream;
      }
      // The kernel waits for an event that is complete when the state is taken, or for one that is not.
      commands.push_back({.kind = Kind::kEventRecord, .stream = events % 2 == 0 ? kQuiet : stream});
      commands.push_back({.kind = Kind::kStreamWait, .event = events++});
    }
    commands.push_back(own);
  }
  return commands;
}

TEST_CASE("What is under way beside the kernels goes on, too", "[matrix]") {
  const Program program(1);
  const auto commands = with_work_beside(*program);
  gpu::RunOptions options;
  options.config = small_gpu(GENERATE("a100", "v100"));
  options.config.host.copy_mode = config::CopyMode::kOverlapped;
  options.config.launch.latency_ns = 300;  // kernels follow before all is quiet
  options.config.sm.scheduler = config::SchedulerPolicy::kLrr;
  check_resume(WithCommands(*program, commands, {}), options, 4, 2);
}

TEST_CASE("A state of other parts is refused") {
  const Program program(1);
  gpu::RunOptions options;
  options.config = small_gpu("v100");
  std::string state;
  options.checkpoint.decide = [](std::uint64_t kernels) {
    return kernels > 0 ? gpu::CheckpointOptions::Decision::kKeep : gpu::CheckpointOptions::Decision::kNone;
  };
  options.checkpoint.keep = [&](std::string_view bytes, std::uint64_t) {
    state = bytes;
    return true;  // the run ends
  };
  CHECK(gpu::simulate(*program, options).outcome == gpu::Outcome::kInterrupted);
  REQUIRE_FALSE(state.empty());
  options.checkpoint = {};
  options.checkpoint.resume = std::string_view(state).substr(0, state.size() - 1);
  CHECK_THROWS_AS(gpu::simulate(*program, options), ArchiveError);
  const std::string longer = state + "x";
  options.checkpoint.resume = longer;
  CHECK_THROWS_AS(gpu::simulate(*program, options), ArchiveError);
}

}  // namespace
}  // namespace lockstep::test
