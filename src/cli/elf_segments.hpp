// The program headers of an ELF file.
#pragma once

#include <elf.h>

#include <cstdint>
#include <fstream>
#include <vector>

namespace lockstep::cli {

/// False: the file ends before.
template <class T>
bool read_at(std::ifstream& file, std::uint64_t at, T& into) {
  file.seekg(static_cast<std::streamoff>(at));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&into), sizeof into));
}

/// Empty where it is no ELF file of 64 bits, or ends too soon.
[[nodiscard]] std::vector<Elf64_Phdr> segments_of(std::ifstream& file);

}  // namespace lockstep::cli
