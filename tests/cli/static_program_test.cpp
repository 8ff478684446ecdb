// Which programs are refused as linked statically: ELF files made here after the System V ABI, chapter 5.
#include "cli/static_program.hpp"

#include <elf.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "tests/temporary_folder.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace {

struct ElfParts {
  std::vector<std::uint32_t> segments = {PT_LOAD};
  unsigned char elf_class = ELFCLASS64;
  std::uint16_t entry_bytes = sizeof(Elf64_Phdr);
  std::uint64_t offset = sizeof(Elf64_Ehdr);
};

std::string elf_of(const ElfParts& parts) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = parts.elf_class;
  header.e_type = ET_EXEC;
  header.e_phoff = parts.offset;
  header.e_phentsize = parts.entry_bytes;
  header.e_phnum = static_cast<std::uint16_t>(parts.segments.size());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  for (const std::uint32_t type : parts.segments) {
    Elf64_Phdr segment{};
    segment.p_type = type;
    bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  }
  return bytes;
}

bool is_refused(const std::string& command) {
  try {
    refuse_static(command);
  } catch (const UserError& e) {
    CHECK_THAT(e.what(),
               Catch::Contains(": found a program that is linked statically as a whole, expected one that "
                               "loads the C library"));
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("static programs: an ELF file is one unless one of its segments names an interpreter") {
  const test::TemporaryFolder folder;
  const auto refused = [&](const ElfParts& parts) {
    return is_refused(folder.write("program", elf_of(parts)));
  };
  CHECK(refused({}));
  CHECK(refused({.segments = {PT_PHDR, PT_LOAD, PT_DYNAMIC, PT_NOTE}}));
  for (std::size_t at = 0; at < 6; ++at) {
    ElfParts parts{.segments = {PT_LOAD, PT_LOAD, PT_NOTE, PT_LOAD, PT_TLS, PT_NOTE}};
    parts.segments[at] = PT_INTERP;
    CHECK_FALSE(refused(parts));
  }
}

TEST_CASE("static programs: files that are cut, of another class, or not ELF are left to the system") {
  const test::TemporaryFolder folder;
  const std::string whole = elf_of({.segments = {PT_LOAD, PT_LOAD}});
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, sizeof(Elf64_Ehdr) - 1, sizeof(Elf64_Ehdr), whole.size() - 1})
    CHECK_FALSE(is_refused(folder.write("cut", whole.substr(0, size))));
  CHECK(is_refused(folder.write("whole", whole)));
  CHECK_FALSE(is_refused(folder.write("narrow", elf_of({.elf_class = ELFCLASS32}))));
  CHECK_FALSE(is_refused(folder.write("entries", elf_of({.entry_bytes = 32}))));
  CHECK_FALSE(is_refused(folder.write("none", elf_of({.segments = {}}))));
  for (const std::uint64_t far : {std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{0} - 63})
    CHECK_FALSE(is_refused(folder.write("far", elf_of({.offset = far}))));
  CHECK_FALSE(is_refused(folder.write("script", "#!/bin/sh\nexit 0\n")));
  CHECK_FALSE(is_refused(folder.path().string()));
  CHECK_FALSE(is_refused(folder / "missing"));
}

TEST_CASE("static programs: a name without a slash is looked for in PATH, the first that can be executed") {
  const test::TemporaryFolder first, second;
  const std::string fixed = elf_of({}), loads = elf_of({.segments = {PT_INTERP, PT_LOAD}});
  const std::string before = ::getenv("PATH");
  ::setenv("PATH", (first.path().string() + ":" + second.path().string()).c_str(), 1);
  ::chmod(second.write("fixed", fixed).c_str(), 0755);
  ::chmod(second.write("both", fixed).c_str(), 0755);
  ::chmod(first.write("both", loads).c_str(), 0755);
  CHECK(is_refused("fixed"));
  CHECK_FALSE(is_refused("both"));
  CHECK_FALSE(is_refused("neither"));
  ::unsetenv("PATH");
  CHECK_FALSE(is_refused("fixed"));
  ::setenv("PATH", before.c_str(), 1);
}

}  // namespace lockstep::cli
