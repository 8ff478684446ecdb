// An installation works from wherever it is.
#include <catch2/catch.hpp>
#include <filesystem>

#include "paths.hpp"
#include "tests/cli/program.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

/// `program` with these arguments, from a folder that has nothing to do with the build.
Finished installed(const std::string& program, std::vector<std::string> arguments,
                   const std::string& folder) {
  return run(Launch{.arguments = std::move(arguments), .folder = folder, .program = program});
}

void check_works(const std::string& program, const std::string& libraries, const Folder& folder) {
  CAPTURE(program);
  const Finished config = installed(program, {"config", "a100"}, folder.path());
  CHECK(config.code == 0);
  CHECK_THAT(config.out, Catch::Contains("name = a100\n"));
  CHECK(installed(program, {"run", "trace", "-q"}, folder.path()).code == 0);
  // What the program loads in place of NVIDIA's runtime; the loader says from where.
  const std::string source = LOCKSTEP_SOURCE_DIR;
  const Launch launch{
      .arguments = {"exec", "-q", "--", LOCKSTEP_DRIVER_EXAMPLE, source + "/examples/ptx/vector_add.ptx"},
      .environment = {{"LD_DEBUG", "libs"}},
      .folder = folder.path(),
      .program = program};
  const Finished exec = run(launch);
  CHECK(exec.code == 0);
  for (const char* library : {"liblockstep_hook.so", "libcudart.so.13"}) {
    const std::string loaded = "calling init: " + libraries + "/" + library;
    INFO(loaded);
    CHECK((exec.err.find(loaded) != std::string::npos));
  }
}

}  // namespace

TEST_CASE("an installation runs traces and programs, moved or linked to as well") {
  const Folder folder;
  write_trace(folder / "trace", {});
  const std::string prefix = folder / "first";
  const Finished done = run(
      Launch{.arguments = {"--install", LOCKSTEP_BUILD_DIR, "--prefix", prefix}, .program = LOCKSTEP_CMAKE});
  INFO(done.out << done.err);
  REQUIRE(done.code == 0);
  const std::string temporary = fs::canonical(folder.path()).string();
  check_works(prefix + "/bin/lockstep", temporary + "/first/lib/lockstep", folder);
  CHECK(fs::exists(prefix + "/lib/lockstep/libcudart.so.12"));
  const std::string moved = folder / "moved";
  fs::rename(prefix, moved);
  check_works(moved + "/bin/lockstep", temporary + "/moved/lib/lockstep", folder);
  fs::create_symlink(moved + "/bin/lockstep", folder / "link");
  check_works(folder / "link", temporary + "/moved/lib/lockstep", folder);
  CHECK_THAT(slurp(moved + "/share/man/man1/lockstep-run.1"), Catch::Contains("\\-\\-max\\-cycles"));
}

TEST_CASE("the Debian package has all that the program needs, and asks for no MPI", "[long]") {
  if (!fs::exists("/usr/bin/dpkg-shlibdeps")) {
    WARN("not on Debian, or without dpkg-dev: no package is made");
    return;
  }
  const Folder folder;
  const auto output_of = [&](const std::string& program, std::vector<std::string> arguments) {
    const Finished done =
        run(Launch{.arguments = std::move(arguments), .folder = folder.path(), .program = program});
    INFO(done.out << done.err);
    REQUIRE(done.code == 0);
    return done.out;
  };
  output_of(LOCKSTEP_CPACK, {"-G", "DEB", "--config", LOCKSTEP_BUILD_DIR "/CPackConfig.cmake", "-B",
                             folder / "packages", "-D", "CPACK_COMPONENTS_ALL=program"});
  std::vector<std::string> made;
  for (const auto& entry : fs::directory_iterator(folder / "packages"))
    if (entry.path().extension() == ".deb") made.push_back(entry.path());
  REQUIRE(made.size() == 1);
  const std::string depends = output_of("/usr/bin/dpkg-deb", {"-f", made[0], "Depends"});
  for (const char* needed : {"libboost-program-options", "libfmt", "libzstd", "libstdc++6"})
    CHECK_THAT(depends, Catch::Contains(needed));
  CHECK_THAT(depends, !Catch::Contains("mpi"));
  const std::string unpacked = folder / "unpacked";
  output_of("/usr/bin/dpkg-deb", {"-x", made[0], unpacked});
  write_trace(folder / "trace", {});
  check_works(unpacked + "/usr/bin/lockstep", fs::canonical(unpacked).string() + "/usr/lib/lockstep", folder);
}

TEST_CASE("A program is built around the installed library, and simulates what `lockstep run` does",
          "[long]") {
  const Folder folder;
  const auto cmake = [&](std::vector<std::string> arguments) {
    const Finished done =
        run(Launch{.arguments = std::move(arguments), .folder = folder.path(), .program = LOCKSTEP_CMAKE});
    INFO(done.out << done.err);
    REQUIRE(done.code == 0);
  };
  const std::string prefix = folder / "prefix", build = folder / "build";
  cmake({"--install", LOCKSTEP_BUILD_DIR, "--prefix", prefix});
  cmake({"-S", LOCKSTEP_SOURCE_DIR "/examples/library", "-B", build, "-DCMAKE_PREFIX_PATH=" + prefix});
  cmake({"--build", build});
  const std::string trace = LOCKSTEP_SOURCE_DIR "/traces/sgemm";
  const Finished study = installed(build + "/study", {trace, "v100"}, folder.path());
  INFO(study.out << study.err);
  REQUIRE(study.code == 0);
  CHECK_THAT(study.out, Catch::Contains("uvm.prefetcher=next"));
  REQUIRE(installed(prefix + "/bin/lockstep", {"run", trace, "-c", "v100", "-q", "-o", "run"}, folder.path())
              .code == 0);
  for (const char* file : {"stats.json", "stats.csv", "config.ini"}) {
    INFO(file);
    CHECK((slurp(folder / "study-results" + ("/" + std::string(file))) ==
           slurp(folder / "run" + ("/" + std::string(file)))));
  }
  CHECK(installed(build + "/study", {"nowhere"}, folder.path()).code == 2);
}

}  // namespace lockstep::cli
