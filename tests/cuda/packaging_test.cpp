// One program in every way in which nvcc packages it (docs/compatibility.md), where nvcc is.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

struct Packaging {
  const char* name;
  const char* build;  // shell; SRC: the sources, in front of their names; NVCC: the compiler
  const char* run = "./program";
  const char* error = nullptr;  // what exec says; nullptr: it runs
  int code = 2;                 // exec's exit code then: 2, or the program's own
};

const Packaging kWays[] = {
    {"static runtime", "$NVCC -DALONE -DNAME=first $SRC.cu $SRC.cpp -o program"},
    {"shared runtime", "$NVCC -DALONE -DNAME=first -cudart shared $SRC.cu $SRC.cpp -o program"},
    {"hidden symbols",
     "$NVCC -DALONE -DNAME=first -Xcompiler -fvisibility=hidden $SRC.cu $SRC.cpp -o program"},
    {"shared object with the static runtime",
     "$NVCC -DALONE -DNAME=first -shared -Xcompiler -fPIC $SRC.cu -o liba.so && "
     "g++ $SRC.cpp -o program -L. -la -Wl,-rpath,."},
    {"two shared objects, each with a static runtime",
     "$NVCC -DALONE -DNAME=first -shared -Xcompiler -fPIC $SRC.cu -o liba.so && "
     "$NVCC -DALONE -DNAME=second -shared -Xcompiler -fPIC $SRC.cu -o libb.so && "
     "g++ -DSECOND $SRC.cpp -o program -L. -la -lb -Wl,-rpath,."},
    {"a program and a shared object, each with a static runtime",
     "$NVCC -DALONE -DNAME=second -shared -Xcompiler -fPIC $SRC.cu -o libb.so && "
     "$NVCC -DALONE -DNAME=first -DSECOND $SRC.cu $SRC.cpp -o program -L. -lb -Xlinker -rpath,."},
    {"dlopen of two objects with static runtimes",
     "$NVCC -DALONE -DNAME=first -shared -Xcompiler -fPIC $SRC.cu -o liba.so && "
     "$NVCC -DALONE -DNAME=second -shared -Xcompiler -fPIC $SRC.cu -o libb.so && "
     "g++ -DLOAD $SRC.cpp -o program -ldl",
     "./program ./liba.so first ./libb.so second"},
    {"dlopen of an object with the shared runtime",
     "$NVCC -DALONE -DNAME=first -cudart shared -shared -Xcompiler -fPIC $SRC.cu -o liba.so && "
     "g++ -DLOAD $SRC.cpp -o program -ldl",
     "./program ./liba.so first"},
    {"relocatable device code", "$NVCC -rdc=true -DNAME=first $SRC.cu ${SRC}_device.cu $SRC.cpp -o program"},
    {"dlopen of relocatable device code",
     "$NVCC -rdc=true -DNAME=first -shared -Xcompiler -fPIC $SRC.cu ${SRC}_device.cu -o liba.so && "
     "g++ -DLOAD $SRC.cpp -o program -ldl",
     "./program ./liba.so first"},
    {"compressed fatbin", "$NVCC -DALONE -DNAME=first -Xfatbin -compress-all $SRC.cu $SRC.cpp -o program"},
    {"per-thread default stream",
     "$NVCC -DALONE -DNAME=first -default-stream per-thread $SRC.cu $SRC.cpp -o program"},
    {"-G", "$NVCC -DALONE -DNAME=first -G $SRC.cu $SRC.cpp -o program"},
    {"stripped", "$NVCC -DALONE -DNAME=first $SRC.cu $SRC.cpp -o program && strip program"},
    {"without symbols from the start", "$NVCC -DALONE -DNAME=first $SRC.cu $SRC.cpp -o program -Xlinker -s"},
    {"dlopen of a stripped object with the static runtime",
     "$NVCC -DALONE -DNAME=first -shared -Xcompiler -fPIC $SRC.cu -o liba.so && strip liba.so && "
     "g++ -DLOAD $SRC.cpp -o program -ldl",
     "./program ./liba.so first"},
    {"stripped, with the shared runtime",
     "$NVCC -DALONE -DNAME=first -cudart shared $SRC.cu $SRC.cpp -o program && strip program"},
    {"static as a whole",
     "$NVCC -DALONE -DNAME=first -Xcompiler -static -Xlinker -static $SRC.cu $SRC.cpp -o program",
     "./program", "found a program that is linked statically as a whole"},
};

}  // namespace

TEST_CASE("packaging: every way in which nvcc makes a program and its objects runs, or is one clear error",
          "[slow][long]") {
  const Folder folder;
  const std::string version = "cd " + folder.path() + " && nvcc --version >version 2>&1";
  if (std::system(version.c_str()) != 0) {
    WARN("left out: there is no nvcc on the PATH");
    return;
  }
  for (const Packaging& way : kWays) {
    INFO(way.name);
    const Folder here;
    const std::string build = "cd " + here.path() + " && SRC=" + LOCKSTEP_SOURCE_DIR +
                              "/tests/cuda/program/packaging && NVCC='nvcc -arch=sm_75' && (" + way.build +
                              ") >log 2>&1";
    REQUIRE(std::system(build.c_str()) == 0);
    std::vector<std::string> arguments = {"exec", "--functional", "--"};
    std::istringstream words(way.run);
    for (std::string word; words >> word;) arguments.push_back(word);
    const Finished done = run(Launch{.arguments = arguments, .folder = here.path()});
    if (way.error == nullptr) {
      CHECK(done.out == "PASS\n");
      CHECK(done.code == 0);
    } else {
      CHECK(done.code == way.code);
      CHECK(done.err.find(way.error) != std::string::npos);
    }
  }
}
