#include "cli/elf_segments.hpp"

#include <cstring>

namespace lockstep::cli {

std::vector<Elf64_Phdr> segments_of(std::ifstream& file) {
  std::vector<Elf64_Phdr> segments;
  Elf64_Ehdr header{};
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return segments;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return segments;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(file, header.e_phoff + std::uint64_t{i} * sizeof segment, segment)) return {};
    segments.push_back(segment);
  }
  return segments;
}

}  // namespace lockstep::cli
