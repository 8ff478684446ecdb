// What is not exported, and the command.
#include <filesystem>
#include <regex>

#include "support.hpp"
#include "tests/cli/program.hpp"
#include "tests/gpu/managed_support.hpp"
#include "util/error.hpp"

namespace lockstep::test {
namespace {

using Catch::Contains;

const std::string kList = "MemcpyHtoD,0x7f8000000000,65536\nkernel-1.traceg\nkernel-1.traceg\n";

std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.substr(0, at) + by + text.substr(at + what.size());
}

/// The command with a changed stats.json: refused in one line, and nothing is written.
void check_refused(const Simulated& run, const std::string& trace, const std::string& stats,
                   const char* why) {
  CAPTURE(why);
  const std::string right = run.get("stats.json");
  run.put("stats.json", stats);
  const cli::Folder out;
  const cli::Finished refused = cli::run({"export", "chakra", trace, run.folder(), "-o", out / "x"});
  run.put("stats.json", right);
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains(why));
  CHECK(cli::count_lines(refused.err) == 1);
  CHECK(std::filesystem::is_empty(out.path()));
}

/// A trace on the disk.
std::string written(const cli::Folder& folder, const std::string& list) {
  const std::string path = folder / "t";
  synth::synthesize("streaming", {{"ctas", "8"}}, path);
  cli::spill(path + "/kernelslist.g", list);
  return path;
}

}  // namespace

TEST_CASE("The command writes a file, or one for each rank") {
  const cli::Folder folder;
  const std::string path = written(folder, kList);
  const auto trace = trace::open_trace(path);
  const Simulated run(*trace, one_gpu());
  const cli::Finished goal = cli::run({"export", "goal", path, run.folder(), "-o", folder / "a.goal"});
  CHECK((goal.code == 0 && goal.err.empty()));
  CHECK_THAT(goal.out, Contains("a.goal: 1 ranks, 3 computations, 0 messages"));
  CHECK(cli::slurp(folder / "a.goal") == run.goal());
  CHECK(cli::run({"export", "chakra", path, run.folder(), "-o", folder / "b"}).code == 0);
  CHECK(cli::slurp(folder / "b.0.et") == exporter::write_chakra(run.graph(), "x")[0].content);
  CHECK_THAT(cli::run({"export", "gaol", path, run.folder(), "-o", "x"}).err,
             Contains("did you mean 'goal'?"));
  CHECK_THAT(cli::run({"export", "goal", path, run.folder()}).err, Contains("-o WHERE is missing"));
  CHECK(cli::run({"export", "goal", path, folder / "nothing", "-o", folder / "c"}).code == 2);
  CHECK_FALSE(std::filesystem::exists(folder / "c"));
}

TEST_CASE("Results that are not of the recording are refused") {
  const cli::Folder folder;
  const std::string path = written(folder, kList);
  const auto trace = trace::open_trace(path);
  const Simulated run(*trace, one_gpu());
  const std::string stats = run.get("stats.json");
  check_refused(run, path, replaced(stats, "\"hash\":\"", "\"hash\":\"1"), "results of another trace");
  check_refused(run, path,
                replaced(stats, "\"partial\":false,\"partial_reason\":\"\"",
                         "\"partial\":true,\"partial_reason\":\"interrupted\""),
                "the results are partial (interrupted)");
  check_refused(run, path, std::regex_replace(stats, std::regex("\"id\":1,"), "\"id\":2,"),
                "lacks a launch of kernel 1");
  check_refused(run, path, replaced(stats, "\"address\":\"00007f80", "\"address\":\"00007f81"),
                "lacks a copy");
  check_refused(run, path, replaced(stats, "\"elapsed_ns\":", "\"elapsed_ns\":\"long\",\"x\":"),
                "\"elapsed_ns\"");
  check_refused(run, path, replaced(stats, "\"elapsed_ns\":", "\"elapsed_ns\":1e300,\"x\":"),
                "\"elapsed_ns\"");
  check_refused(run, path, stats.substr(0, stats.size() / 2), "not valid JSON");
  const std::string configuration = run.get("config.ini");
  run.put("config.ini", std::regex_replace(configuration, std::regex("call_ns = 1806"), "call_ns = 1807"));
  check_refused(run, path, stats, "config.ini or system.ini is not that of the run");
  run.put("config.ini", configuration);
  const auto copies = stats.find("\"copies\":[") + 10;
  const std::string one = stats.substr(copies, stats.find(']', copies) - copies);
  check_refused(run, path, replaced(stats, one, one + "," + one),
                "has 0 kernels and 1 copies that the recording lacks");
}

TEST_CASE("A recording that is cut off is refused") {
  const cli::Folder folder;
  const std::string path = written(folder, kList);
  REQUIRE(cli::run({"convert", path, folder / "whole.lst"}).code == 0);
  const auto trace = trace::open_trace(folder / "whole.lst");
  const Simulated run(*trace, one_gpu());
  const std::string bytes = cli::slurp(folder / "whole.lst");
  cli::spill(folder / "half.lst", bytes.substr(0, bytes.size() / 2));
  check_refused(run, folder / "half.lst", run.get("stats.json"), "half.lst");
}

TEST_CASE("Kernels that use the network, and managed memory, are refused") {
  using Kind = trace::Command::Kind;
  const cli::Folder folder;
  const auto plain = trace::open_trace(written(folder, kList));
  const Simulated run(*plain, one_gpu());
  for (const auto& [kind, why] :
       {std::pair{Kind::kNetMemory, "networking from within kernels cannot be exported"},
        std::pair{Kind::kManage, "managed memory cannot be exported"}}) {
    CAPTURE(why);
    trace::Command command;
    command.kind = kind;
    command.bytes = 4096;
    const WithCommands trace(*plain, {command});
    exporter::Results results(run.folder(), trace);
    CHECK_THROWS_WITH(exporter::make_graph(trace, results), Contains(why));
  }
}

}  // namespace lockstep::test
