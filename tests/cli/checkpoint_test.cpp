// --checkpoint and --resume on the real program: kills, signals, files that do not fit.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "tests/cli/support.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

constexpr int kCheckpointed = 75;

const TinyTrace kShort{.kernels = 6, .ctas = 4, .warps = 2, .body = 20};

std::vector<std::string> checkpoints_in(const std::string& folder) {
  std::vector<std::string> names;
  if (!fs::exists(folder)) return names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void wait_until(const std::function<bool()>& there) {
  for (int i = 0; i < 30000 && !there(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(there());
}

/// A trace, the statistics of its whole run, and a run of it that keeps its state after every kernel.
struct CheckpointBench {
  Folder folder;
  std::string expected;

  explicit CheckpointBench(const TinyTrace& trace = kShort) {
    write_trace(folder / "t", trace);
    REQUIRE(run({"run", folder / "t", "-q", "-o", folder / "whole"}).code == 0);
    expected = slurp(folder / "whole/stats.json");
  }
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"run", folder / "t", "-o", folder / "out"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  [[nodiscard]] std::vector<std::string> keeping(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = command({"--checkpoint", folder / "c,every=0s"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// Stops a run with a signal that asks for a checkpoint, so that there is one.
  void stop_with(int signal) const {
    Program program({.arguments = keeping()});
    wait_until([&] { return !checkpoints_in(folder / "c").empty(); });
    program.send(signal);
    const Finished stopped = program.wait();
    CAPTURE(stopped.err);
    REQUIRE(stopped.code == kCheckpointed);
    CHECK_THAT(stopped.err, Contains("--resume " + (folder / "c") + " continues"));
    CHECK_THAT(slurp(folder / "out/stats.json"), Contains("\"partial\":true"));
  }
  [[nodiscard]] std::string newest() const { return folder / ("c/" + checkpoints_in(folder / "c").back()); }
};

void flip(const std::string& file, std::size_t at) {
  std::string bytes = slurp(file);
  bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
  spill(file, bytes);
}

}  // namespace

TEST_CASE("a run that was killed goes on to the same bytes", "[long]") {
  const CheckpointBench bench(kLong);
  for (const char* threads : {"1", "2"}) {
    Program program({.arguments = bench.keeping(
                         checkpoints_in(bench.folder / "c").empty()
                             ? std::vector<std::string>{}
                             : std::vector<std::string>{"--resume", bench.folder / "c", "-t", threads})});
    const auto before = checkpoints_in(bench.folder / "c");
    wait_until([&] { return checkpoints_in(bench.folder / "c") != before; });
    program.send(SIGKILL);
    REQUIRE(program.wait().code == 128 + SIGKILL);
  }
  const auto left = checkpoints_in(bench.folder / "c");
  CHECK(left.size() <= 3);  // two, and one more where the kill came before the oldest was removed
  const Finished resumed = run(bench.keeping({"--resume", bench.folder / "c", "-t", "2"}));
  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK_THAT(resumed.err, Contains("continues after") && Contains(left.back()));
  CHECK(slurp(bench.folder / "out/stats.json") == bench.expected);
  CHECK(checkpoints_in(bench.folder / "c").empty());  // the run is complete
}

TEST_CASE("signals of batch systems end a run after a kernel, with a checkpoint") {
  const CheckpointBench bench(kLong);
  const int signal = GENERATE(SIGUSR1, SIGTERM);
  bench.stop_with(signal);
  CHECK(checkpoints_in(bench.folder / "c").size() <= 2);
  REQUIRE(run(bench.command({"--resume", bench.folder / "c"})).code == 0);  // and keeps no more
  CHECK(slurp(bench.folder / "out/stats.json") == bench.expected);
}

TEST_CASE("Ctrl-C ends a run at once, whatever is kept") {
  const CheckpointBench bench(kLong);
  Program program({.arguments = bench.keeping()});
  wait_until([&] { return !checkpoints_in(bench.folder / "c").empty(); });
  program.send(SIGINT);
  CHECK(program.wait().code == 130);
}

TEST_CASE("a checkpoint that is not whole, or not of this run, is refused by name", "[long]") {
  const CheckpointBench bench(kLong);
  bench.stop_with(SIGUSR1);
  const std::string file = bench.newest(), whole = slurp(file);
  const auto refused = [&](const std::vector<std::string>& more, const std::string& why) {
    const Finished result = run(bench.command(more));
    CAPTURE(more, result.err);
    CHECK(result.code == 2);
    CHECK(count_lines(result.err) == 1);
    CHECK_THAT(result.err, Contains(file) && Contains(why));
  };
  const std::vector<std::string> resume = {"--resume", bench.folder / "c"};
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{25}, std::size_t{100},
                                 whole.size() / 2, whole.size() - 1}) {
    spill(file, whole.substr(0, size));
    refused(resume, size < 20 ? "is not a checkpoint" : "expected a whole checkpoint");
  }
  for (const std::size_t at : {std::size_t{30}, std::size_t{60}, whole.size() / 2, whole.size() - 4}) {
    spill(file, whole);
    flip(file, at);
    refused(resume, "damaged");
  }
  spill(file, whole);
  flip(file, 20);
  refused(resume, "of format");
  spill(file, whole);
  refused({"--resume", file, "-c", "a100"}, "another configuration");
  refused({"--resume", file, "--set", "l1.ways=8"}, "another configuration");
  refused({"--resume", file, "--max-cycles", "1000000"}, "another choice of options");
  refused({"--resume", file, "--kernels", "1-3"}, "another choice of options");
  write_trace(bench.folder / "t", kShort);
  refused({"--resume", file}, "another trace");
}

TEST_CASE("checkpoints of one run are not mixed with another's", "[long]") {
  const CheckpointBench bench(kLong);
  bench.stop_with(SIGUSR1);
  const Finished anew = run(bench.keeping());
  CHECK(anew.code == 2);
  CHECK_THAT(anew.err, Contains("has checkpoints already") && Contains("--resume"));
  const auto names = checkpoints_in(bench.folder / "c");
  if (names.size() < 2) return;  // stopped after the first kernel
  const Finished older = run(bench.keeping({"--resume", bench.folder / ("c/" + names.front())}));
  CHECK(older.code == 2);
  CHECK_THAT(older.err, Contains(names.back()) && Contains("expected the same"));
}

TEST_CASE("what cannot be kept is refused, with what can") {
  const CheckpointBench bench;
  const auto refused = [](const std::vector<std::string>& words, const std::string& why) {
    const Finished result = run(words);
    CAPTURE(words, result.err);
    CHECK(result.code == 2);
    CHECK_THAT(result.err, Contains(why));
  };
  refused({"exec", "--checkpoint", "c", "--", "/bin/true"}, "lockstep record");
  refused({"exec", "--resume", "c", "--", "/bin/true"}, "lockstep record");
  refused(bench.command({"--checkpoint", "c", "--sample", "error=2%"}), "--sample");
  refused(bench.command({"--checkpoint", "c,every=soon"}), "90s, 10min or 2h");
  refused(bench.command({"--checkpoint", "c,every=-1s"}), "--checkpoint every");
  refused(bench.command({"--checkpoint", ",every=1s"}), "name is empty");
  refused(bench.command({"--resume", bench.folder / "none"}), "is not there");
  fs::create_directory(bench.folder / "empty");
  refused(bench.command({"--resume", bench.folder / "empty"}), "has no checkpoint");
}

TEST_CASE("a folder that takes no checkpoints is refused before the run") {
  const CheckpointBench bench;
  spill(bench.folder / "c", "a file");
  const Finished result = run(bench.keeping());
  CHECK(result.code == 2);
  CHECK_THAT(result.err, Contains(bench.folder / "c"));
  CHECK_FALSE(fs::exists(bench.folder / "out/stats.json"));
}

TEST_CASE("a checkpoint that cannot be written is warned of once, and the run goes on") {
  const CheckpointBench bench;
  Launch launch{.arguments = {"run", bench.folder / "t", "-q", "--checkpoint", bench.folder / "c,every=0s"}};
  launch.file_limit = 2000;  // less than a checkpoint
  const Finished result = run(launch);
  CAPTURE(result.err);
  CHECK(result.code == 0);
  CHECK(count_lines(result.err) == 1);
  CHECK_THAT(result.err, Contains("warning") && Contains("the run continues"));
  CHECK(checkpoints_in(bench.folder / "c").empty());
}

}  // namespace lockstep::cli
