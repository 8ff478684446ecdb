// Wrong command lines, each with the one line that the user sees.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "paths.hpp"
#include "tests/cli/support.hpp"

namespace lockstep::cli {
namespace {

struct Row {
  std::vector<std::string> arguments;
  std::string message;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Finished result = run(row.arguments);
    CAPTURE(row.arguments);
    CHECK(result.err == "lockstep: error: " + row.message + "\n");
    CHECK(result.out.empty());
    CHECK(result.code == 2);
  }
}

}  // namespace

TEST_CASE("usage table: run") {
  const Folder folder;
  write_trace(folder / "t", {});
  const std::string trace = folder / "t";
  check({
      {{"run", kVectorAddPtx}, kVectorAddPtx + " is PTX; expected --launch SCRIPT with it"},
      {{"run", trace, "--check", "all"},
       "--check: a trace holds no values; expected a PTX file with --launch, or `lockstep exec`"},
      {{"run", trace, "--max-instructions", "5"},
       "--max-instructions: a trace has been executed already; expected --launch SCRIPT with it"},
      {{"run", trace, "--schedule", "guided"}, "--schedule: found 'guided', expected static or dynamic"},
      {{"run", trace, "--interval", "0", "-o", folder / "o"},
       "--interval: found '0', expected a whole number from 1 to 18446744073709551615"},
      {{"run", trace, "--max-cycles", "-5"},
       "--max-cycles: found '-5', expected a whole number from 1 to 18446744073709551615"},
      {{"run", trace, "--shuffle", "x"},
       "--shuffle: found 'x', expected a whole number from 0 to 18446744073709551615"},
      {{"run", trace, "--gpus", "0"}, "--gpus: found '0', expected a whole number from 1 to 64"},
      {{"run", trace, "--kernels", "-1"}, "--kernels: found '-1', expected a number or FIRST-LAST"},
      {{"run", trace, "--kernels", "1,2-"}, "--kernels: found '2-', expected a number or FIRST-LAST"},
      {{"run", trace, "--sample", "error=2%,seed=1,error=3%"}, "--sample: error is given twice"},
      {{"run", ""}, "run: TRACE is empty (usage: lockstep run TRACE [options])"},
      {{"info", ""}, "info: TRACE is empty (usage: lockstep info TRACE [options])"},
      {{"convert", trace, ""}, "convert: OUT is empty (usage: lockstep convert TRACE OUT [options])"},
      {{"run", kVectorAddPtx, "--launch", folder / "none"}, folder / "none" + ": cannot be read"},
      {{"run", trace, "--timeline", ""}, "--timeline: the file's name is empty"},
      {{"run", trace, "--work-log", "", "-t", "1"}, "--work-log: the file's name is empty"},
      {{"run", trace, "--device", "1=" + trace, "--device", "0=" + trace},
       "run: found TRACE and --device; expected one of them"},
      {{"run", "--device", "0=" + trace, "--device", "1=" + trace},
       "--device: 1 is not a device of v100, which has one; expected a system of that many (-c SYSTEM) or "
       "--gpus 2"},
  });
}

TEST_CASE("usage table: checkpoints") {
  const Folder folder;
  write_trace(folder / "t", {});
  const std::string trace = folder / "t", kept = folder / "kept";
  check({
      {{"run", trace, "--checkpoint", ""}, "--checkpoint: the folder's name is empty"},
      {{"run", trace, "--checkpoint", ",every=1s"}, "--checkpoint: the folder's name is empty"},
      {{"run", trace, "--checkpoint", kept + ",evry=10min"},
       "--checkpoint: found '" + kept + ",evry=10min', expected FOLDER[,every=TIME]"},
      {{"run", trace, "--checkpoint", kept + ",every=1s,every=2s"},
       "--checkpoint every: found '1s,every=2', expected a whole number from 0 to 1000000"},
      {{"run", trace, "--checkpoint", kept + ",every=10"},
       "--checkpoint every: found '10', expected a time such as 90s, 10min or 2h"},
      {{"run", trace, "--checkpoint", kept + ",every=xs"},
       "--checkpoint every: found 'x', expected a whole number from 0 to 1000000"},
      {{"run", trace, "--checkpoint", kept + ",every=1000001h"},
       "--checkpoint every: found '1000001', expected a whole number from 0 to 1000000"},
      {{"run", trace, "--resume", ""}, "--resume: the folder's name is empty"},
      {{"run", trace, "--resume", folder / "none"},
       folder / "none" + ": is not there; expected a folder with checkpoints, or one of these"},
      {{"run", trace, "--checkpoint", kept, "--sample", "error=2%"},
       "--checkpoint: found --sample with it; the choice of a run by samples is not kept"},
      {{"exec", "--checkpoint", kept, "--", "/bin/true"},
       "--checkpoint: a program that runs cannot be kept; expected its trace: `lockstep record FILE.lst -- "
       "PROGRAM`, then `lockstep run FILE.lst --checkpoint ...`"},
  });
}

