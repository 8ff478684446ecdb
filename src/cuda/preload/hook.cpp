// Preloaded into programs: CUDA's runtime may be linked statically into them or into their shared objects
// (nvcc's default), and so may its libraries. Before the constructors of such an object run, each of the
// runtime's functions that its symbol table names is made to jump to ours. Where there is no symbol table,
// they are found by their code (static_runtime.hpp).
//
// This library is initialised before all others (-z initfirst), when not even the C library is: so our
// runtime is loaded in the first call of such a function. Of objects that come by dlopen, the dynamic linker
// tells debuggers when they are in memory and their constructors have not run: it calls the function
// r_debug::r_brk, which does nothing. It is made to jump to ours, too.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/preload/replacements.hpp"
#include "cuda/preload/runtime_archives.hpp"
#include "cuda/preload/static_runtime.hpp"

namespace {

using lockstep::cuda::ArchivedCode;

struct File {
  const char* data = nullptr;
  std::size_t bytes = 0;
};

File map_file(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
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

/// None where the file is damaged: the dynamic linker has checked its header, not its sections.
std::span<const Elf64_Shdr> sections_of(const File& file) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file.data);
  if (file.bytes < sizeof *header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return {};
  if (header->e_shoff == 0 || header->e_shoff > file.bytes ||
      std::size_t{header->e_shnum} * sizeof(Elf64_Shdr) > file.bytes - header->e_shoff)
    return {};
  return {reinterpret_cast<const Elf64_Shdr*>(file.data + header->e_shoff), header->e_shnum};
}

/// Nothing where it is not within the file.
std::string_view data_of(const File& file, const Elf64_Shdr& section) {
  if (section.sh_offset > file.bytes || section.sh_size > file.bytes - section.sh_offset) return {};
  return {file.data + section.sh_offset, section.sh_size};
}

/// The symbols of `type` and their names; false: the file has none.
bool find_symbols(const File& file, std::uint32_t type, std::string_view& symbols, std::string_view& names) {
  const auto sections = sections_of(file);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != type || section.sh_link >= sections.size()) continue;
    symbols = data_of(file, section);
    names = data_of(file, sections[section.sh_link]);
    if (!symbols.empty() && !names.empty() && names.back() == '\0') return true;
  }
  return false;
}

#if defined(__x86_64__)
constexpr std::size_t kJumpBytes = 13;

/// A function of a runtime that has been replaced. It stays until the very end of the process: the program's
/// code points to it.
struct Entry {
  const void* target;  // where it jumps to: first lockstep_hook_first_call, then our function
  std::string name;
  std::string library;  // with our function
  unsigned char* at;
  unsigned char code[kJumpBytes];  // what was there
};
std::deque<Entry>& entries() {
  static auto& all = *new std::deque<Entry>;
  return all;
}

/// False: the pages may not be changed.
bool write_code(unsigned char* at, const unsigned char* code) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(at) & ~(page - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(at) + kJumpBytes + page - 1) & ~(page - 1);
  void* pages = reinterpret_cast<void*>(begin);
  if (mprotect(pages, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  std::memcpy(at, code, kJumpBytes);
  mprotect(pages, end - begin, PROT_READ | PROT_EXEC);
  return true;
}

/// movabs r11, entry; jmp [r11]
bool write_jump(unsigned char* at, const Entry* entry) {
  unsigned char code[kJumpBytes] = {0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0x23};
  std::memcpy(code + 2, &entry, sizeof entry);
  return write_code(at, code);
}

[[noreturn]] void fail(const char* why) {
  std::fprintf(stderr, "lockstep: error: %s\n", why);
  _exit(2);
}

// The first call of a replaced function, with its Entry in r11: keeps the arguments, and goes where
// lockstep_hook_target says.
extern "C" void lockstep_hook_first_call();
asm(R"(
.text
.hidden lockstep_hook_first_call
.globl lockstep_hook_first_call
.type lockstep_hook_first_call, @function
lockstep_hook_first_call:
  push %rbp
  mov %rsp, %rbp
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  push %rax
  push %r10
  sub $128, %rsp
  movaps %xmm0, (%rsp)
  movaps %xmm1, 16(%rsp)
  movaps %xmm2, 32(%rsp)
  movaps %xmm3, 48(%rsp)
  movaps %xmm4, 64(%rsp)
  movaps %xmm5, 80(%rsp)
  movaps %xmm6, 96(%rsp)
  movaps %xmm7, 112(%rsp)
  mov %r11, %rdi
  call lockstep_hook_target
  mov %rax, %r11
  movaps (%rsp), %xmm0
  movaps 16(%rsp), %xmm1
  movaps 32(%rsp), %xmm2
  movaps 48(%rsp), %xmm3
  movaps 64(%rsp), %xmm4
  movaps 80(%rsp), %xmm5
  movaps 96(%rsp), %xmm6
  movaps 112(%rsp), %xmm7
  add $128, %rsp
  pop %r10
  pop %rax
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rbp
  jmp *%r11
.size lockstep_hook_first_call, .-lockstep_hook_first_call
)");

/// A function that we do not have gets its own code back: the program's own may have such a name.
extern "C" __attribute__((visibility("hidden"), used)) const void* lockstep_hook_target(Entry* entry) {
  void* const runtime = dlopen(entry->library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  const bool needed = entry->library.find("libcudart.so") != std::string::npos;
  if (runtime == nullptr && needed) fail(dlerror());
  const void* ours = runtime == nullptr ? nullptr : dlsym(runtime, entry->name.c_str());
  if (ours == nullptr) {
    if (!write_code(entry->at, entry->code)) fail("the program's code cannot be changed");
    return entry->at;
  }
  entry->target = ours;
  return ours;
}

/// To that of the same name in `library`, a path.
void redirect_function(std::string_view name, std::uintptr_t code, const std::string& library) {
  auto* const at = reinterpret_cast<unsigned char*>(code);
  Entry& entry = entries().emplace_back(
      Entry{reinterpret_cast<const void*>(&lockstep_hook_first_call), std::string(name), library, at, {}});
  std::memcpy(entry.code, at, kJumpBytes);
  if (!write_jump(at, &entry)) fail("the program's code cannot be changed");
}

/// `ours`: the folder of our libraries. `object`: the file's name.
void redirect(std::string_view table, std::string_view names, std::uintptr_t base, const std::string& ours,
              std::string_view object) {
  const std::span symbols(reinterpret_cast<const Elf64_Sym*>(table.data()), table.size() / sizeof(Elf64_Sym));
  for (const Elf64_Sym& symbol : symbols) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
        symbol.st_size < kJumpBytes || symbol.st_name >= names.size())
      continue;
    const char* const name = names.data() + symbol.st_name;
    const std::string_view library = lockstep::cuda::replacement_of(name, object);
    if (!library.empty()) redirect_function(name, base + symbol.st_value, ours + std::string(library));
  }
}

