// What the hosts of MPI programs compute, as long as was measured.
#include "support.hpp"
#include "trace/compact_directory.hpp"
#include "trace/compact_file.hpp"

namespace lockstep::test {
namespace {

using trace::Command;
using Task = trace::HostTask::Kind;

constexpr std::uint64_t kUs = 1'000'000;  // ps

/// The processes' computation: times in ps, each the whole of a process's CUDA trace up to a position.
messages::JoinedTrace join(const Calls& calls, const std::vector<std::vector<std::uint64_t>>& times) {
  const TemporaryFolder folder;
  std::vector<messages::ProcessFiles> files = calls.write(folder.path());
  for (std::size_t p = 0; p < files.size(); ++p) {
    if (times[p].empty()) continue;
    std::vector<Command> commands;
    for (const std::uint64_t ps : times[p]) {
      Command& command = commands.emplace_back(Command{Command::Kind::kHostTask});
      command.task.kind = Task::kElapse;
      command.task.bytes = ps;
    }
    files[p].trace = (folder.path() / (std::to_string(p) + ".lst")).string();
    trace::CompactFile(files[p].trace, 3).finish("process", p, commands);
  }
  return {files, {}, "program"};
}

gpu::RunResult run(const messages::JoinedTrace& trace, unsigned threads = 1) {
  gpu::RunOptions options;
  options.system = nodes(2, "inter_kernel");
  options.config = options.system->devices.front();
  options.threads = threads;
  return gpu::simulate(trace, options);
}

/// Two barriers, the second one behind what both have computed by then.
Calls barriers(unsigned position) {
  Calls calls(2);
  for (const unsigned p : {0u, 1u})
    calls.line(p, "K 0 MPI_Barrier 0 0 0 0 0")
        .line(p, "K " + std::to_string(position) + " MPI_Barrier 0 0 0 0 0");
  return calls;
}

}  // namespace

TEST_CASE("What the host computes takes as long as it says, and a barrier waits for the longest") {
  const gpu::RunResult none = run(join(barriers(0), {{}, {}}));
  // Each task is handed to the agent, which reports its end.
  const double handed = 2 * nodes(2, "inter_kernel").devices.front().host.command_latency_ps / 1000.0;
  const auto more = [&](const std::vector<std::vector<std::uint64_t>>& times) {
    const gpu::RunResult result = run(join(barriers(9), times));
    CHECK(network(result).processes[0].tasks[0].total_ps - network(none).processes[0].tasks[0].total_ps ==
          Approx(times[0].empty() ? 0 : 20 * kUs).margin(2000));
    CHECK(network(result).processes[0].bytes_sent == network(none).processes[0].bytes_sent);
    return time_of(result) - time_of(none);
  };
  CHECK(more({{20 * kUs}, {}}) == Approx(20'000 + handed).margin(1));  // ns, and a cycle
  CHECK(more({{20 * kUs}, {5 * kUs}}) == Approx(20'000 + handed).margin(1));
  CHECK(more({{20 * kUs}, {15 * kUs, 11 * kUs}}) == Approx(26'000 + 2 * handed).margin(2));
  CHECK(more({{}, {7 * kUs}}) == Approx(7'000 + handed).margin(1));
  const messages::JoinedTrace trace = join(barriers(9), {{20 * kUs}, {15 * kUs, 11 * kUs}});
  CHECK(stats::network_json(network(run(trace, 2))) == stats::network_json(network(run(trace))));
}

TEST_CASE("A message that is acknowledged while its sender computes last is complete in the end") {
  Calls calls(2);
  calls.send(0, 1, 8).receive(1, 0);
  const gpu::RunResult result = run(join(calls, {{20 * kUs}, {}}));
  CHECK(result.outcome == gpu::Outcome::kDone);
  CHECK(network(result).processes[0].messages.count == 1);
}

TEST_CASE("Times of computation change the lower half of a recording's hash alone") {
  const auto hash = [](const std::vector<std::vector<std::uint64_t>>& times, unsigned position) {
    return join(barriers(position), times).content_hash();
  };
  const std::uint64_t one = hash({{20 * kUs}, {}}, 9), other = hash({{21 * kUs}, {}}, 9);
  CHECK(one != other);
  CHECK(one >> 32 == other >> 32);
  Calls fewer(2);
  fewer.collective("MPI_Barrier", 0, {});
  CHECK(join(fewer, {{20 * kUs}, {}}).content_hash() >> 32 != one >> 32);
}

TEST_CASE("Times of computation in a compact trace are read as they were written, and have a limit") {
  const auto joined = [](std::uint64_t ps) { return join(barriers(9), {{ps}, {}}); };
  trace::CompactDirectory directory;
  directory.commands = joined(20 * kUs).commands();
  CHECK(trace::version_of(directory) == trace::kElapseVersion);
  trace::Bytes bytes, again;
  trace::encode_directory(directory, bytes);
  trace::encode_directory(trace::decode_directory(bytes, trace::kElapseVersion), again);
  CHECK(again == bytes);
  CHECK_THROWS_WITH(run(joined(trace::kMaxElapsedPs + 1)), Catch::Matchers::Contains("ps; expected at most"));
}

}  // namespace lockstep::test
