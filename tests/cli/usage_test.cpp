#include <catch2/catch.hpp>

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
  check_refused({"stats", "--explain", "nothing"}, {"no statistic's name starts with 'nothing'"});
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

}  // namespace lockstep::cli
