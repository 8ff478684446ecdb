#include "cli/run_path.hpp"

#include <elf.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "cli/elf_segments.hpp"
#include "cli/static_program.hpp"

namespace lockstep::cli {

namespace {
namespace fs = std::filesystem;

/// Where in the file what is loaded at `address` is; 0: nowhere.
std::uint64_t place_of(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return address - segment.p_vaddr + segment.p_offset;
  return 0;
}

/// Folders with colons between them; empty where there is none.
std::string run_path_of(std::ifstream& file) {
  const std::vector<Elf64_Phdr> segments = segments_of(file);
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    std::uint64_t texts = 0, path = 0;
    bool given = false;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry{};
      if (!read_at(file, segment.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_STRTAB) texts = place_of(segments, entry.d_un.d_ptr);
      if (entry.d_tag != DT_RUNPATH && entry.d_tag != DT_RPATH) continue;
      path = entry.d_un.d_val;
      given = true;
    }
    if (!given || texts == 0) return {};
    file.seekg(static_cast<std::streamoff>(texts + path));
    std::string text;
    std::getline(file, text, '\0');
    return text;
  }
  return {};
}

}  // namespace

bool brings_library(const std::string& command, const std::string& library) {
  const std::string program = find_program(command);
  std::ifstream file(program, std::ios::binary);
  if (!file) return false;
  std::error_code error;
  const std::string origin = fs::canonical(program, error).parent_path().string();
  std::istringstream folders(run_path_of(file));
  for (std::string folder; std::getline(folders, folder, ':');) {
    for (const std::string word : {"${ORIGIN}", "$ORIGIN"})
      if (const auto at = folder.find(word); at != std::string::npos) folder.replace(at, word.size(), origin);
    if (!folder.empty() && fs::exists(folder + "/" + library, error)) return true;
  }
  return false;
}

}  // namespace lockstep::cli
