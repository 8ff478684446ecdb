#include "cuda/preload/static_runtime.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "cuda/preload/replacements.hpp"

namespace lockstep::cuda {
namespace {

// Below that, code could be found where it is not.
constexpr std::size_t kShortestAnchor = 24;
// Of the bytes that should be the same: linkers also change instructions around a relocation (x86-64 psABI,
// "Linker Optimization"), those for thread-local variables most.
constexpr std::size_t kDifferentPerMille = 1;

/// A copy of the T at `offset`; nothing where the file ends before.
template <class T>
std::optional<T> at(std::string_view file, std::size_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return {};
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::string_view part(std::string_view file, std::size_t offset, std::size_t bytes) {
  return offset <= file.size() && bytes <= file.size() - offset ? file.substr(offset, bytes)
                                                                : std::string_view();
}

std::string_view text_at(std::string_view texts, std::size_t offset) {
  if (offset >= texts.size()) return {};
  texts.remove_prefix(offset);
  return texts.substr(0, texts.find('\0'));
}

/// An ELF file's sections.
class Sections {
 public:
  explicit Sections(std::string_view file) : file_(file) {
    const auto header = at<Elf64_Ehdr>(file, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_REL || header->e_machine != EM_X86_64)
      return;
    for (std::size_t i = 0; i < header->e_shnum; ++i)
      if (const auto one = at<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr)))
        all_.push_back(*one);
    if (header->e_shstrndx < all_.size()) names_ = data(all_[header->e_shstrndx]);
  }

  [[nodiscard]] std::string_view data(const Elf64_Shdr& section) const {
    return section.sh_type == SHT_NOBITS ? std::string_view()
                                         : part(file_, section.sh_offset, section.sh_size);
  }
  /// The index of the first that `is` says it is.
  template <class Is>
  [[nodiscard]] std::optional<std::size_t> find(Is&& is) const {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (is(all_[i], text_at(names_, all_[i].sh_name))) return i;
    return {};
  }
  [[nodiscard]] const Elf64_Shdr& operator[](std::size_t index) const { return all_[index]; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  std::string_view file_, names_;
  std::vector<Elf64_Shdr> all_;
};

/// What the linker changes for a relocation, from its offset: bytes before and behind.
std::pair<std::size_t, std::size_t> changed_around(std::uint32_t type) {
  switch (type) {
    case R_X86_64_64:
    case R_X86_64_PC64:
      return {0, 8};
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      return {3, 4};  // the instruction itself: a load becomes a lea
    default:
      return {0, 4};
  }
}

template <class T, class F>
void each(std::string_view table, F&& f) {
  for (std::size_t offset = 0; const auto one = at<T>(table, offset); offset += sizeof(T)) f(*one);
}

}  // namespace

std::optional<ArchivedCode> ArchivedCode::read(std::string_view object) {
  const Sections sections(object);
  const auto text = sections.find([](const Elf64_Shdr& s, std::string_view name) {
    return s.sh_type == SHT_PROGBITS && (s.sh_flags & SHF_EXECINSTR) != 0 && name == ".text";
  });
  const auto symbols =
      sections.find([](const Elf64_Shdr& s, std::string_view) { return s.sh_type == SHT_SYMTAB; });
  if (!text || !symbols || sections[*symbols].sh_link >= sections.size()) return {};

  ArchivedCode found;
  found.code_ = sections.data(sections[*text]);
  const std::string_view names = sections.data(sections[sections[*symbols].sh_link]);
  each<Elf64_Sym>(sections.data(sections[*symbols]), [&](const Elf64_Sym& symbol) {
    const std::string_view name = text_at(names, symbol.st_name);
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx == *text &&
        !replacement_of(name, "").empty() && !part(found.code_, symbol.st_value, symbol.st_size).empty())
      found.functions_.push_back({std::string(name), symbol.st_value, symbol.st_size});
  });
  std::vector<Range> changed;
  const auto relocations = sections.find(
      [&](const Elf64_Shdr& s, std::string_view) { return s.sh_type == SHT_RELA && s.sh_info == *text; });
  if (relocations)
    each<Elf64_Rela>(sections.data(sections[*relocations]), [&](const Elf64_Rela& relocation) {
      const auto [before, behind] = changed_around(ELF64_R_TYPE(relocation.r_info));
      if (relocation.r_offset < found.code_.size())
        changed.emplace_back(relocation.r_offset - std::min<std::size_t>(before, relocation.r_offset),
                             std::min(relocation.r_offset + behind, found.code_.size()));
    });
  found.keep_fixed(std::move(changed));
  if (found.functions_.empty() || found.longest_.second - found.longest_.first < kShortestAnchor) return {};
  return found;
}

void ArchivedCode::keep_fixed(std::vector<Range> changed) {
  std::ranges::sort(changed);
  changed.emplace_back(code_.size(), code_.size());
  std::size_t begin = 0;
  for (const auto& [from, to] : changed) {
    if (from > begin) fixed_.emplace_back(begin, from);
    begin = std::max(begin, to);
  }
  const auto bytes = [](const Range& r) { return r.second - r.first; };
  if (!fixed_.empty()) longest_ = *std::ranges::max_element(fixed_, {}, bytes);
}

std::optional<std::size_t> ArchivedCode::find(std::string_view code) const {
  const std::string_view anchor =
      std::string_view(code_).substr(longest_.first, longest_.second - longest_.first);
  for (const char* next = code.data();;) {
    const auto left = static_cast<std::size_t>(code.data() + code.size() - next);
    const void* const hit = memmem(next, left, anchor.data(), anchor.size());
    if (hit == nullptr) return {};
    const auto position = static_cast<std::size_t>(static_cast<const char*>(hit) - code.data());
    if (position >= longest_.first && matches(code.substr(position - longest_.first)))
      return position - longest_.first;
    next = static_cast<const char*>(hit) + 1;
  }
}

bool ArchivedCode::matches(std::string_view at) const {
  if (at.size() < code_.size()) return false;
  std::size_t different = 0;
  for (const auto& [from, to] : fixed_)
    for (std::size_t i = from; i < to; ++i) different += code_[i] != at[i];
  return different * 1000 <= code_.size() * kDifferentPerMille;
}

std::vector<ArchivedCode> read_runtime_archive(std::string_view archive) {
  constexpr std::string_view kMagic = "!<arch>\n";
  constexpr std::size_t kHeader = 60, kSizeAt = 48, kSizeDigits = 10;  // ar(5)
  std::vector<ArchivedCode> found;
  if (!archive.starts_with(kMagic)) return found;
  for (std::size_t offset = kMagic.size(); archive.size() - offset >= kHeader;) {
    std::size_t bytes = 0;
    for (const char digit : archive.substr(offset + kSizeAt, kSizeDigits)) {
      if (digit < '0' || digit > '9') break;
      bytes = bytes * 10 + static_cast<std::size_t>(digit - '0');
    }
    offset += kHeader;
    if (bytes > archive.size() - offset) break;
    if (auto code = ArchivedCode::read(archive.substr(offset, bytes))) found.push_back(std::move(*code));
    offset = std::min(offset + bytes + bytes % 2, archive.size());
  }
  return found;
}

}  // namespace lockstep::cuda
