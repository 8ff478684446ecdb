// A trace of .tracez files is as good as its text.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "paths.hpp"
#include "tests/cli/program.hpp"
#include "tests/trace/tracez_writer.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

/// The bundled trace in `folder`, each kernel as .tracez.
void write_tracez(const std::string& name, const fs::path& folder) {
  fs::create_directories(folder);
  std::istringstream list(slurp(LOCKSTEP_SOURCE_DIR "/traces/" + name + "/kernelslist.g"));
  std::ofstream out(folder / "kernelslist.g");
  for (std::string line; std::getline(list, line);) {
    const std::size_t end = line.find(".traceg");
    if (end == std::string::npos) {
      out << line << "\n";
      continue;
    }
    const std::string kernel = line.substr(0, end);
    out << kernel << ".tracez\n";
    std::ofstream(folder / (kernel + ".tracez"), std::ios::binary) << trace::test::tracez_of(
        trace::test::text_of(LOCKSTEP_SOURCE_DIR "/traces/" + name + "/" + kernel + ".traceg.xz"));
  }
}

/// Results name their trace by its hash, which is that of other files here.
std::string without_hash(std::string text, const std::string& hash) {
  for (std::size_t at = text.find(hash); at != std::string::npos; at = text.find(hash, at))
    text.replace(at, hash.size(), "HASH");
  return text;
}
std::string hash_in(const std::string& stats) {
  return nlohmann::json::parse(stats)["trace"]["hash"].get<std::string>();
}

}  // namespace

TEST_CASE("the bundled traces as .tracez give the same statistics, by any number of threads, and convert") {
  const Folder folder;
  for (const char* name : {"chain", "mixed", "random", "sgemm", "streaming"}) {
    CAPTURE(name);
    const std::string mine = folder / name, text = LOCKSTEP_SOURCE_DIR "/traces/" + std::string(name);
    write_tracez(name, mine);
    REQUIRE(run({"run", text, "--out", folder / "text"}).code == 0);
    const std::string stats = slurp(folder / "text/stats.json");
    const std::string expected = without_hash(stats, hash_in(stats));
    for (const char* threads : {"1", "2"}) {
      REQUIRE(run({"run", mine, "--out", folder / "tracez", "--threads", threads}).code == 0);
      const std::string got = slurp(folder / "tracez/stats.json");
      CHECK(without_hash(got, hash_in(got)) == expected);
      CHECK(hash_in(got) != hash_in(stats));
    }
    CHECK(run({"info", mine}).code == 0);
    const std::string compact = folder / (std::string(name) + ".lst");
    REQUIRE(run({"convert", mine, compact}).code == 0);
    REQUIRE(run({"run", compact, "--out", folder / "compact"}).code == 0);
    CHECK(slurp(folder / "compact/stats.json") == slurp(folder / "tracez/stats.json"));
  }
}

TEST_CASE("a .tracez that is cut short is an error that names file and offset") {
  const Folder folder;
  write_tracez("chain", folder / "t");
  const std::string file = folder / "t/kernel-1.tracez", all = slurp(file);
  std::ofstream(file, std::ios::binary) << all.substr(0, all.size() / 2);
  const Finished cut = run({"run", folder / "t"});
  CHECK(cut.code == 2);
  CHECK_THAT(cut.err, Catch::Contains("kernel-1.tracez: byte ") && Catch::Contains("cut short"));
}

}  // namespace lockstep::cli
