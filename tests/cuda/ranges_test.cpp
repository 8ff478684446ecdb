// --profile-from-start off: what a program does outside of its ranges (cudaProfilerStart() to
// cudaProfilerStop()) is executed, but neither recorded nor simulated.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "tests/cli/program.hpp"
#include "trace/kernel_trace.hpp"

using namespace lockstep;
using namespace lockstep::cli;
using Kind = trace::Command::Kind;

namespace {

const std::string kRangesPtx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/program/ranges.ptx";

/// `what`: "all", or "ranges", a program that has only what is in the ranges.
Finished run_ranges(const std::string& which, const std::string& what, std::vector<std::string> options,
                    const std::string& command = "exec") {
  options.insert(options.begin(), command);
  for (const std::string& word :
       {std::string("--"), std::string(LOCKSTEP_RANGES_PROGRAM), kRangesPtx, which, what})
    options.push_back(word);
  return run(std::move(options));
}

struct Simulated {
  nlohmann::json stats;
  Finished program;
};

/// Of all the program's work only the ranges.
Simulated simulated_ranges(const std::string& which, const std::string& what = "all") {
  const Folder folder;
  Simulated simulated;
  simulated.program = run_ranges(which, what, {"-q", "--profile-from-start", "off", "-o", folder / "out"});
  INFO(simulated.program.err);
  REQUIRE(simulated.program.code == 0);
  CHECK(simulated.program.err.empty());
  simulated.stats = nlohmann::json::parse(slurp(folder / "out/stats.json"));
  return simulated;
}

/// A program that does nothing else, profiled from its start.
Simulated simulated_alone(const std::string& which) {
  const Folder folder;
  Simulated simulated;
  simulated.program = run_ranges(which, "ranges", {"-q", "-o", folder / "out"});
  REQUIRE(simulated.program.code == 0);
  simulated.stats = nlohmann::json::parse(slurp(folder / "out/stats.json"));
  return simulated;
}

/// A line of standard output, from 0.
std::string line_of(const Finished& done, unsigned number) {
  std::size_t begin = 0;
  while (number-- > 0) begin = done.out.find('\n', begin) + 1;
  return done.out.substr(begin, done.out.find('\n', begin) - begin);
}

/// Start and end of a kernel, in cycles; kernels are counted from 0 in the order of their launches.
std::pair<double, double> span_of(const Simulated& s, unsigned number) {
  for (const auto& kernel : s.stats.at("kernels")) {
    const double start = kernel.at("start_cycle");
    if (kernel.at("id") == number + 1) return {start, start + kernel.at("cycles").get<double>()};
  }
  return {-1, -1};
}

}  // namespace

TEST_CASE(
    "ranges: kernels and copies, their cycles and the events' times are those of the ranges' work alone",
    "[long]") {
  const Simulated all = simulated_ranges("adds"), alone = simulated_alone("adds");
  CHECK(line_of(all.program, 0) == "8192");  // elements of two results, 4096 each
  CHECK(all.stats.at("kernels").size() == 3);
  CHECK(all.stats.at("kernels") == alone.stats.at("kernels"));
  CHECK(all.stats.at("copies") == alone.stats.at("copies"));
  CHECK(all.stats.at("total") == alone.stats.at("total"));
  // Outside no time passes: from before the range to behind it is what it takes.
  CHECK(line_of(all.program, 1) == line_of(alone.program, 0));
}

TEST_CASE("ranges: a trace has their commands only, and what is simulated of it is what a live run gives",
          "[long]") {
  const Folder folder;
  const std::vector<std::string> off = {"-q", "--profile-from-start", "off"};
  auto options = off;
  options.insert(options.begin(), folder / "kept.lst");
  const Finished recorded = run_ranges("adds", "all", options, "record");
  CHECK(recorded.code == 0);
  CHECK(recorded.err.empty());
  CHECK(line_of(recorded, 0) == "8192");
  std::map<Kind, int> counts;
  const auto kept = trace::open_trace(folder / "kept.lst");
  for (const trace::Command& command : kept->commands()) ++counts[command.kind];
  CHECK(kept->kernels().size() == 3);
  CHECK(counts[Kind::kKernel] == 3);
  CHECK(counts[Kind::kFill] == 1);
  CHECK(counts[Kind::kStreamCopyToHost] == 1);
  CHECK(counts[Kind::kStreamCopyToDevice] == 0);
  CHECK(run({"run", folder / "kept.lst", "-q", "-o", folder / "again"}).code == 0);
  const auto again = nlohmann::json::parse(slurp(folder / "again/stats.json"));
  CHECK(again.at("kernels") == simulated_ranges("adds").stats.at("kernels"));
}

TEST_CASE("ranges: the same bytes for every number of threads and window", "[matrix][long]") {
  for (const std::string which : {"adds", "managed", "waiting", "graphs", "order"}) {
    INFO(which);
    const Folder folder;
    const auto timed = [&](const std::string& out, std::vector<std::string> options) {
      options.insert(options.end(), {"-q", "--profile-from-start", "off", "-o", folder / out});
      return run_ranges(which, "all", std::move(options));
    };
    const Finished one = timed("one", {"--threads", "1"});
    CHECK(one.code == 0);
    CHECK(timed("two", {"--threads", "2", "--window", "7", "--shuffle", "3"}).out == one.out);
    CHECK(slurp(folder / "two/stats.json") == slurp(folder / "one/stats.json"));
  }
}

