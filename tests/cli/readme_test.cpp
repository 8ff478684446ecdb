#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/cli/program.hpp"

namespace lockstep::cli {

TEST_CASE("README's example is what the program says (`./dev docs` writes it)") {
  const std::string readme = slurp(LOCKSTEP_SOURCE_DIR "/README.md");
  const Finished result = run({"run", LOCKSTEP_SOURCE_DIR "/traces/sgemm"});
  REQUIRE(result.code == 0);
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.rfind("speed:", 0) == 0) continue;
    CHECK_THAT(readme, Catch::Contains("\n    " + line + "\n"));
  }
}

/// The commands of README's section "Use", without their comments.
std::vector<std::string> printed_commands() {
  std::istringstream lines(slurp(LOCKSTEP_SOURCE_DIR "/README.md"));
  std::vector<std::string> commands;
  bool use = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("## ", 0) == 0) use = line == "## Use";
    if (!use || line.rfind("    ", 0) != 0) continue;
    commands.push_back(line.substr(4, line.find(" #") - 4));
  }
  return commands;
}

/// What stands on stderr beside the lines of progress, which a slow build prints.
std::string complaints(const std::string& err) {
  std::istringstream lines(err);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    const bool kernel = line.rfind("kernel ", 0) == 0 || line.rfind("executing kernel ", 0) == 0;
    if (!kernel || line.find(" inst/s") == std::string::npos) found += line + "\n";
  }
  return found;
}

TEST_CASE("README's commands work as they are printed", "[long]") {
  namespace fs = std::filesystem;
  const Folder folder;
  const fs::path source = LOCKSTEP_SOURCE_DIR, examples = fs::path(LOCKSTEP_DRIVER_EXAMPLE).parent_path();
  fs::create_directories(folder / "build/release");
  fs::create_directory_symlink(examples, folder / "build/release/examples");
  for (const char* name : {"traces", "examples", "studies"})
    fs::create_directory_symlink(source / name, folder / name);
  const std::string path = fs::path(LOCKSTEP_BINARY).parent_path().string() + ":" + std::getenv("PATH");
  unsigned ran = 0;
  for (const std::string& command : printed_commands()) {
    if (command.find("./program") != std::string::npos) continue;  // the reader's own
    CAPTURE(command);
    const Finished done = run(Launch{.arguments = {"-c", command},
                                     .environment = {{"PATH", path}},
                                     .folder = folder.path(),
                                     .program = "/bin/sh"});
    CHECK(complaints(done.err) == "");
    CHECK(done.code == (command.find(" compare ") != std::string::npos ? 1 : 0));
    ++ran;
  }
  CHECK(ran >= 10);
}

/// A command of a page's examples, "$ lockstep ...", and the lines of output below it.
struct Example {
  std::string command;
  std::vector<std::string> output;
};

std::vector<Example> examples_of(const std::string& page) {
  std::istringstream lines(page);
  std::vector<Example> examples;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("    $ ", 0) == 0)
      examples.push_back({line.substr(6), {}});
    else if (line.rfind("    ", 0) == 0 && !examples.empty() && line != "    ...")
      examples.back().output.push_back(line.substr(4));
  }
  return examples;
}

TEST_CASE("the commands of docs/studies.md print what stands below them", "[long]") {
  namespace fs = std::filesystem;
  const Folder folder;
  for (const char* name : {"traces", "studies"})
    fs::create_directory_symlink(fs::path(LOCKSTEP_SOURCE_DIR) / name, folder / name);
  const std::string path = fs::path(LOCKSTEP_BINARY).parent_path().string() + ":" + std::getenv("PATH");
  const auto examples = examples_of(slurp(LOCKSTEP_SOURCE_DIR "/docs/studies.md"));
  CHECK(examples.size() >= 15);
  for (const Example& example : examples) {
    CAPTURE(example.command);
    const Finished done = run(Launch{.arguments = {"-c", example.command},
                                     .environment = {{"PATH", path}},
                                     .folder = folder.path(),
                                     .program = "/bin/sh"});
    CAPTURE(done.err);
    CHECK(done.code == (example.command.rfind("timeout ", 0) == 0 ? 124 : 0));
    for (const std::string& line : example.output) CHECK_THAT(done.out + done.err, Catch::Contains(line));
  }
  CHECK(slurp(folder / "clocks/figures/speedup.svg") ==
        slurp(LOCKSTEP_SOURCE_DIR "/docs/studies/quick-speedup.svg"));  // README's picture
}

}  // namespace lockstep::cli
