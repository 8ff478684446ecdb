// `lockstep convert`: the compact trace is as good as the text.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "paths.hpp"
#include "tests/cli/program.hpp"

namespace lockstep::cli {
namespace {

std::string bundled(const std::string& name) { return LOCKSTEP_SOURCE_DIR "/traces/" + name; }

}  // namespace

TEST_CASE("a converted trace gives the same statistics and the same info") {
  const Folder folder;
  for (const char* name : {"mixed", "chain"}) {
    CAPTURE(name);
    const std::string compact = folder / (std::string(name) + ".lst");
    const Finished converted = run({"convert", bundled(name), compact});
    REQUIRE(converted.code == 0);
    CHECK(converted.err.empty());
    CHECK_THAT(converted.out, Catch::StartsWith(compact + ": ") && Catch::Contains("warp instructions"));
    CHECK(run({"info", "--json", bundled(name)}).out == run({"info", "--json", compact}).out);
    CHECK(run({"info", bundled(name)}).out == run({"info", compact}).out);
    REQUIRE(run({"run", bundled(name), "--out", folder / "text"}).code == 0);
    for (const char* threads : {"1", "2"}) {
      REQUIRE(run({"run", compact, "--out", folder / "compact", "--threads", threads}).code == 0);
      for (const char* file : {"stats.json", "stats.csv"})
        CHECK(slurp(folder / "text/" + file) == slurp(folder / "compact/" + file));
    }
  }
}

TEST_CASE("one kernel and a compact trace itself are converted, too") {
  const Folder folder;
  write_trace(folder / "t", {});
  REQUIRE(run({"convert", folder / "t/kernel-1.traceg", folder / "a.lst", "--level", "1"}).code == 0);
  REQUIRE(run({"convert", folder / "a.lst", folder / "b.lst", "--level", "1"}).code == 0);
  CHECK(slurp(folder / "a.lst") == slurp(folder / "b.lst"));
  CHECK(run({"info", folder / "t/kernel-1.traceg"}).out == run({"info", folder / "b.lst"}).out);
}

TEST_CASE("conversions that cannot be done say why and write nothing") {
  const Folder folder;
  write_trace(folder / "t", {});
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& why) {
    const Finished result = run(arguments);
    CAPTURE(arguments, result.err);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK(count_lines(result.err) == 1);
    CHECK_THAT(result.err, Catch::StartsWith("lockstep: error: ") && Catch::Contains(why));
  };
  refused({"convert", folder / "t"}, "OUT is missing");
  refused({"convert", folder / "no", folder / "a.lst"}, "cannot open");
  refused({"convert", folder / "t", folder / "no/a.lst"}, "cannot be written: No such file");
  refused({"convert", folder / "t", folder.path()}, "cannot be written: Is a directory");
  refused({"convert", folder / "t", folder / "a.lst", "--level", "23"}, "level");
  spill(folder / "t/kernel-1.traceg", slurp(folder / "t/kernel-1.traceg").substr(0, 500));
  refused({"convert", folder / "t", folder / "a.lst"}, "kernel-1.traceg:");
  Launch full;
  full.arguments = {"convert", bundled("mixed"), folder / "a.lst"};
  full.file_limit = 1000;
  const Finished result = run(full);
  CHECK(result.code == 4);
  CHECK_THAT(result.err, Catch::Contains("a.lst: cannot be written: "));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("an interrupted conversion leaves nothing behind") {
  const Folder folder;
  REQUIRE(run({"synth", "random", "--out", folder / "t", "--ctas", "20000"}).code == 0);
  Launch launch;
  launch.arguments = {"convert", folder / "t", folder / "a.lst", "--level", "22"};
  Program program(launch);
  REQUIRE(program.writes(folder.path(), 13));
  program.send(SIGINT);
  const Finished result = program.wait();
  CHECK(result.code == 130);
  CHECK_THAT(result.err, Catch::Contains("interrupted"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a damaged compact trace is refused with its place") {
  const Folder folder;
  const std::string path = folder / "a.lst";
  REQUIRE(run({"convert", bundled("chain"), path}).code == 0);
  std::string bytes = slurp(path);
  bytes[40] ^= 4;
  spill(path, bytes);
  const Finished result = run({"run", path});
  CHECK(result.code == 2);
  CHECK_THAT(result.err, Catch::Contains("a.lst: compact trace, byte 12: ") && Catch::Contains("checksum"));
}

}  // namespace lockstep::cli
