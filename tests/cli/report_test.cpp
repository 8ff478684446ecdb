// `lockstep report` and `--profile` from outside.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "tests/cli/support.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
const std::string kSgemm = std::string(LOCKSTEP_SOURCE_DIR) + "/traces/sgemm";

}  // namespace

TEST_CASE("report writes one page of a run") {
  const Folder folder;
  REQUIRE(run({"run", kSgemm, "-q", "--profile", "--interval", "1000", "-o", folder / "out"}).code == 0);
  const Finished made = run({"report", folder / "out", "-o", folder / "page.html"});
  CHECK(made.code == 0);
  CHECK(made.out == "report in " + (folder / "page.html") + "\n");
  const std::string page = slurp(folder / "page.html");
  for (const char* part : {"Where the time goes", "bound by", "Over time", "machine instruction"})
    CHECK(has(page, part));
  const Finished json = run({"report", folder / "out", "--json"});
  CHECK(json.code == 0);
  CHECK_FALSE(nlohmann::json::parse(json.out)["runs"][0]["kernels"][0]["bound"].get<std::string>().empty());
}

TEST_CASE("report compares two runs") {
  const Folder folder;
  REQUIRE(run({"run", kSgemm, "-q", "-o", folder / "a"}).code == 0);
  REQUIRE(run({"run", kSgemm, "-q", "-c", "a100", "-o", folder / "b"}).code == 0);
  CHECK(run({"report", folder / "a", folder / "b", "-o", folder / "page.html"}).code == 0);
  CHECK(has(slurp(folder / "page.html"), "Differences"));
  CHECK(run({"report", folder / "a", folder / "b", folder / "a"}).code == 2);
}

TEST_CASE("report says what is wrong, and writes nothing then") {
  const Folder folder;
  const Finished none = run({"report", folder / "none", "-o", folder / "page.html"});
  CHECK(none.code == 2);
  CHECK(has(none.err, "no folder; expected one that `lockstep run -o` or `exec -o` has written"));
  fs::create_directory(folder / "empty");
  CHECK(run({"report", folder / "empty", "-o", folder / "page.html"}).code == 2);
  CHECK_FALSE(fs::exists(folder / "page.html"));
  CHECK(run({"report", folder / "none", "--json", "-o", "x.html"}).code == 2);
}

TEST_CASE("--profile needs a folder, and a run without it removes the old profile") {
  const Folder folder;
  const Finished idle = run({"run", kSgemm, "--profile"});
  CHECK(idle.code == 2);
  CHECK(has(idle.err, "profile.json"));
  REQUIRE(run({"run", kSgemm, "-q", "--profile", "-o", folder / "out"}).code == 0);
  const std::string stats = slurp(folder / "out/stats.json");
  CHECK(fs::exists(folder / "out/profile.json"));
  REQUIRE(run({"run", kSgemm, "-q", "-o", folder / "out"}).code == 0);
  CHECK_FALSE(fs::exists(folder / "out/profile.json"));
  CHECK(slurp(folder / "out/stats.json") == stats);
}

TEST_CASE("a profiled program's instructions are shown with their PTX") {
  const Folder folder;
  const Finished exec = run({"exec", "-q", "--profile", "-o", folder / "out", "--", LOCKSTEP_DRIVER_EXAMPLE,
                             std::string(LOCKSTEP_SOURCE_DIR) + "/examples/ptx/vector_add.ptx"});
  REQUIRE(exec.code == 0);
  const auto profile = nlohmann::json::parse(slurp(folder / "out/profile.json"));
  bool load = false, add = false;
  for (const auto& i : profile["codes"][0]["instructions"]) {
    const std::string text = i["text"], ptx = i.value("ptx", "");
    load |= has(text, "LDG") && has(ptx, "ld.global");
    add |= has(text, "FADD") && has(ptx, "add.f32");
  }
  CHECK(load);
  CHECK(add);
  REQUIRE(run({"report", folder / "out", "-o", folder / "page.html"}).code == 0);
  CHECK(has(slurp(folder / "page.html"), "ld.global"));
}

}  // namespace lockstep::cli
