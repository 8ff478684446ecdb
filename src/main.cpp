#include "cli/cli.hpp"
#include "util/host_memory.hpp"

int main(int argc, char** argv) {
  lockstep::prefer_huge_pages();
  return lockstep::cli::main(argc, argv);
}
