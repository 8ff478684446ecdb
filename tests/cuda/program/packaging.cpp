// Calls the functions of packaging.cu: in the program or what it is linked with (SECOND: two of them), or,
// LOAD, in the objects that the arguments name.
#include <dlfcn.h>

#include <cstdio>

using Function = int (*)();

#ifndef LOAD
extern "C" int first();
#ifdef SECOND
extern "C" int second();
#endif
#endif

int main(int argc, char** argv) {
  bool passed = argc > 0;
  const auto check = [&](Function function) { passed = passed && function != nullptr && function() == 992; };
#ifdef LOAD
  for (int i = 1; i + 1 < argc; i += 2) {
    void* object = dlopen(argv[i], RTLD_NOW);
    if (object == nullptr) std::printf("%s\n", dlerror());
    check(object == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(object, argv[i + 1])));
  }
#else
  (void)argv;
  check(first);
#ifdef SECOND
  check(second);
#endif
#endif
  std::printf("%s\n", passed ? "PASS" : "FAIL");
  return passed ? 0 : 1;
}