/// Has it kernels, as a program or a library of CUDA has?
bool has_device_code(const File& file) {
  const auto sections = sections_of(file);
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file.data);
  if (sections.empty() || header->e_shstrndx >= sections.size()) return false;
  const std::string_view names = data_of(file, sections[header->e_shstrndx]);
  return names.find(".nv_fatbin") != std::string_view::npos ||
         names.find("__nv_relfatbin") != std::string_view::npos;
}

/// Of an object without a symbol table, the runtime that some toolkit of this machine has brought into it.
void redirect_stripped(const File& file, std::uintptr_t base, const std::string& ours) {
  if (!has_device_code(file)) return;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file.data);
  if (header->e_phoff > file.bytes || header->e_phnum * sizeof(Elf64_Phdr) > file.bytes - header->e_phoff)
    return;
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(file.data + header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || segment.p_offset > file.bytes ||
        segment.p_filesz > file.bytes - segment.p_offset)
      continue;
    const std::string_view code(file.data + segment.p_offset, segment.p_filesz);
    for (const ArchivedCode& runtime : lockstep::cuda::runtime_archives()) {
      const auto offset = runtime.find(code);
      if (!offset) continue;
      for (const ArchivedCode::Function& function : runtime.functions())
        if (function.bytes >= kJumpBytes)
          redirect_function(function.name, base + segment.p_vaddr + *offset + function.offset,
                            ours + std::string(lockstep::cuda::replacement_of(function.name, "")));
      return;
    }
  }
}

std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/') + 1); }
std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

struct Object {
  std::string path;
  std::uintptr_t base;
  bool operator==(const Object&) const = default;
};

std::vector<Object> loaded_objects() {
  std::vector<Object> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& all = *static_cast<std::vector<Object>*>(out);
        all.push_back({all.empty() ? "/proc/self/exe" : info->dlpi_name, info->dlpi_addr});
        return 0;  // the program comes first
      },
      &objects);
  return objects;
}

void redirect_object(const Object& object) {
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&redirect_object), &own);
  if (folder_of(object.path) == folder_of(own.dli_fname)) return;  // ours
  const File file = map_file(object.path.c_str());
  if (file.data == nullptr) return;  // as that which the kernel gives to each process
  const std::string ours(folder_of(own.dli_fname));
  const std::string_view name = name_of(object.path);
  // NVIDIA's, from a folder that the program prefers to ours, is called by what it exports.
  const bool nvidias = lockstep::cuda::is_nvidias(name);
  std::string_view symbols, names;
  if (find_symbols(file, nvidias ? SHT_DYNSYM : SHT_SYMTAB, symbols, names))
    redirect(symbols, names, object.base, ours, name);
  else if (!nvidias)
    redirect_stripped(file, object.base, ours);
  munmap(const_cast<char*>(file.data), file.bytes);
}

/// Those that were not there at the last look. The dynamic linker's lock is held, or no thread has begun.
void redirect_new() {
  static std::vector<Object>& known = *new std::vector<Object>;  // until the very end of the process
  static bool busy = false;
  if (busy) return;  // objects of our own
  busy = true;
  const std::vector<Object> all = loaded_objects();
  for (const Object& object : all)
    if (std::ranges::find(known, object) == known.end()) redirect_object(object);
  known = all;
  busy = false;
}

/// In place of what a debugger stops at.
void objects_changed() {
  if (_r_debug.r_state == r_debug::RT_CONSISTENT) redirect_new();
}

__attribute__((constructor)) void redirect_static_runtimes(int, char**, char** environment) {
  lockstep::cuda::set_runtime_archives(environment);
  redirect_new();
  // Functions begin at multiples of 16: there is room. Where it is not allowed, the runtimes of objects that
  // are loaded later stay.
  auto* const at = reinterpret_cast<unsigned char*>(_r_debug.r_brk);
  if (_r_debug.r_brk % 16 == 0)
    (void)write_jump(
        at, &entries().emplace_back(Entry{reinterpret_cast<const void*>(&objects_changed), "", "", at, {}}));
}
#endif

}  // namespace