TEST_CASE("usage table: exec and record") {
  const Folder folder;
  spill(folder / "bad.launch", "launch nothing\n");
  const Finished broken =
      run({"record", folder / "x.lst", "--launch", folder / "bad.launch", "--", kVectorAddPtx});
  CHECK(broken.code == 2);
  CHECK(count_lines(broken.err) == 1);
  CHECK_THAT(broken.err, Catch::Contains("bad.launch:1: "));
  check({
      {{"record", "", "--", "/bin/true"},
       "record: OUT is empty (usage: lockstep record OUT [options] -- PROGRAM [ARGUMENTS])"},
      {{"exec", "-q"}, "exec: no program; expected `lockstep exec [options] -- PROGRAM [ARGUMENTS]`"},
      {{"exec", "--"}, "exec: no program; expected `lockstep exec [options] -- PROGRAM [ARGUMENTS]`"},
      {{"exec", "--clock", "", "--", "/bin/true"},
       "--clock: found '', expected host or simulated; a folder with results is for MPI programs that are "
       "simulated (mpirun or srun, with two processes or more)"},
      {{"exec", "--clock", "simulated", "--functional", "--", "/bin/true"},
       "exec: --clock simulated has no effect with --functional: nothing is simulated"},
      {{"exec", "--clock", "simulated", "--sample", "error=2%", "--", "/bin/true"},
       "exec: --clock simulated: --sample needs the whole trace, so there is no time while the program runs"},
      {{"exec", "--profile-from-start", "yes", "--", "/bin/true"},
       "--profile-from-start: found 'yes', expected on or off"},
      {{"record", "out.lst", "--profile-from-start", "0", "--", "/bin/true"},
       "--profile-from-start: found '0', expected on or off"},
      {{"record", "out.lst", "--profile-from-start", "off", "--launch", "s.launch", "--", "k.ptx"},
       "--profile-from-start off: a launch script has no ranges; expected on"},
      {{"exec", "--functional", "--profile-from-start", "off", "--", "/bin/true"},
       "exec: --profile-from-start has no effect with --functional: nothing is recorded"},
      {{"exec", "--check", "races", "--", "/bin/true"},
       "--check: `races` is not a check; expected all or a list of memory, init, race, leak"},
      {{"exec", "--error-exitcode", "9", "--", "/bin/true"}, "--error-exitcode: expected --check with it"},
  });
}

TEST_CASE("usage table: config, report, export, correlate, synth and stats") {
  const Folder folder;
  check({
      {{"config", "--explain", "window", "--json"},
       "config: --json has no effect with --explain window, which is a text"},
      {{"config", "--influence", "t"}, "config: --influence has no effect without --assumed"},
      {{"config", "--assumed", "--explain", "l1"},
       "config: --explain has no effect with --assumed: expected one of them"},
      {{"config", "l1.ways"},
       "config: 'l1.ways' is a parameter, expected a GPU; --explain l1.ways says what it means"},
      {{"config", "dgx1_v100", "--json"},
       "config: --json has no effect with a system: expected one of its devices"},
      {{"report"}, "report: RUN is missing (usage: lockstep report RUN [RUN2] [options])"},
      {{"report", "a", "b", "c"}, "report: found more than two runs, expected RUN or RUN RUN2"},
      {{"report", "a", "--json", "-o", "x"}, "report: --out has no effect with --json: no page is written"},
      {{"report", folder / "none"},
       folder / "none" + ": no folder; expected one that `lockstep run -o` or `exec -o` has written"},
      {{"export", "chakra", "a", "b"}, "export: -o WHERE is missing: where to write"},
      {{"export", "chakra", "a", "b", "-o", ""}, "export: -o WHERE: the name is empty"},
      {{"export", "xml", "a", "b", "-o", "c"}, "export: unknown format 'xml'; expected one of goal, chakra"},
      {{"correlate", "a", "--hardware", "b", "--csv", ""}, "--csv: the name is empty"},
      {{"correlate", "a", "--hardware", "b", "--plots", ""}, "--plots: the name is empty"},
      {{"sweep", ""}, "sweep: STUDY is empty (usage: lockstep sweep STUDY.toml [options])"},
      {{"config", ""}, "config: GPU is empty (usage: lockstep config [GPU] [options])"},
      {{"synth"}, "synth: KIND is missing (usage: lockstep synth KIND [options])"},
      {{"compare", "a", "b", "--tolerance", "-1"},
       "compare: --tolerance: found '-1', expected a number of 0 or more, such as 0.01"},
      {{"compare", "a", "b", "--tolerance", "1%"},
       "compare: --tolerance: found '1%', expected a number of 0 or more, such as 0.01"},
      {{"sweep", folder.path()}, folder.path() + " is a folder, expected a study's TOML file"},
  });
}

}  // namespace lockstep::cli
