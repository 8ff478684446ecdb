// Output that cannot be written is an error; a kill leaves no half-written file.
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "paths.hpp"
#include "tests/cli/support.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

const std::string kSource = LOCKSTEP_SOURCE_DIR;
const std::string kScript = kSource + "/examples/vector_add.launch";
const std::string kFull = "lockstep: error: standard output: cannot be written: No space left on device\n";

/// Each command with arguments that make it print something.
std::map<std::string, std::vector<std::string>> printing_commands(const Folder& folder) {
  return {{"run", {kChain}},
          {"exec", {"--functional", "--", "/bin/true", "--help"}},
          {"record", {"--help"}},
          {"script", {"--help"}},
          {"info", {kChain}},
          {"config", {}},
          {"compare", {folder / "a", folder / "b"}},
          {"report", {folder / "a", "-o", folder / "report.html"}},
          {"sweep", {LOCKSTEP_SOURCE_DIR "/studies/quick.toml", "--list", "-o", folder / "study"}},
          {"correlate", {folder / "a", "--hardware", folder / "measured.csv"}},
          {"stats", {}},
          {"convert", {kChain, folder / "a.lst"}},
          {"export", {"goal", kChain, folder / "a", "-o", folder / "a.goal"}},
          {"lower", {kVectorAddPtx}},
          {"synth", {"chain", "--out", folder / "t"}}};
}