TEST_CASE("ranges: work outside keeps the order of the ranges' work", "[long]") {
  const Simulated all = simulated_ranges("order"), alone = simulated_ranges("order", "ranges");
  for (const Simulated* s : {&all, &alone}) {
    REQUIRE(s->stats.at("kernels").size() == 4);
    CHECK(s->program.out == "0\n");
  }
  // Its stream waits for an event that was recorded outside, behind the first range's kernel.
  CHECK(span_of(all, 1).first >= span_of(all, 0).second);
  CHECK(span_of(alone, 1).first < span_of(alone, 0).second);
  // A kernel of the default stream was between them.
  CHECK(span_of(all, 3).first >= span_of(all, 2).second);
  CHECK(span_of(alone, 3).first < span_of(alone, 2).second);
}

TEST_CASE("ranges: managed memory is where the ranges' kernels and the host in ranges have put it",
          "[long]") {
  const Simulated all = simulated_ranges("managed"), alone = simulated_alone("managed");
  CHECK(all.program.out == "2\n7 12\n");
  CHECK(all.stats.at("kernels").size() == 3);
  // The kernel, the host's accesses and the prefetch outside move no page.
  CHECK(all.stats.at("managed").at("faults").get<int>() > 0);
  CHECK(all.stats.at("managed") == alone.stats.at("managed"));
  CHECK(all.stats.at("kernels") == alone.stats.at("kernels"));
}

TEST_CASE("ranges: a kernel that waits for the host counts where it was launched", "[long]") {
  const Simulated all = simulated_ranges("waiting");
  CHECK(all.program.out == "6\n1\n");
  REQUIRE(all.stats.at("kernels").size() == 1);
  CHECK(all.stats.at("kernels").at(0).at("name") == "await");
  CHECK(all.stats.at("kernels").at(0).at("block") == nlohmann::json({32, 1, 1}));
}

TEST_CASE("ranges: a graph counts where it is launched", "[long]") {
  const Simulated all = simulated_ranges("graphs"), alone = simulated_alone("graphs");
  CHECK(all.program.out == "15\n");  // three launches
  CHECK(all.stats.at("kernels").size() == 2);
  CHECK(all.stats.at("kernels") == alone.stats.at("kernels"));
}

TEST_CASE("ranges: where none has a kernel, exec and record end with one error that says why, and no file") {
  struct Row {
    const char *which, *why;
  };
  for (const Row& row :
       {Row{"none", "has not called cudaProfilerStart() or cuProfilerStart(): it entered no range"},
        Row{"empty", "launched no kernel between cudaProfilerStart() and cudaProfilerStop()"}}) {
    const Folder folder;
    const auto check = [&](const std::string& command, std::vector<std::string> options) {
      INFO(command << " " << row.which);
      options.insert(options.end(), {"-q", "--profile-from-start", "off"});
      const Finished done = run_ranges(row.which, "all", std::move(options), command);
      CHECK(done.code == 2);
      CHECK(done.out == "9\n");
      CHECK_THAT(done.err,
                 Catch::StartsWith("lockstep: error: " + command + ": --profile-from-start off: the "));
      CHECK_THAT(done.err, Catch::Contains(row.why) && Catch::Contains("expected a kernel in"));
      CHECK(count_lines(done.err) == 1);
    };
    check("exec", {"-o", folder / "out"});
    CHECK_FALSE(std::filesystem::exists(folder / "out/config.ini"));
    check("exec", {"--record", folder / "kept.lst"});
    check("exec", {"--functional", "--record", folder / "kept.lst"});
    check("exec", {"--managed", "all"});  // simulated after the program's end
    check("record", {folder / "kept.lst"});
    CHECK_FALSE(std::filesystem::exists(folder / "kept.lst"));
  }
}

TEST_CASE(
    "a program without kernels is an error where a trace is wanted, and leaves an older one as it was") {
  const Folder folder;
  spill(folder / "kept.lst", "an older file");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"exec", "-q", "--record", folder / "kept.lst"},
        {"exec", "-q", "--managed", "all", "--record", folder / "kept.lst"},
        {"record", "-q", folder / "kept.lst"}}) {
    auto words = command;
    words.insert(words.end(), {"--", "/bin/echo", "hello"});
    const Finished done = run(words);
    INFO(done.err);
    CHECK(done.code == 2);
    CHECK(done.out == "hello\n");
    CHECK_THAT(done.err,
               Catch::StartsWith("lockstep: error: " + command[0] + ": the program launched no kernel"));
    CHECK_THAT(done.err, Catch::Contains("expected at least one") && Catch::Contains("--functional"));
    CHECK(slurp(folder / "kept.lst") == "an older file");
  }
  CHECK(run({"exec", "--functional", "--", "/bin/echo", "hello"}).code == 0);
  for (const std::string managed : {"none", "all"}) {  // simulated while it runs, and after its end
    const Finished done = run({"exec", "-q", "--managed", managed, "--", "/bin/echo", "hello"});
    CHECK(done.code == 0);
    CHECK(done.out == "hello\n");
    CHECK(done.err == "lockstep: the program launched no kernel, so nothing was simulated\n");
  }
  CHECK(run({"record", folder / "new.lst", "--", "/bin/sh", "-c", "exit 7"}).code == 7);
  CHECK(run({"exec", "--", "/bin/sh", "-c", "exit 7"}).code == 7);
}

TEST_CASE("ranges: from the start on, the calls change nothing", "[long]") {
  const Folder folder;
  for (const std::string out : {"plain", "on"}) {
    std::vector<std::string> options = {"-q", "-o", folder / out};
    if (out == "on") options.insert(options.end(), {"--profile-from-start", "on"});
    CHECK(run_ranges("adds", "all", options).code == 0);
  }
  CHECK(slurp(folder / "on/stats.json") == slurp(folder / "plain/stats.json"));
  CHECK(nlohmann::json::parse(slurp(folder / "on/stats.json")).at("kernels").size() == 7);
}
