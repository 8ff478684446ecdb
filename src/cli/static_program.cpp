#include "cli/static_program.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "util/error.hpp"

namespace lockstep::cli {

namespace {

template <class T>
bool read(std::ifstream& file, std::uint64_t at, T& into) {
  file.seekg(static_cast<std::streamoff>(at));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&into), sizeof into));
}

bool is_static(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!read(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read(file, header.e_phoff + std::uint64_t{i} * sizeof segment, segment)) return false;
    if (segment.p_type == PT_INTERP) return false;
  }
  return header.e_phnum > 0;
}

}  // namespace

std::string find_program(const std::string& command) {
  if (command.find('/') != std::string::npos) return command;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + command;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

void refuse_static(const std::string& command) {
  if (const std::string file = find_program(command); !file.empty() && is_static(file))
    throw UserError(
        fmt::format("{}: found a program that is linked statically as a whole, expected one that loads the C "
                    "library (leave out -static; CUDA's runtime may be linked statically)",
                    file));
}

}  // namespace lockstep::cli
