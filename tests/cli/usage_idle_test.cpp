// More wrong command lines: one line that says why, exit code 2, and nothing written, in the current folder
// or where an option names it.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/support.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

struct RefusedLine {
  std::vector<std::string> arguments;
  std::string message;
};

void check_refused_lines(const std::vector<RefusedLine>& lines) {
  const Folder empty;
  for (const RefusedLine& line : lines) {
    const Finished result = run(Launch{.arguments = line.arguments, .folder = empty.path()});
    CAPTURE(line.arguments);
    CHECK(result.err == "lockstep: error: " + line.message + "\n");
    CHECK(result.out.empty());
    CHECK(result.code == 2);
    CHECK(fs::is_empty(empty.path()));
  }
}

/// A trace, and a study of it.
struct UsageBench {
  Folder folder;
  std::string trace = folder / "t", study = folder / "s.toml";
  UsageBench() {
    write_trace(trace, {});
    spill(study, "[[workload]]\ntrace = \"t\"\n");
  }
};

}  // namespace

TEST_CASE("usage: options of run that would have no effect beside others") {
  const UsageBench bench;
  const std::string& t = bench.trace;
  check_refused_lines({
      {{"run", t, "--sample", "error=5%", "--interval", "5", "-o", "o"},
       "run: --interval has no effect with --sample: what is not timed has no series, blocks or work"},
      {{"run", t, "--sample", "error=5%", "--profile", "--accelsim-stats", "-o", "o"},
       "run: --profile, --accelsim-stats have no effect with --sample: what is not timed has no series, "
       "blocks or "
       "work"},
      {{"run", t, "--profile"},
       "run: --profile has no effect without --out: it is written to FOLDER/profile.json"},
      {{"run", t, "--json", "-q"}, "run: --quiet has no effect with --json"},
      {{"run", t, "--json", "--all-launches", "--accelsim-stats"},
       "run: --all-launches, --accelsim-stats have no effect with --json"},
      {{"run", t, "-t", "2", "--work-log", "w"}, "--work-log: found 2 threads, expected --threads 1"},
      {{"run", t, "--gpus", "2", "--accelsim-stats"},
       "run: --accelsim-stats has no effect with several devices: Accel-Sim has one"},
      {{"run", t, "--ptx-above", "take"},
       "run: --ptx-above has no effect with a trace: it has been executed already"},
      {{"run", "--device", "0=" + t, "--launch", "x"},
       "run: --launch has no effect with --device: FOLDER is a trace"},
      {{"run", t, "--accelsim-config", ""}, "--accelsim-config: a file's name is empty"},
      {{"exec", "--record", "", "--", "/bin/true"}, "--record: the file's name is empty"},
      {{"exec", "-q", "--", ""},
       "exec: no program; expected `lockstep exec [options] -- PROGRAM [ARGUMENTS]`"},
      {{"run", t, "--set", ""}, "--set '': expected KEY=VALUE"},
      {{"run", t, "--set", "l1.ways"}, "--set 'l1.ways': expected KEY=VALUE"},
      {{"run", t, "-o", t + "/kernelslist.g"}, t + "/kernelslist.g: cannot make the folder: Not a directory"},
  });
}

TEST_CASE("usage: sweep runs, lists, collects, submits or is a task, one of them") {
  const UsageBench bench;
  const std::string& s = bench.study;
  check_refused_lines({
      {{"sweep", s, "--list", "--collect"}, "sweep: --list and --collect; expected one of them"},
      {{"sweep", s, "--task", "1", "--slurm"}, "sweep: --task and --slurm; expected one of them"},
      {{"sweep", s, "--list", "-j", "2"}, "sweep: --jobs has no effect with --list: nothing is run"},
      {{"sweep", s, "--collect", "--rerun", "all", "-t", "2"},
       "sweep: --threads, --rerun have no effect with --collect: nothing is run"},
      {{"sweep", s, "--task", "1", "--json"}, "sweep: --json has no effect with --task"},
      {{"sweep", s, "--slurm", "-j", "2"}, "sweep: --jobs has no effect with --slurm"},
      {{"sweep", s, "--rerun", "some"}, "--rerun: found 'some', expected failed or all"},
      {{"sweep", s, "--task", "0"}, "--task: found '0', expected a whole number from 1 to 1000000"},
      {{"sweep", s, "--task", "9"}, "--task: found 9, expected 1 to 1"},
      {{"sweep", s, "-j", "0"}, "--jobs: found '0', expected a whole number from 1 to 1024"},
      {{"sweep", s, "-t", "1025"}, "--threads: found '1025', expected a whole number from 1 to 1024"},
      {{"sweep", s, "-o", ""}, "--out: the folder's name is empty"},
      {{"sweep", s, "--base", ""}, "--base: the folder's name is empty"},
      {{"sweep", s, "--base", bench.folder / "none"},
       "--base: " + (bench.folder / "none") + " is not a folder"},
      {{"sweep", s, "--base", s}, "--base: " + s + " is not a folder"},
      {{"sweep", s, "--", "-p", "short"}, "sweep: what follows -- is for sbatch; expected --slurm with it"},
      {{"sweep", bench.folder / "none.toml"},
       bench.folder / "none.toml" + ": cannot be opened: No such file or directory"},
  });
}

