#include "cli/static_program.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "cli/elf_segments.hpp"
#include "util/error.hpp"

namespace lockstep::cli {

namespace {

bool is_static(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<Elf64_Phdr> segments = segments_of(file);
  return !segments.empty() &&
         std::ranges::none_of(segments, [](const Elf64_Phdr& s) { return s.p_type == PT_INTERP; });
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
