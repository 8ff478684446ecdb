// Parts of `exec` and `record` that need no program: what is said of one that left nothing, reports of
// checks, options of MPI, temporary folders.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/check_report.hpp"
#include "cli/mpi_program.hpp"
#include "cli/nothing_recorded.hpp"
#include "cli/temporary_folder.hpp"
#include "exec/check/finding.hpp"
#include "tests/cli/support.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;

cuda::Execution executed(std::uint64_t launches, std::uint64_t ranges = 0) {
  cuda::Execution e;
  e.launch = launches;
  e.ranges = ranges;
  e.kernel = "_Z9vectorAddPKfS0_Pfi";
  return e;
}

exec::Finding finding_at(std::uint32_t line, bool warning = false) {
  exec::Finding f;
  f.warning = warning;
  f.access = "read";
  f.space = "global";
  f.bytes = 4;
  f.address = 0x1000;
  f.kernel = "k";
  f.site.module = "m.ptx";
  f.site.line = line;
  return f;
}

/// The report that a process of the program leaves.
void leave_report(const Folder& folder, const std::string& name, const std::vector<exec::Finding>& findings) {
  exec::Findings all;
  for (const exec::Finding& f : findings) (void)all.add(f);
  spill(folder / name, all.to_json(exec::parse_checks("all")));
}

const CheckArguments kAllChecks{.checks = exec::parse_checks("all"), .exit_code = 9};

/// What report_checks() gives and prints.
struct PrintedReport {
  int code = 0;
  std::string text;
};
PrintedReport printed_report(const CheckArguments& arguments, const Folder& folder, const std::string& out,
                             int code) {
  const Folder kept;
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO), file = ::open((kept / "err").c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(file, STDERR_FILENO);
  PrintedReport report;
  report.code = report_checks(arguments, folder.path(), out, code);
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(file);
  report.text = slurp(kept / "err");
  return report;
}

po::variables_map mpi_values(const std::vector<std::string>& words) {
  po::options_description options;
  add_mpi_options(options);
  options.add_options()("record", po::value<std::string>());
  po::variables_map values;
  po::store(po::command_line_parser(words).options(options).run(), values);
  return values;
}