TEST_CASE("usage: convert, info, lower, stats and config") {
  const UsageBench bench;
  const std::string& t = bench.trace;
  spill(bench.folder / "broken.ptx", ".version 8.0\n.target sm_80\n.bogus\n");
  const std::string broken = bench.folder / "broken.ptx";
  check_refused_lines({
      {{"convert", t, "o.lst", "--level", "0"}, "--level: found '0', expected a whole number from 1 to 22"},
      {{"convert", t, "o.lst", "--level", "23"}, "--level: found '23', expected a whole number from 1 to 22"},
      {{"convert", t}, "convert: OUT is missing (usage: lockstep convert TRACE OUT [options])"},
      {{"info", t, "--device", "0=" + t}, "info: found TRACE and --device; expected one of them"},
      {{"info", "--device", "1=" + t}, "--device: 0 is missing; expected 0 to 1, each once"},
      {{"lower", broken},
       broken + ":3: column 1: found '.bogus'; expected a directive of modules (.entry, .func, .global, "
                ".file ...)"},
      {{"lower", bench.folder / "none.ptx"}, bench.folder / "none.ptx" + ": cannot be read as PTX text"},
      {{"stats", "--schema", "--json"},
       "stats: --json has no effect with --schema, which is JSON and has all statistics"},
      {{"stats", "--markdown", "--schema"},
       "stats: --schema has no effect with --markdown, the page on all statistics"},
      {{"config", "v100", "a100"}, "config: too many arguments (usage: lockstep config [GPU] [options])"},
      {{"config", "--assumed", "--accelsim-config", "x"},
       "config: --accelsim-config has no effect with --assumed: expected one of them"},
      {{"config", "dgx_a100", "--assumed"},
       "config: --assumed has no effect with a system: expected one of its devices"},
  });
  for (const std::vector<std::string>& nameless :
       {std::vector<std::string>{"run", t}, {"config"}, {"record", "o.lst", "--", "/bin/true"}}) {
    std::vector<std::string> arguments = nameless;
    arguments.insert(arguments.begin() + 1, {"-c", ""});
    const Finished result = run(arguments);
    CAPTURE(arguments, result.err);
    CHECK((result.code == 2 && result.out.empty() && count_lines(result.err) == 1));
    CHECK_THAT(result.err, Catch::StartsWith("lockstep: error: '' is neither a GPU model (v100, "));
  }
}

TEST_CASE("usage: files of Accel-Sim, the launch script and the configuration are kept from the outputs") {
  const UsageBench bench;
  const std::string ini = bench.folder / "g.ini", script = bench.folder / "s.launch",
                    ptx = bench.folder / "k.ptx";
  spill(ini, "include = v100\n");
  spill(script, slurp(LOCKSTEP_SOURCE_DIR "/examples/vector_add.launch"));
  spill(ptx, slurp(kVectorAddPtx));
  spill(bench.folder / "a.config", "-gpgpu_n_mem 32\n");
  const auto read_here = [](const std::string& option, const std::string& file) {
    return option + ": " + file + " is a file that is read here; expected the name of another";
  };
  const std::string accelsim = bench.folder / "a.config";
  check_refused_lines({
      {{"run", bench.trace, "-c", ini, "--timeline", ini}, read_here("--timeline", ini)},
      {{"run", bench.trace, "-c", ini, "-t", "1", "--work-log", ini}, read_here("--work-log", ini)},
      {{"run", bench.trace, "--accelsim-config", accelsim, "--timeline", accelsim},
       read_here("--timeline", accelsim)},
      {{"run", ptx, "--launch", script, "--timeline", script}, read_here("--timeline", script)},
      {{"record", script, "--launch", script, "--", ptx}, read_here("OUT", script)},
      {{"record", ptx, "--launch", script, "--", ptx}, read_here("OUT", ptx)},
      {{"record", ini, "-c", ini, "--", "/bin/true"}, read_here("OUT", ini)},
      {{"record", LOCKSTEP_DRIVER_EXAMPLE, "--", LOCKSTEP_DRIVER_EXAMPLE},
       read_here("OUT", LOCKSTEP_DRIVER_EXAMPLE)},
      {{"exec", "--record", LOCKSTEP_DRIVER_EXAMPLE, "--", LOCKSTEP_DRIVER_EXAMPLE},
       read_here("--record", LOCKSTEP_DRIVER_EXAMPLE)},
      {{"exec", "-c", ini, "--timeline", ini, "--", LOCKSTEP_DRIVER_EXAMPLE}, read_here("--timeline", ini)},
  });
  CHECK(slurp(ini) == "include = v100\n");
  CHECK(slurp(ptx) == slurp(kVectorAddPtx));
}

}  // namespace lockstep::cli
