// Which runs of a study are one and the same, by what their results depend on, and what is refused before any
// starts.
#include "cli/sweep_jobs.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/cli/support.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace {

std::string workload_of(const std::string& trace, const std::string& more = "") {
  static int number = 0;
  return "[[workload]]\nname = \"w" + std::to_string(number++) + "\"\ntrace = \"" + trace + "\"\n" + more;
}

SweepJobs jobs_of(const std::string& study) { return sweep_jobs(study::parse_study(study, "s.toml")); }

std::string jobs_error(const std::string& study) {
  try {
    (void)jobs_of(study);
  } catch (const UserError& e) {
    return e.what();
  }
  return "accepted";
}

/// Whether both are the same run, as workloads of one study.
bool are_one(const std::string& a, const std::string& b) {
  const SweepJobs sweep = jobs_of(a + b);
  REQUIRE(sweep.runs.size() == 2);
  CHECK(sweep.jobs.size() == (sweep.keys[0] == sweep.keys[1] ? 1 : 2));
  return sweep.keys[0] == sweep.keys[1];
}

}  // namespace

TEST_CASE("sweep jobs: runs are the same whose trace's content, configuration and options are") {
  const Folder folder;
  write_trace(folder / "a", {});
  write_trace(folder / "b", {});
  write_trace(folder / "longer", {.body = 11});
  const std::string a = folder / "a";
  const auto same = [&](const std::string& more_a, const std::string& more_b) {
    return are_one(workload_of(a, more_a), workload_of(a, more_b));
  };
  CHECK(are_one(workload_of(a), workload_of(folder / "b")));
  CHECK(are_one(workload_of(a), workload_of(a + "/kernelslist.g")));
  CHECK_FALSE(are_one(workload_of(a), workload_of(folder / "longer")));
  CHECK(same("config = \"v100\"\n", ""));
  CHECK_FALSE(same("config = \"a100\"\n", ""));
  CHECK(same("set = { \"clock.core_mhz\" = 1000 }\n", "set = { \"clock.core_khz\" = 1000000 }\n"));
  CHECK(same("set = { \"l1.mshrs\" = 99, \"sm.max_ctas\" = 8 }\n",
             "set = { \"sm.max_ctas\" = 8, \"l1.mshrs\" = 99 }\n"));
  CHECK_FALSE(same("set = { \"l1.mshrs\" = 99 }\n", "set = { \"l1.mshrs\" = 98 }\n"));
  CHECK(same("options = { strict = false }\n", ""));
  CHECK_FALSE(same("options = { strict = true }\n", ""));
  CHECK_FALSE(same("options = { kernels = \"1\" }\n", ""));
}

TEST_CASE("sweep jobs: a configuration's file counts by what it says, wherever it is") {
  const Folder folder;
  write_trace(folder / "t", {});
  spill(folder / "one.ini", "include = v100\n[l1]\nmshrs = 99\n");
  spill(folder / "two.ini", "; the same\ninclude = v100\nl1.mshrs=99\n");
  spill(folder / "three.ini", "include = v100\n[l1]\nmshrs = 98\n");
  const auto with = [&](const std::string& file) {
    return workload_of(folder / "t", "config = \"" + (folder / file) + "\"\n");
  };
  CHECK(are_one(with("one.ini"), with("two.ini")));
  CHECK_FALSE(are_one(with("one.ini"), with("three.ini")));
  CHECK(are_one(with("one.ini"), workload_of(folder / "t", "set = { \"l1.mshrs\" = 99 }\n")));
}

TEST_CASE("sweep jobs: a program counts with its arguments and the content of its inputs") {
  const Folder folder;
  spill(folder / "in", "1");
  spill(folder / "same", "1");
  spill(folder / "other", "2");
  const auto program = [](const std::string& arguments, const std::string& more = "") {
    static int number = 0;
    return "[[workload]]\nname = \"p" + std::to_string(number++) + "\"\nprogram = [" + arguments + "]\n" +
           more;
  };
  const auto reading = [&](const std::string& file) { return "inputs = [\"" + (folder / file) + "\"]\n"; };
  CHECK(are_one(program("\"/bin/true\", \"x\""), program("\"/bin/true\", \"x\"")));
  CHECK(are_one(program("\"true\""), program("\"true\"")));
  CHECK_FALSE(are_one(program("\"/bin/true\", \"x\""), program("\"/bin/true\", \"y\"")));
  CHECK_FALSE(are_one(program("\"/bin/true\""), program("\"/bin/false\"")));
  CHECK_FALSE(are_one(program("\"/bin/true\", \"x y\""), program("\"/bin/true\", \"x\", \"y\"")));
  CHECK_FALSE(are_one(program("\"/bin/true\", \"x\\nargument y\""), program("\"/bin/true\", \"x\", \"y\"")));
  CHECK_FALSE(are_one(program("\"/bin/true\", \"x\\ny\""), program("\"/bin/true\", \"x\\\\ny\"")));
  CHECK_FALSE(are_one(program("\"/bin/true\"", reading("in")), program("\"/bin/true\"")));
  CHECK_FALSE(are_one(program("\"/bin/true\"", reading("in")), program("\"/bin/true\"", reading("other"))));
  const SweepJobs before = jobs_of(program("\"/bin/true\"", reading("in")));
  spill(folder / "in", "2");
  CHECK(jobs_of(program("\"/bin/true\"", reading("in"))).keys != before.keys);
}

