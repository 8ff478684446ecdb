// Preloaded into programs into which the CUDA runtime is linked statically (nvcc's default): before their
// constructors run, each of its functions that the symbol table names is made to jump to ours.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr const char* kRuntime = "libcudart.so.13";

struct File {
  const char* data = nullptr;
  std::size_t bytes = 0;
};

File map_program() {
  const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  struct stat status {};
  File file;
  if (fstat(fd, &status) == 0 && status.st_size > 0) {
    file.bytes = static_cast<std::size_t>(status.st_size);
    void* at = mmap(nullptr, file.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    file.data = at == MAP_FAILED ? nullptr : static_cast<const char*>(at);
  }
  close(fd);
  return file;
}

/// The section of `type`, or nullptr; the file is the running program, so the kernel has checked its header.
const Elf64_Shdr* find_section(const File& file, std::uint32_t type) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file.data);
  if (file.bytes < sizeof *header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return nullptr;
  if (header->e_shoff == 0 ||
      header->e_shoff + std::size_t{header->e_shnum} * sizeof(Elf64_Shdr) > file.bytes)
    return nullptr;
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file.data + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; ++i)
    if (sections[i].sh_type == type && sections[i].sh_link < header->e_shnum) return &sections[i];
  return nullptr;
}

/// Where the main program was loaded, relative to the addresses in its file.
std::uintptr_t load_base() {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<std::uintptr_t*>(out) = info->dlpi_addr;
        return 1;  // the program comes first
      },
      &base);
  return base;
}

#if defined(__x86_64__)
constexpr std::size_t kJumpBytes = 12;

void write_jump(unsigned char* at, const void* target) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(at) & ~(page - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(at) + kJumpBytes + page - 1) & ~(page - 1);
  void* pages = reinterpret_cast<void*>(begin);
  if (mprotect(pages, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    std::perror("lockstep: error: the program's code cannot be changed");
    _exit(2);
  }
  const unsigned char code[kJumpBytes] = {0x48, 0xb8, 0, 0, 0,    0,
                                          0,    0,    0, 0, 0xff, 0xe0};  // movabs rax; jmp rax
  std::memcpy(at, code, sizeof code);
  std::memcpy(at + 2, &target, sizeof target);
  mprotect(pages, end - begin, PROT_READ | PROT_EXEC);
}

bool runtime_name(std::string_view name) { return name.starts_with("cuda") || name.starts_with("__cuda"); }

void redirect(const File& file, const Elf64_Shdr& table) {
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(
      file.data + reinterpret_cast<const Elf64_Ehdr*>(file.data)->e_shoff);
  const char* names = file.data + sections[table.sh_link].sh_offset;
  const auto* symbols = reinterpret_cast<const Elf64_Sym*>(file.data + table.sh_offset);
  const std::uintptr_t base = load_base();
  void* runtime = nullptr;
  for (std::size_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
    const Elf64_Sym& symbol = symbols[i];
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
        symbol.st_size < kJumpBytes)
      continue;
    const char* name = names + symbol.st_name;
    if (!runtime_name(name)) continue;
    if (runtime == nullptr) runtime = dlopen(kRuntime, RTLD_NOW | RTLD_GLOBAL);
    if (runtime == nullptr) {
      std::fprintf(stderr, "lockstep: error: %s\n", dlerror());
      _exit(2);
    }
    if (const void* ours = dlsym(runtime, name))
      write_jump(reinterpret_cast<unsigned char*>(base + symbol.st_value), ours);
  }
}

__attribute__((constructor)) void redirect_static_runtime() {
  const File file = map_program();
  if (file.data == nullptr) return;
  if (const Elf64_Shdr* table = find_section(file, SHT_SYMTAB)) redirect(file, *table);
  munmap(const_cast<char*>(file.data), file.bytes);
}
#endif

}  // namespace
