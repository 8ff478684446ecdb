// Where the kernel says that it will use huge pages.
#include "util/host_memory.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace lockstep {
namespace {

/// The flags of the mapping that contains the address, as the kernel lists them; empty where it does not.
std::string mapping_flags(const void* address) {
  std::ifstream mappings("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool found = false;
  for (std::string line; std::getline(mappings, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (std::istringstream(line) >> std::hex >> begin >> dash >> end && dash == '-')
      found = begin <= wanted && wanted < end;
    else if (found && line.starts_with("VmFlags:"))
      return line + ' ';
  }
  return {};
}

}  // namespace

TEST_CASE("the heap is of huge pages far beyond what it has at the start") {
#ifdef __GLIBC__
  constexpr std::size_t kBlock = 1 << 20, kBlocks = 640;
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) return;
  prefer_huge_pages();
  if (heap_reserve() < 2 * kBlock * kBlocks) return;  // a small machine, or limits
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < kBlocks; ++i) blocks.push_back(std::malloc(kBlock));
  const bool in_heap = blocks.back() < sbrk(0);  // else malloc() is that of a sanitizer
  for (std::size_t i = 64; in_heap && i < kBlocks; i += 64)
    CHECK_THAT(mapping_flags(blocks[i]), Catch::Contains(" hg "));
  for (void* block : blocks) std::free(block);
#endif
}

}  // namespace lockstep