std::set<std::string> listed_commands() {
  std::istringstream help(run({"--help"}).out);
  std::set<std::string> names;
  bool list = false;
  for (std::string line; std::getline(help, line);) {
    if (line == "Commands:") list = true;
    if (list && line.empty()) break;
    if (list && line.starts_with("  ")) names.insert(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

Finished with_full_output(const std::vector<std::string>& arguments) {
  Launch launch;
  launch.arguments = arguments;
  launch.out = "/dev/full";
  return run(launch);
}

Finished shell(const std::string& command) {
  Launch launch;
  launch.program = "/bin/bash";
  launch.arguments = {"-c", "set -o pipefail; " + command};
  return run(launch);
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

/// A launch script whose kernel has no end, after a short one that is recorded.
void write_endless(const Folder& folder) {
  spill(folder / "endless.ptx",
        ".version 8.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry quick(.param .u64 p)\n{\n  ret;\n}\n"
        ".visible .entry endless(.param .u64 p)\n{\n  .reg .u32 %r<2>;\n  mov.u32 %r1, 0;\n"
        "again:\n  add.u32 %r1, %r1, 1;\n  bra again;\n}\n");
  spill(folder / "endless.launch",
        "buffer b 64\nlaunch quick grid 1 block 32 args b\nwait\nlaunch endless grid 4 block 64 args b\n");
}

}  // namespace

TEST_CASE("every command says that standard output is lost, and ends with code 4") {
  const Folder folder;
  REQUIRE(run({"run", kChain, "-q", "-o", folder / "a"}).code == 0);
  REQUIRE(run({"run", kChain, "-q", "-c", "a100", "-o", folder / "b"}).code == 0);
  std::ofstream(folder / "measured.csv") << "kernel,elapsed_ns\nsolver_myocyte,1000\n";
  const auto commands = printing_commands(folder);
  std::set<std::string> names;
  for (const auto& [name, arguments] : commands) {
    names.insert(name);
    INFO(name);
    const Finished help = with_full_output({name, "--help"});
    CHECK(help.code == 4);
    CHECK(help.err == kFull);
    if (name == "exec") continue;  // what a program prints is its own
    std::vector<std::string> words{name};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const Finished done = with_full_output(words);
    CHECK(done.code == 4);
    CHECK_THAT(done.err, Catch::EndsWith(kFull));
  }
  CHECK(names == listed_commands());
  for (const char* option : {"--help", "--version"}) {
    CHECK(with_full_output({option}).code == 4);
    CHECK(with_full_output({option}).err == kFull);
  }
  CHECK(with_full_output({"run", kVectorAddPtx, "--launch", kScript}).code == 4);
  CHECK(with_full_output({"config", "--assumed"}).code == 4);
}

TEST_CASE("an error keeps its own exit code where standard output is lost, too") {
  CHECK(with_full_output({"run", "/none"}).code == 2);
}

TEST_CASE("results are kept where only the summary is lost") {
  const Folder folder;
  Launch launch;
  launch.arguments = {"run", kChain, "-o", folder / "out"};
  launch.out = "/dev/full";
  CHECK(run(launch).code == 4);
  CHECK(nlohmann::json::parse(slurp(folder / "out/stats.json"))["partial"] == false);
  // A closed standard output: no file may take its number.
  const Finished closed =
      shell(std::string(LOCKSTEP_BINARY) + " run " + kChain + " -o " + folder / "closed" + " >&-");
  CHECK(closed.code == 4);
  CHECK(slurp(folder / "closed/stats.json") == slurp(folder / "out/stats.json"));
}

TEST_CASE("a reader that goes away ends a command quietly") {
  const Finished head = shell(std::string(LOCKSTEP_BINARY) + " config v100 | head -1");
  CHECK(head.err.empty());
  CHECK((head.code == 141 || head.code == 0));  // 0: all was in the pipe before its reader went
  const Finished none = shell(std::string("(sleep 0.3; ") + LOCKSTEP_BINARY + " stats) | true");
  CHECK(none.err.empty());
  CHECK(none.code == 141);
}

TEST_CASE("messages that cannot be written do no harm") {
  Launch launch;
  launch.arguments = {"run", kChain};
  launch.err = "/dev/full";
  CHECK(run(launch).code == 0);
  launch.arguments = {"run", "/none"};
  CHECK(run(launch).code == 2);
}

TEST_CASE("a full disk under -o is an error and leaves nothing half-written") {
  const Folder folder;
  fs::create_directory(folder / "disk");
  if (mount("none", (folder / "disk").c_str(), "tmpfs", 0, "size=16k") != 0) return;  // for root only
  const Finished done = run({"run", kChain, "-o", folder / "disk/out"});
  const Finished converted = run({"convert", kChain, folder / "disk/a.lst"});
  const Finished synth = run({"synth", "mixed", "--out", folder / "disk/t"});
  for (const auto& entry : fs::recursive_directory_iterator(folder / "disk"))
    CHECK(entry.path().filename().string().find("tmp") == std::string::npos);
  CHECK(!fs::exists(folder / "disk/out/stats.json"));
  CHECK(!fs::exists(folder / "disk/t/kernelslist.g"));
  umount((folder / "disk").c_str());
  CHECK(done.code == 4);
  CHECK_THAT(done.err, Catch::Contains("No space left on device"));
  CHECK(synth.code == 4);
  CHECK((converted.code == 4 || converted.code == 0));
}

TEST_CASE("a result file that is a full device is an error") {
  const Folder folder;
  fs::create_symlink("/dev/full", folder / "timeline");
  const Finished done = run({"run", kChain, "--timeline", folder / "timeline"});
  CHECK(done.code == 4);
  CHECK(done.err == "lockstep: error: " + folder / "timeline: cannot be written: No space left on device\n");
}

TEST_CASE("files that cannot be written are refused before the run, and before the program") {
  const Folder folder;
  for (const char* option : {"--timeline", "--work-log"}) {
    INFO(option);
    const Finished done = run({"run", kChain, "--threads", "1", option, folder / "none/x"});
    CHECK(done.code == 2);
    CHECK(done.out.empty());
    CHECK(done.err ==
          "lockstep: error: " + folder / "none/x: cannot be written: No such file or directory\n");
  }
  const std::string touch = "touch " + folder / "ran";
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{"exec", "-o", "/proc/none"},
                                             {"exec", "--timeline", folder / "none/x"},
                                             {"exec", "--record", folder / "none/x"},
                                             {"exec", "--functional", "--record", folder.path()},
                                             {"record", folder / "none/x"},
                                             {"exec", "--managed", "all", "--gpu-memory", "0.5x"},
                                             {"exec", "--managed", "none", "--gpu-memory", "1MiB"}}) {
    std::vector<std::string> words = options;
    for (const char* word : {"--", "/bin/sh", "-c"}) words.emplace_back(word);
    words.push_back(touch);
    const Finished done = run(words);
    CAPTURE(done.err);
    CHECK(done.code == 2);
    CHECK(count_lines(done.err) == 1);
    CHECK(done.err.find("run:") == std::string::npos);
    CHECK(!fs::exists(folder / "ran"));
  }
}

TEST_CASE("a conversion that is killed leaves nothing") {
  const Folder folder;
  REQUIRE(run({"synth", "random", "--out", folder / "t", "--ctas", "20000"}).code == 0);
  Program program({.arguments = {"convert", folder / "t", folder / "a.lst", "--level", "22"}});
  REQUIRE(program.writes(folder.path(), 13));
  program.send(SIGKILL);
  CHECK(program.wait().code == 128 + SIGKILL);
  CHECK(names_in(folder.path()) == std::set<std::string>{"t"});
}

TEST_CASE("a recording that is killed leaves nothing, and the next run removes its temporary folder") {
  const Folder folder;
  write_endless(folder);
  const std::set<std::string> before{"endless.ptx", "endless.launch", "tmp"};
  fs::create_directory(folder / "tmp");
  const std::vector<std::pair<std::string, std::string>> environment{{"TMPDIR", folder / "tmp"}};
  const std::vector<std::string> record{
      "record", folder / "a.lst", "--launch", folder / "endless.launch", "--", folder / "endless.ptx"};
  const std::vector<std::string> simulate{"run", folder / "endless.ptx", "--launch",
                                          folder / "endless.launch"};
  for (const auto& arguments : {record, simulate}) {
    Launch launch;
    launch.arguments = arguments;
    launch.environment = environment;
    Program program(launch);
    REQUIRE(program.writes(folder.path(), 13));
    program.send(SIGKILL);
    CHECK(program.wait().code == 128 + SIGKILL);
    CHECK(names_in(folder.path()) == before);
    // The program that it has started ends, too; until then its folder is in use.
    launch.arguments = {"run", kVectorAddPtx, "--launch", kScript, "-q"};
    for (int i = 0; i < 100 && !names_in(folder / "tmp").empty(); ++i) {
      CHECK(run(launch).code == 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    CHECK(names_in(folder / "tmp").empty());
  }
}

TEST_CASE("a kernel without end is stopped by --max-instructions, and the report says where") {
  const Folder folder;
  write_endless(folder);
  std::string stats;
  for (const char* threads : {"1", "2"}) {
    const Finished done =
        run({"run", folder / "endless.ptx", "--launch", folder / "endless.launch", "--max-instructions",
             "1000000", "--threads", threads, "-o", folder / threads});
    CAPTURE(done.err);
    CHECK(done.code == 2);
    CHECK_THAT(done.err,
               Catch::Contains("kernel endless has no end within --max-instructions; its warps stand at"));
    CHECK_THAT(done.err, Catch::Contains("endless.launch:4: "));
    CHECK_THAT(done.err, Catch::Contains("endless.ptx:1"));
    CHECK_THAT(done.out, Catch::Contains("PARTIAL RESULTS: max-instructions; kernels marked *"));
    CHECK_THAT(done.out, Catch::Contains("endless*"));
    const auto report = nlohmann::json::parse(slurp(folder / threads + "/stats.json"));
    CHECK(report["partial_reason"] == "max-instructions");
    if (stats.empty()) stats = slurp(folder / threads + "/stats.json");
    CHECK(slurp(folder / threads + "/stats.json") == stats);
  }
  const Finished trace = run({"run", kChain, "--max-instructions", "1"});
  CHECK(trace.code == 2);
  CHECK_THAT(trace.err, Catch::Contains("--max-instructions: a trace has been executed already"));
}

TEST_CASE("the report of a program whose kernel fails has its name, its hash, and the kernel with a mark") {
  const Folder folder;
  spill(folder / "trap.ptx",
        ".version 8.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry quick(.param .u64 p)\n{\n  ret;\n}\n"
        ".visible .entry fails(.param .u64 p)\n{\n  .reg .pred %q;\n  .reg .u32 %r<2>;\n  mov.u32 %r1, "
        "%ctaid.x;\n"
        "  setp.eq.u32 %q, %r1, 2;\n  @%q trap;\n  ret;\n}\n");
  spill(folder / "trap.launch",
        "buffer b 64\nlaunch quick grid 1 block 32 args b\nlaunch fails grid 5 block 32 args b\n");
  const Finished done =
      run({"run", folder / "trap.ptx", "--launch", folder / "trap.launch", "-o", folder / "out"});
  CAPTURE(done.err, done.out);
  CHECK(done.code == 2);
  const auto report = nlohmann::json::parse(slurp(folder / "out/stats.json"));
  CHECK(report["trace"]["name"] == "trap.ptx");
  CHECK(report["trace"]["hash"] != "0000000000000000");
  CHECK(report["partial_reason"] == "program");
  REQUIRE(report["kernels"].size() == 2);
  CHECK(report["kernels"][0]["name"] == "quick");
  CHECK(report["kernels"][0]["partial"] == false);
  CHECK(report["kernels"][1]["name"] == "fails");
  CHECK(report["kernels"][1]["id"] == 2);
  CHECK(report["kernels"][1]["partial"] == true);
  CHECK_THAT(report["remarks"].dump(),
             Catch::Contains("kernel 2 was not simulated: it failed after 2 of 5 CTAs"));
  CHECK_THAT(done.out, Catch::Contains("PARTIAL RESULTS: program; kernels marked *"));
  CHECK_THAT(done.out, Catch::Contains("fails*"));
}

TEST_CASE("a line on the terminal shows what a program executes") {
  int master = -1, slave = -1;
  if (openpty(&master, &slave, nullptr, nullptr, nullptr) != 0) return;  // no terminals on this machine
  fcntl(master, F_SETFL, O_NONBLOCK);
  const Folder folder;
  write_endless(folder);
  char text[4096];
  for (const bool functional : {false, true}) {
    while (read(master, text, sizeof text) > 0) continue;  // what the program before has left
    Launch launch;
    launch.arguments = {"run", folder / "endless.ptx", "--launch", folder / "endless.launch"};
    if (functional)
      launch.arguments = {"record", folder / "a.lst",      "--launch", folder / "endless.launch",
                          "--",     folder / "endless.ptx"};
    launch.environment = {{"TERM", "xterm"}};
    launch.err = ttyname(slave);
    Program program(launch);
    std::string shown;
    const auto complete = [&] {
      const auto line = shown.find("executing kernel 2 endless  CTA 0/4  ");
      return line != std::string::npos && shown.find("thread inst/s", line) != std::string::npos;
    };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!complete() && std::chrono::steady_clock::now() < deadline) {
      const auto length = read(master, text, sizeof text);
      if (length > 0) shown.append(text, static_cast<std::size_t>(length));
      if (length <= 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CAPTURE(shown);
    CHECK(complete());
    CHECK(shown.find("kernel 0/0") == std::string::npos);
    program.send(SIGTERM);
    CHECK(program.wait().code == 130);
  }
  close(slave);
  close(master);
}

TEST_CASE("a signal ends a program's run with what there is, and code 130") {
  const Folder folder;
  write_endless(folder);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    INFO(signal);
    Launch launch;
    launch.arguments = {"run", folder / "endless.ptx", "--launch", folder / "endless.launch",
                        "-o",  folder / "out"};
    launch.environment = {{"TMPDIR", folder.path()}};
    Program program(launch);
    REQUIRE(program.writes(folder.path(), 13));
    std::this_thread::sleep_for(std::chrono::seconds(2));  // the simulation receives the first kernel
    program.send(signal);
    const Finished done = program.wait();
    CAPTURE(done.err);
    CHECK(done.code == 130);
    const auto report = nlohmann::json::parse(slurp(folder / "out/stats.json"));
    CHECK(report["partial"] == true);
    CHECK(report["partial_reason"] == "interrupted");
    fs::remove_all(folder / "out");
  }
}

}  // namespace lockstep::cli
