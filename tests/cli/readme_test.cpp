#include <catch2/catch.hpp>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "paths.hpp"
#include "tests/cli/program.hpp"

namespace lockstep::cli {

TEST_CASE("README's example is what the program says (`./dev docs` writes it)") {
  const std::string readme = slurp(LOCKSTEP_SOURCE_DIR "/README.md");
  const Folder folder;
  const std::string trace = folder / "sgemm";
  REQUIRE(
      run({"synth", "sgemm", "--tiles-x", "16", "--tiles-y", "10", "--ktiles", "8", "--out", trace}).code ==
      0);
  const Finished result = run({"run", trace});
  REQUIRE(result.code == 0);
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.rfind("speed:", 0) == 0) continue;
    CHECK_THAT(readme, Catch::Contains("\n    " + line + "\n"));
  }
}

/// The commands of a page: lines of its code blocks that start the program, without their comments.
std::vector<std::string> printed_commands(const std::string& page) {
  std::istringstream lines(slurp(LOCKSTEP_SOURCE_DIR "/" + page));
  std::vector<std::string> commands;
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("    lockstep ", 0) == 0 && !std::isdigit(line[13]))
      commands.push_back(line.substr(4, line.find(" #") - 4));
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

namespace fs = std::filesystem;

/// A folder with links to what the pages' commands name, and how they are run in it.
class Reader {
 public:
  Reader() {
    const fs::path source = LOCKSTEP_SOURCE_DIR, examples = fs::path(LOCKSTEP_DRIVER_EXAMPLE).parent_path();
    fs::create_directories(folder_ / "build/release");
    fs::create_directory_symlink(examples, folder_ / "build/release/examples");
    for (const char* name : {"traces", "examples", "studies"})
      fs::create_directory_symlink(source / name, folder_ / name);
    fs::create_symlink(examples / "shmem/ping_pong", folder_ / "ping_pong");  // as nvcc would build it
  }

  Finished run(const std::string& command) const {
    const std::string path = fs::path(LOCKSTEP_BINARY).parent_path().string() + ":" + std::getenv("PATH");
    return cli::run(Launch{.arguments = {"-c", command},
                           .environment = {{"PATH", path}},
                           .folder = folder_.path(),
                           .program = "/bin/sh"});
  }

  fs::path operator/(const std::string& name) const { return folder_ / name; }

 private:
  Folder folder_;
};

TEST_CASE("the commands of README and of pages without outputs work as they are printed", "[long]") {
  const Reader reader;
  unsigned ran = 0;
  for (const char* page :
       {"README.md", "docs/commands.md", "docs/tracing.md", "docs/launch-script.md", "docs/networking.md"}) {
    for (const std::string& command : printed_commands(page)) {
      if (command.find("./program") != std::string::npos) continue;  // the reader's own
      CAPTURE(command);
      const Finished done = reader.run(command);
      CHECK(complaints(done.err) == "");
      CHECK(done.code == (command.find(" compare ") != std::string::npos ? 1 : 0));
      ++ran;
    }
  }
  CHECK(ran >= 23);
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

/// The exit code that a page's command has by what it does.
int expected_code(const std::string& command) {
  if (command.rfind("timeout ", 0) == 0) return 124;
  return command.rfind("lockstep compare ", 0) == 0 ? 1 : 0;
}

void check_examples(const Reader& reader, const std::string& page, std::size_t least) {
  const auto examples = examples_of(slurp(LOCKSTEP_SOURCE_DIR "/docs/" + page));
  CHECK(examples.size() >= least);
  for (const Example& example : examples) {
    CAPTURE(example.command);
    const Finished done = reader.run(example.command);
    CAPTURE(done.err);
    CHECK(done.code == expected_code(example.command));
    for (const std::string& line : example.output) CHECK_THAT(done.out + done.err, Catch::Contains(line));
  }
}

TEST_CASE("the commands of docs/studies.md print what stands below them", "[long]") {
  const Reader reader;
  check_examples(reader, "studies.md", 15);
  CHECK(slurp(reader / "clocks/figures/speedup.svg") ==
        slurp(LOCKSTEP_SOURCE_DIR "/docs/studies/quick-speedup.svg"));  // README's picture
}

TEST_CASE("the commands of docs/accelsim-howto.md print what stands below them", "[long]") {
  check_examples(Reader(), "accelsim-howto.md", 15);
}

TEST_CASE("the commands of docs/tutorial.md print what stands below them", "[long]") {
  check_examples(Reader(), "tutorial.md", 15);
}

}  // namespace lockstep::cli
