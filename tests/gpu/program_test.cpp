// Programs that are simulated while they run, here told command by command from a trace.
#include "gpu/program.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "managed_support.hpp"

namespace lockstep::test {
namespace {

/// Says the commands of a trace one at a time, each once.
class Player final : public gpu::Program {
 public:
  explicit Player(const trace::TraceSet& trace) : trace_(&trace) {}
  [[nodiscard]] News listen(const gpu::HostClock&) override {
    News news;
    if (said_ < trace_->commands().size()) news.commands.push_back(trace_->commands()[said_]);
    ++said_;
    news.ended = said_ >= trace_->commands().size();
    return news;
  }
  [[nodiscard]] const trace::TraceSet& trace() const override { return *trace_; }
  [[nodiscard]] const trace::KernelHeader& header(std::uint32_t kernel) const override {
    return trace_->kernels()[kernel];
  }
  [[nodiscard]] bool asks_clocks(std::uint32_t) const override { return false; }
  [[nodiscard]] std::size_t said() const { return said_; }

 private:
  const trace::TraceSet* trace_;
  std::size_t said_ = 0;
};

trace::Command command(CommandKind kind, Address address = 0, std::uint64_t bytes = 0) {
  trace::Command c;
  c.kind = kind;
  c.address = address;
  c.bytes = bytes;
  return c;
}

constexpr Address kOther = 0x7fa000000000;

/// A copy and a kernel; before them, or behind them, a managed allocation that the host reads and the device
/// gets.
WithCommands with_managed(const trace::TraceSet& trace, bool first) {
  const std::vector<trace::Command> managed = {
      command(CommandKind::kManage, kOther, 1 << 20), command(CommandKind::kHostAccess, kOther, 1 << 16),
      command(CommandKind::kPrefetch, kOther, 1 << 18), command(CommandKind::kWait)};
  if (first) return WithCommands(trace, managed);
  std::vector<trace::Command> later = {command(CommandKind::kWait)};
  later.insert(later.end(), managed.begin(), managed.end());
  later.push_back(command(CommandKind::kKernel));
  return WithCommands(trace, {}, later);
}

}  // namespace

TEST_CASE("a machine without managed memory receives each command once and gives what the trace gives") {
  const LoadChain chain({kBase, kBase + 0x4000});
  const gpu::RunOptions options = gpu::RunOptions{};
  Player player(*chain);
  const gpu::RunResult result = gpu::simulate(player, options);
  CHECK(player.said() == 2);
  CHECK_FALSE(result.report.managed);
  CHECK(stats::to_json(result.report) == stats::to_json(gpu::simulate(*chain, options).report));
}

TEST_CASE("the first managed allocation, however late, restarts the run; the program runs once") {
  const LoadChain chain({kBase, kBase + 0x4000});
  for (const bool first : {true, false}) {
    const WithCommands trace = with_managed(*chain, first);
    for (const unsigned threads : {1u, 3u}) {
      gpu::RunOptions options = gpu::RunOptions{};
      options.threads = threads;
      Player player(trace);
      const gpu::RunResult result = gpu::simulate(player, options);
      CHECK(player.said() == trace.commands().size());
      CHECK(result.outcome == gpu::Outcome::kDone);
      CHECK(result.report.kernels.size() == (first ? 1 : 2));
      CHECK(result.report.copies.size() == 1);
      REQUIRE(result.report.managed);
      CHECK(result.report.managed->allocations == 1);
      CHECK(result.report.managed->footprint_bytes == 1 << 20);
      CHECK(stats::to_json(result.report) == stats::to_json(gpu::simulate(trace, options).report));
    }
  }
}

}  // namespace lockstep::test
