#include <catch2/catch.hpp>
#include <fstream>

#include "paths.hpp"
#include "tests/cli/program.hpp"

namespace lockstep::cli {
namespace {

/// Bad usage: exit code 2, nothing on stdout, one line on stderr with all of `parts`.
void check_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
  const Finished result = run(arguments);
  CAPTURE(arguments, result.err);
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK(count_lines(result.err) == 1);
  CHECK(result.err.rfind("lockstep: error: ", 0) == 0);
  for (const std::string& part : parts) CHECK_THAT(result.err, Catch::Contains(part));
}

}  // namespace

TEST_CASE("help and version") {
  const Finished help = run({"--help"});
  CHECK(help.code == 0);
  for (const char* command : {"run", "info", "config", "compare", "stats", "convert", "synth"}) {
    CHECK_THAT(help.out, Catch::Contains(command));
    const Finished own = run({command, "--help"});
    CHECK(own.code == 0);
    CHECK(own.err.empty());
    CHECK_THAT(own.out, Catch::StartsWith("Usage: lockstep " + std::string(command)));
    CHECK(run({"help", command}).out == own.out);
  }
  CHECK(run({"help"}).out == help.out);
  const Finished version = run({"--version"});
  CHECK(version.code == 0);
  CHECK_THAT(version.out, Catch::Matches("lockstep [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_CASE("no command prints the help as an error") {
  const Finished result = run(std::vector<std::string>{});
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, Catch::Contains("Usage: lockstep COMMAND"));
}

TEST_CASE("unknown commands and options are refused with a suggestion") {
  check_refused({"rnu"}, {"unknown command 'rnu'", "did you mean 'run'?"});
  check_refused({"xyzzyxyzzy"}, {"unknown command 'xyzzyxyzzy' (lockstep --help"});
  check_refused({"help", "compar"}, {"did you mean 'compare'?"});
  check_refused({"run", "x", "--thread", "2"}, {"unknown option '--thread'", "did you mean '--threads'?"});
  check_refused({"run", "x", "--windw=2"}, {"did you mean '--window'?"});
  check_refused({"compare", "a", "b", "--tolerence", "1"}, {"did you mean '--tolerance'?"});
}

TEST_CASE("missing and surplus arguments are refused") {
  check_refused({"run"}, {"run: TRACE is missing", "usage: lockstep run TRACE"});
  check_refused({"run", "a", "b"}, {"run: too many arguments"});
  check_refused({"compare", "a"}, {"compare: B is missing"});
  check_refused({"run", "x", "--threads"}, {"--threads"});
  check_refused({"stats", "--explain", "nothing"}, {"no statistic's name contains 'nothing'"});
  check_refused({"stats", "--explain", "short_scorebord"}, {"did you mean 'short_scoreboard'?"});
  check_refused({"stats", "l1.hits", "--explain", "l1.hits"}, {"--explain", "expected one of them"});
  check_refused({"config", "l1.hit_latency"}, {"is a parameter", "--explain l1.hit_latency"});
}

TEST_CASE("option values are checked") {
  const Folder folder;
  write_trace(folder / "t", {});
  const std::string trace = folder / "t";
  check_refused({"run", trace, "--threads", "0"},
                {"--threads: found '0', expected a whole number from 1 to 1024"});
  check_refused({"run", trace, "--threads=-1"}, {"found '-1'"});
  check_refused({"run", trace, "--threads", "2x"}, {"found '2x'"});
  check_refused({"run", trace, "--max-cycles", "99999999999999999999"},
                {"--max-cycles: found '99999999999999999999'"});
  check_refused({"run", trace, "--window", "0"}, {"--window: found '0'"});
  check_refused({"run", trace, "--window", "1000000"}, {"window"});
  check_refused({"run", trace, "--schedule", "guided"}, {"expected static or dynamic"});
  check_refused({"run", trace, "--kernels", "3-1"}, {"found '3-1', expected FIRST-LAST"});
  check_refused({"run", trace, "--kernels", "1,,2"}, {"--kernels: found ''"});
  check_refused({"run", trace, "--kernels", "7"}, {"t has no kernel 7"});
  check_refused({"run", trace, "-c", "v1000"}, {"v1000"});
  check_refused({"run", trace, "--set", "no.such.key=1"}, {"no.such.key"});
  check_refused({"run", trace, "-o", ""}, {"--out"});
  check_refused({"compare", "a", "b", "--tolerance", "nan"}, {"found 'nan'"});
}

TEST_CASE("what is not there is named") {
  check_refused({"run", "/nonexistent/trace"}, {"/nonexistent/trace"});
  check_refused({"run", "/nonexistent/new\nline"}, {"/nonexistent/new line"});
  check_refused({"compare", "/nonexistent/a", "/nonexistent/b"}, {"/nonexistent/a: cannot open"});
}

TEST_CASE("options that could not have an effect are refused") {
  const Folder folder;
  write_trace(folder / "t", {});
  const std::string trace = folder / "t";
  check_refused({"run", trace, "--interval", "100"},
                {"run: --interval has no effect without --out", "intervals.csv"});
  check_refused({"config", "a100", "-c", "v100"},
                {"config: two GPUs, 'a100' and --config 'v100'; expected one"});
  check_refused({"config", "--strict"}, {"config: --strict has no effect without --accelsim-config"});
  check_refused({"config", "a100", "--accelsim-markdown"},
                {"config: GPU has no effect with --accelsim-markdown"});
  check_refused({"config", "dgx_a100", "--markdown"}, {"--markdown of 'dgx_a100': expected a GPU"});
  check_refused({"config", "a100", "--markdown", "--set", "l1.ways=1"},
                {"--set has no effect with --markdown"});
  check_refused({"config", "--accelsim-markdown", "--set", "l1.ways=1"},
                {"--set has no effect with --accelsim-markdown"});
  check_refused({"config", "--markdown", "--accelsim-markdown"},
                {"--accelsim-markdown has no effect with --markdown"});
  check_refused({"stats", "--markdown", "--explain", "l1"},
                {"stats: --explain has no effect with --markdown"});
  check_refused({"--version", "x"}, {"--version: too many arguments"});
  check_refused({"help", "run", "x"}, {"help: too many arguments"});
  CHECK(run({"--help", "run"}).out == run({"run", "--help"}).out);
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/examples/ptx/vector_add.ptx";
  check_refused({"lower", ptx, "--arch", "99"},
                {"--arch: found '99', expected a compute capability * 10: 50,", "90, 100"});
  check_refused({"lower", ptx, "--arch", "080"}, {"--arch: found '080'"});
  CHECK(run({"lower", ptx, "--arch", "121"}).code == 0);
}

TEST_CASE("exec --functional refuses what only a simulation has") {
  const std::vector<std::vector<std::string>> idle = {{"--interval", "100"},
                                                      {"--timeline", "x.json"},
                                                      {"-o", "D"},
                                                      {"--kernels", "1"},
                                                      {"--managed", "all"},
                                                      {"--gpu-memory", "1G"},
                                                      {"--max-cycles", "9"},
                                                      {"--accelsim-stats"},
                                                      {"--schedule", "static"},
                                                      {"--window", "2"},
                                                      {"--no-skip"},
                                                      {"--shuffle", "1"},
                                                      {"--work-log", "x"},
                                                      {"--strict"}};
  const Folder folder;
  for (const auto& option : idle) {
    std::vector<std::string> arguments = {"exec", "--functional"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    arguments.insert(arguments.end(), {"--", "/bin/sh", "-c", "echo x >" + (folder / "ran")});
    check_refused(arguments, {"has no effect with --functional: nothing is simulated"});
  }
  check_refused(
      {"exec", "--functional", "--interval", "100", "--timeline", "x.json", "-o", "D", "--", "/bin/true"},
      {"exec: --timeline, --interval, --out have no effect with --functional"});
  CHECK(slurp(folder / "ran").empty());
  CHECK(run({"exec", "--functional", "-q", "-t", "1", "-c", "a100", "--", "/bin/true"}).code == 0);
}

TEST_CASE("what cannot be started is named with the reason") {
  const Folder folder;
  const std::string text = folder / "notes";
  std::ofstream(text) << "x";
  check_refused({"exec", "-q", "--", folder.path()}, {folder.path() + " is a folder; expected a program"});
  check_refused({"exec", "-q", "--", text}, {text + " is not executable (chmod +x makes it so)"});
  check_refused({"exec", "-q", "--", folder / "missing"}, {folder / "missing: No such file or directory"});
}

TEST_CASE("synth writes a folder of its kind's name where none is named") {
  const Folder folder;
  const Finished done = run(Launch{.arguments = {"synth", "empty"}, .folder = folder.path()});
  CHECK(done.code == 0);
  CHECK(done.out == "empty trace written to synth-empty\n");
  CHECK(run(Launch{.arguments = {"run", "synth-empty", "-q"}, .folder = folder.path()}).code == 0);
  CHECK(run({"synth", "empty", "-o", folder / "named"}).code == 0);
  CHECK(!slurp(folder / "named/kernelslist.g").empty());
  check_refused({"synth", "empty", "--out", ""}, {"synth: --out: the folder's name is empty"});
}

}  // namespace lockstep::cli
