// Outputs that would take the place of what is read.
#include "cli/inputs.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/cli/support.hpp"

namespace lockstep::cli {
namespace {

/// The command is refused in one line that names option and file, which stays as it is.
void check_kept(const std::vector<std::string>& arguments, const std::string& option,
                const std::string& file) {
  const std::string before = slurp(file);
  REQUIRE(!before.empty());
  const Finished result = run(arguments);
  CAPTURE(arguments, result.out);
  CHECK(result.code == 2);
  CHECK(result.err == "lockstep: error: " + option + ": " + file +
                          " is a file that is read here; expected the name of another\n");
  CHECK(slurp(file) == before);
}

}  // namespace

TEST_CASE("Files of a trace are known by any path, new files beside them are none") {
  const Folder folder;
  write_trace(folder / "t", {});
  spill(folder / "t/notes.txt", "x");
  std::filesystem::create_symlink(folder / "t", folder / "link");
  const std::string trace = folder / "t";
  CHECK(is_file_of_trace(folder / "t/kernelslist.g", trace));
  CHECK(is_file_of_trace(folder / "t/../t/kernel-1.traceg", trace));
  CHECK(is_file_of_trace(folder / "link/kernel-1.traceg", trace));
  CHECK(is_file_of_trace(folder / "t/kernel-1.traceg", folder / "t/kernelslist.g"));
  CHECK(is_file_of_trace(folder / "t/notes.txt", folder / "t/notes.txt"));
  CHECK_FALSE(is_file_of_trace(folder / "t/kernelslist.g", folder / "t/kernel-1.traceg"));
  CHECK_FALSE(is_file_of_trace(folder / "t/notes.txt", trace));
  CHECK_FALSE(is_file_of_trace(folder / "t/kernel-2.traceg", trace));  // not there
  CHECK_FALSE(is_file_of_trace("", trace));
  CHECK_FALSE(is_file_of_trace(trace, trace));
}

TEST_CASE("No output takes the place of the trace") {
  const Folder folder;
  write_trace(folder / "t", {});
  const std::string trace = folder / "t", list = folder / "t/kernelslist.g", compact = folder / "t/small.lst";
  check_kept({"convert", trace, list}, "OUT", list);
  check_kept({"convert", trace, folder / "t/kernel-1.traceg"}, "OUT", folder / "t/kernel-1.traceg");
  REQUIRE(run({"convert", trace, compact}).code == 0);
  CHECK(run({"convert", trace, compact}).code == 0);  // an earlier output is no input
  check_kept({"convert", compact, compact}, "OUT", compact);
  check_kept({"run", compact, "--timeline", compact}, "--timeline", compact);
  check_kept({"run", trace, "--timeline", list}, "--timeline", list);
  check_kept({"run", trace, "-t", "1", "--work-log", list}, "--work-log", list);
  check_kept({"run", "--device", "0=" + trace, "--timeline", list}, "--timeline", list);
}

TEST_CASE("No output takes the place of results or measurements") {
  const Folder folder;
  write_trace(folder / "t", {});
  const std::string results = folder / "r", measured = folder / "m.csv", pairs = folder / "p.csv";
  REQUIRE(run({"run", folder / "t", "-q", "-o", results}).code == 0);
  for (const char* name : {"stats.json", "stats.csv", "config.ini", "host.json"})
    check_kept({"report", results, "-o", results + "/" + name}, "--out", results + "/" + name);
  CHECK(run({"report", results, "-o", results + "/report.html"}).code == 0);
  CHECK(run({"report", results, "-o", results + "/report.html"}).code == 0);
  const std::string stats = slurp(results + "/stats.json");
  const std::size_t name = stats.find("\"name\":\"", stats.find("\"kernels\"")) + 8;
  spill(measured, "kernel,cycles\n" + stats.substr(name, stats.find('"', name) - name) + ",1000\n");
  const std::vector<std::string> base{"correlate", results, "--hardware", measured, "--csv"};
  const auto with = [&](const std::string& csv) {
    auto arguments = base;
    arguments.push_back(csv);
    return arguments;
  };
  check_kept(with(measured), "--csv", measured);
  check_kept(with(results + "/stats.json"), "--csv", results + "/stats.json");
  REQUIRE(run(with(pairs)).code == 0);
  check_kept({"correlate", pairs, "--csv", pairs}, "--csv", pairs);
}

}  // namespace lockstep::cli