TEST_CASE("sweep jobs: jobs have the arguments and the name of the first run that needs them") {
  const Folder folder;
  write_trace(folder / "t", {});
  const std::string axis =
      "[[axis]]\nkey = \"clock.core_mhz\"\nvalues = [500, \"500000 kHz\", 600, \"0.5 GHz\"]\n";
  const SweepJobs sweep = jobs_of("[[workload]]\nname = \"w\"\ntrace = \"" + (folder / "t") + "\"\n" + axis);
  REQUIRE(sweep.runs.size() == 4);
  REQUIRE(sweep.jobs.size() == 2);
  CHECK(sweep.names == std::vector<std::string>{"w, clock.core_mhz 500", "w, clock.core_mhz 600"});
  CHECK(sweep.jobs[0].arguments ==
        std::vector<std::string>{"run", "--set", "clock.core_mhz=500", folder / "t"});
  CHECK((sweep.keys[0] == sweep.keys[1] && sweep.keys[0] == sweep.keys[3] && sweep.keys[0] != sweep.keys[2]));
  for (const study::Job& job : sweep.jobs) {
    CHECK(job.key == study::key_of(job.identity));
    CHECK(job.resumable);
    CHECK_THAT(job.identity, Catch::StartsWith("lockstep ") && Catch::Contains("\ngpu v100\n"));
  }
}

TEST_CASE("sweep jobs: runs that keep no checkpoints are not resumed") {
  const Folder folder;
  write_trace(folder / "t", {});
  const auto resumable = [](const std::string& study) { return jobs_of(study).jobs.at(0).resumable; };
  CHECK(resumable(workload_of(folder / "t")));
  CHECK_FALSE(resumable(workload_of(folder / "t", "options = { sample = \"error=5%\" }\n")));
  CHECK_FALSE(resumable("[[workload]]\nprogram = [\"/bin/true\"]\n"));
  CHECK_FALSE(resumable("[[workload]]\ntrace = \"" + kVectorAddPtx +
                        "\"\nlaunch = \"" LOCKSTEP_SOURCE_DIR "/examples/vector_add.launch\"\n"));
}

TEST_CASE("sweep jobs: what a run cannot do is refused with its line, its name and the reason") {
  const Folder folder;
  write_trace(folder / "t", {});
  const std::string t = folder / "t";
  const auto error = [&](const std::string& more, const std::string& trace) {
    return jobs_error("\n[[workload]]\nname = \"w\"\ntrace = \"" + trace + "\"\n" + more);
  };
  CHECK_THAT(error("", folder / "none"), Catch::StartsWith("s.toml:2: w: " + (folder / "none")));
  CHECK_THAT(error("set = { \"l1.wayz\" = 1 }\n", t),
             Catch::StartsWith("s.toml:2: w: --set 'l1.wayz=1': unknown key"));
  CHECK_THAT(error("config = \"v1000\"\n", t),
             Catch::StartsWith("s.toml:2: w: ") && Catch::Contains("v1000"));
  CHECK_THAT(error("options = { kernel = \"1\" }\n", t),
             Catch::StartsWith("s.toml:2: w: run: unknown option '--kernel=1'; did you mean '--kernels'?"));
  CHECK_THAT(error("options = { kernels = \"3-1\" }\n", t), Catch::Contains("--kernels: found '3-1'"));
  CHECK_THAT(error("[[axis]]\nkey = \"l1.mshrs\"\nvalues = [8, 0]\n", t),
             Catch::StartsWith("s.toml:2: w, l1.mshrs 0: --set 'l1.mshrs=0'"));
  for (const char* own :
       {"out", "threads", "set", "config", "device", "checkpoint", "resume", "json", "record", "help"})
    CHECK(error("options = { " + std::string(own) + " = \"x\" }\n", t) ==
          "s.toml:2: w: option '" + std::string(own) +
              "' is not for studies: it is given by `lockstep sweep`, or by a key of the study, or changes "
              "no result");
  CHECK(jobs_error("[[workload]]\nprogram = [\"./no/such\"]\n") ==
        "s.toml:1: ./no/such: program ./no/such: no such file");
  CHECK(jobs_error("[[workload]]\nprogram = [\"no-such-program-here\"]\n") ==
        "s.toml:1: no-such-program-here: program no-such-program-here: not in PATH; one beside the study is "
        "./no-such-program-here");
}

}  // namespace lockstep::cli