std::string mpi_error(const std::vector<std::string>& words) {
  try {
    (void)mpi_options(mpi_values(words));
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

/// $TMPDIR is this folder meanwhile.
class WithTemporary {
 public:
  explicit WithTemporary(const std::string& folder) {
    if (const char* const before = ::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", folder.c_str(), 1);
  }
  ~WithTemporary() { before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1); }
  WithTemporary(const WithTemporary&) = delete;
  WithTemporary& operator=(const WithTemporary&) = delete;

 private:
  std::string before_;
};

}  // namespace

TEST_CASE(
    "nothing recorded: the reason is that there was no range, no launch, none in a range, or a failure") {
  CHECK_THAT(nothing_recorded(executed(0), true), Catch::StartsWith("the program launched no kernel"));
  CHECK_THAT(nothing_recorded(executed(7), true),
             Catch::StartsWith("a kernel failed (the last one was vectorAdd), or the program ended before"));
  CHECK_THAT(nothing_recorded(executed(7, 0), false),
             Catch::Contains("has not called cudaProfilerStart() or cuProfilerStart()"));
  CHECK_THAT(nothing_recorded(executed(0, 0), false), Catch::Contains("it entered no range"));
  CHECK_THAT(nothing_recorded(executed(0, 1), false), Catch::StartsWith("the program launched no kernel"));
  CHECK_THAT(nothing_recorded(executed(7, 1), false),
             Catch::Contains("launched no kernel between cudaProfilerStart() and cudaProfilerStop()"));
}

TEST_CASE("awaited file: written is what was not there before, or has changed since") {
  const Folder folder;
  const std::string file = folder / "t.lst";
  {
    const AwaitedFile awaited(file);
    CHECK_FALSE(awaited.written());
    spill(file, "1");
    CHECK(awaited.written());
  }
  const AwaitedFile older(file);
  CHECK_FALSE(older.written());
  spill(folder / "other", "1");
  CHECK_FALSE(older.written());
  fs::rename(folder / "other", file);  // as a recording takes its place
  CHECK(older.written());
  fs::remove(file);
  CHECK_FALSE(older.written());
}

TEST_CASE(
    "check reports: errors of all processes give the exit code, unless the program has one of its own") {
  const Folder folder;
  CHECK(printed_report(kAllChecks, folder, "", 0).text == "lockstep: check: 0 errors\n");
  leave_report(folder, "check.1.json", {finding_at(1, true)});
  CHECK(printed_report(kAllChecks, folder, "", 0).code == 0);  // a warning
  leave_report(folder, "check.12.json", {finding_at(5)});
  leave_report(folder, "check.2.json", {finding_at(3), finding_at(4, true)});
  spill(folder / "check.txt", "no report");
  spill(folder / "other.json", "nor this");
  const PrintedReport all = printed_report(kAllChecks, folder, "", 0);
  CHECK(all.code == 9);
  CHECK_THAT(all.text, Catch::EndsWith("lockstep: check: 2 errors at 2 places, 2 warnings\n"));
  CHECK(printed_report(kAllChecks, folder, "", 3).code == 3);
  CHECK(report_checks({}, folder.path(), "", 0) == 0);  // nothing was checked
  const std::string out = folder / "out";
  CHECK(printed_report(kAllChecks, folder, out, 0).code == 9);
  const auto kept = nlohmann::json::parse(slurp(out + "/check.json"));
  CHECK((kept.at("errors") == 2 && kept.at("warnings") == 2));
  std::vector<int> lines;
  for (const auto& f : kept.at("findings")) lines.push_back(f.at("site").at("line"));
  CHECK(lines == std::vector<int>{1, 3, 4, 5});  // by the processes' numbers, not as texts
  spill(folder / "check.3.json", "{\"findings\":");
  CHECK_THROWS_WITH(report_checks(kAllChecks, folder.path(), "", 0),
                    Catch::StartsWith("the report of the checks cannot be read: "));
}

TEST_CASE("check reports: names that are no UTF-8, or move the cursor, are kept readable") {
  exec::Finding odd = finding_at(1);
  odd.kernel = "k\xff";
  odd.site.source = "\xe4\x1b[2J.cu:7";
  const Folder folder;
  leave_report(folder, "check.1.json", {odd});
  const PrintedReport report = printed_report(kAllChecks, folder, folder / "out", 0);
  CHECK(report.code == 9);
  CHECK(report.text.find('\x1b') == std::string::npos);
  CHECK_THAT(report.text, Catch::Contains("?[2J.cu:7 (m.ptx:1)"));
  const auto kept = nlohmann::json::parse(slurp(folder / "out/check.json"));
  CHECK(kept.at("findings")[0].at("kernel") == "k\xef\xbf\xbd");
}

TEST_CASE("MPI options: sizes, algorithms and factors are what they may be, or named") {
  const MpiOptions standard = mpi_options(mpi_values({}));
  CHECK(
      (standard.protocol.eager_bytes == 12288 && standard.protocol.all_reduce == messages::AllReduce::kAuto));
  CHECK((standard.host_time.empty() && standard.folder.empty() && !standard.keeps));
  const MpiOptions all = mpi_options(mpi_values({"--eager", "0", "--allreduce", "ring", "--host-time", "0.5",
                                                 "--ranks-folder", "/f", "--record", "r"}));
  CHECK((all.protocol.eager_bytes == 0 && all.protocol.all_reduce == messages::AllReduce::kRing));
  CHECK((all.host_time == "0.5" && all.folder == "/f" && all.keeps));
  CHECK(mpi_options(mpi_values({"--allreduce", "recursive_doubling"})).protocol.all_reduce ==
        messages::AllReduce::kRecursiveDoubling);
  CHECK(mpi_error({"--eager", "1099511627777"}) ==
        "--eager: found '1099511627777', expected a whole number from 0 to 1099511627776");
  CHECK(mpi_error({"--allreduce", "tree"}) ==
        "--allreduce: found 'tree', expected auto, recursive_doubling or ring");
  CHECK(mpi_error({"--host-time", "1000"}).empty());
  for (const std::string bad : {"0", "-1", "1001", "1e2", "0x1", "nan", "inf", "1 ", "fast"})
    CHECK(mpi_error({"--host-time=" + bad}) ==
          "--host-time: found '" + bad +
              "', expected none, or a factor above 0 and up to 1000, such as 1 or 0.5");
}

TEST_CASE("MPI options: each that is given where there is no MPI program is named") {
  CHECK_NOTHROW(refuse_mpi_options(mpi_values({})));
  for (const std::string name : {"eager", "allreduce", "host-time", "ranks-folder"})
    CHECK_THROWS_WITH(
        refuse_mpi_options(mpi_values({"--" + name, "ring"})),
        "exec: --" + name +
            " is for MPI programs that are simulated; expected mpirun or srun, with two processes or "
            "more, and no --functional");
}

TEST_CASE("temporary folders: they go with their files, and the next one takes away what a kill has left") {
  const Folder folder;
  const WithTemporary here(folder.path());
  std::string path;
  {
    const TemporaryFolder made;
    path = made.path();
    CHECK(fs::path(path).parent_path() == folder.path());
    spill(path + "/file", "x");
  }
  CHECK_FALSE(fs::exists(path));
  const std::string left = folder / "lockstep-exec-abcdef", used = folder / "lockstep-exec-ghijkl",
                    other = folder / "lockstep-other";
  for (const std::string& name : {left, used, other}) {
    fs::create_directory(name);
    spill(name + "/file", "x");
  }
  fs::create_symlink(other, folder / "lockstep-exec-symlink");
  const int lock = ::open(used.c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  const TemporaryFolder next;
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(used + "/file"));
  CHECK(fs::exists(other + "/file"));  // neither by its own name nor through the link
  ::close(lock);
  const TemporaryFolder last;
  CHECK_FALSE(fs::exists(used));
  CHECK(fs::exists(next.path()));
}

TEST_CASE("temporary folders: a place that has none is an error that names it") {
  const WithTemporary nowhere("/proc/nowhere");
  CHECK_THROWS(TemporaryFolder());
}

}  // namespace lockstep::cli
