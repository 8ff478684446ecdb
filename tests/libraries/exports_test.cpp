// What our libraries export, against NVIDIA's lists of names and against the tables of docs/libraries.md.
#include <elf.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "paths.hpp"
#include "tests/cli/program.hpp"

namespace {

/// The functions that a shared library exports; true: implemented, false: weak, refused.
std::map<std::string, bool> exports_of(const std::string& path) {
  const std::string file = lockstep::cli::slurp(path);
  REQUIRE(file.size() > sizeof(Elf64_Ehdr));
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), file.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  std::map<std::string, bool> found;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM) continue;
    for (std::size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, file.data() + section.sh_offset + at, sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      const std::string name = file.data() + sections[section.sh_link].sh_offset + symbol.st_name;
      found[name] = ELF64_ST_BIND(symbol.st_info) != STB_WEAK;
    }
  }
  return found;
}

/// `cublas{S,D}{axpy,copy}` as four names.
std::vector<std::string> expanded(const std::string& name) {
  const std::size_t begin = name.find('{'), end = name.find('}');
  if (begin == std::string::npos) return {name};
  std::vector<std::string> all;
  std::istringstream choices(name.substr(begin + 1, end - begin - 1));
  for (std::string choice; std::getline(choices, choice, ',');)
    for (const std::string& rest : expanded(name.substr(end + 1)))
      all.push_back(name.substr(0, begin) + choice + rest);
  return all;
}

/// The names in the first columns of a section's tables.
std::set<std::string> documented(const std::string& section, const std::string& prefix) {
  std::istringstream lines(lockstep::cli::slurp(LOCKSTEP_SOURCE_DIR "/docs/libraries.md"));
  const std::regex name("`(" + prefix + "[A-Za-z0-9_{},]+)`");
  std::set<std::string> found;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) inside = line == "## " + section;
    if (!inside || !line.starts_with("| `")) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), name), end; at != end; ++at)
      for (const std::string& one : expanded((*at)[1])) found.insert(one);
  }
  return found;
}

/// As a table names it.
std::string plain(std::string name) {
  for (const char* suffix : {"_64", "_v2"})
    if (name.ends_with(suffix)) name.resize(name.size() - 3);
  return name.starts_with("pnccl") ? name.substr(1) : name;
}

struct Library {
  const char *section, *prefix, *folder;
  std::vector<std::string> files;
};

const Library kLibraries[] = {
    {"cuBLAS", "cublas", "blas", {LOCKSTEP_CUBLAS_13, LOCKSTEP_CUBLAS_12}},
    {"cuBLASLt", "cublasLt", "blaslt", {LOCKSTEP_CUBLASLT_13, LOCKSTEP_CUBLASLT_12}},
    {"cuSOLVER", "cusolver", "solver", {LOCKSTEP_CUSOLVER_12, LOCKSTEP_CUSOLVER_11}},
    {"cuFFT", "cufft", "fft", {LOCKSTEP_CUFFT_12, LOCKSTEP_CUFFT_11}},
    {"cuRAND", "curand", "rand", {LOCKSTEP_CURAND_10}},
    {"cuSPARSE", "cusparse", "sparse", {LOCKSTEP_CUSPARSE_12}},
    {"NCCL", "nccl", "nccl", {LOCKSTEP_NCCL_2}},
    {"cuDNN", "cudnn", "dnn", {LOCKSTEP_CUDNN_9}},
};

}  // namespace

TEST_CASE("libraries: docs/libraries.md names what is implemented, and all else is refused") {
  for (const Library& library : kLibraries)
    for (const std::string& file : library.files) {
      INFO(file);
      const auto exports = exports_of(file);
      const std::set<std::string> names = documented(library.section, library.prefix);
      std::set<std::string> implemented;
      for (const auto& [name, is_implemented] : exports)
        if (is_implemented) implemented.insert(plain(name));
      CHECK(implemented == names);
      const std::string list = lockstep::cli::slurp(std::string(LOCKSTEP_SOURCE_DIR "/src/libraries/") +
                                                    library.folder + "/exported_names.inc");
      const std::regex entry("X\\((\\w+)\\)");
      std::size_t count = 0;
      for (std::sregex_iterator at(list.begin(), list.end(), entry), end; at != end; ++at) {
        const std::string name = (*at)[1];
        if (name == "name") continue;  // of the comment
        ++count;
        INFO(name);
        CHECK(exports.contains(name));
      }
      CHECK(count == exports.size());
    }
}
