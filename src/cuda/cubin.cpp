#include "cuda/cubin.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "cuda/byte_reader.hpp"

namespace lockstep::cuda {

namespace {

constexpr std::uint8_t kClass64 = 2, kLittleEndian = 1;
constexpr std::uint16_t kMachineCuda = 190;
constexpr std::uint64_t kHeaderBytes = 64, kSectionBytes = 64, kSymbolBytes = 24;
constexpr std::uint32_t kTypeSymbols = 2, kTypeNoBytes = 8;
/// Attributes of .nv.info: registers, frame and stack by symbol; of .nv.info.KERNEL: named barriers.
constexpr std::uint8_t kAttributeFrame = 0x11, kAttributeStack = 0x12, kAttributeRegisters = 0x2f,
                       kAttributeBarriers = 0x4c;
/// Formats of an attribute: 2 and 3 have the value in the two bytes where 4 has its length.
constexpr std::uint8_t kFormatSized = 4;

struct Section {
  std::string name;
  std::uint32_t type = 0, link = 0;
  std::uint64_t offset = 0, size = 0;
};

class Cubin {
 public:
  Cubin(std::span<const std::byte> bytes, const std::string& name) : in_(bytes, name, "cubin") {
    check_header();
    read_sections();
  }

  std::map<std::string, CubinKernel> kernels() const {
    std::map<std::string, CubinKernel> found;
    for (const Section& s : sections_)
      if (const auto kernel = suffix(s.name, ".text.")) found[*kernel].code_bytes = s.size;
    for (const Section& s : sections_) {
      if (s.name == ".nv.info") {
        by_symbol(s, found);
      } else if (const auto owner = suffix(s.name, ".nv.info."); owner && found.contains(*owner)) {
        of_kernel(s, found[*owner]);
      } else if (const auto user = suffix(s.name, ".nv.shared."); user && found.contains(*user)) {
        found[*user].shared_bytes = s.size;
      }
    }
    return found;
  }

  /// The architecture that it is for, as a number like 80: in the second byte of the flags since CUDA 13's
  /// ABI version 8, in the first before that (measured on ptxas 13.0 for sm_80 to sm_100; LLVM's ELF.h).
  std::uint32_t architecture() const {
    constexpr std::uint8_t kLaterAbi = 8;
    const auto flags = in_.at<std::uint32_t>(0x30);
    return (in_.at<std::uint8_t>(8) >= kLaterAbi ? flags >> 8 : flags) & 0xff;
  }

 private:
  void check_header() const {
    (void)in_.range(0, kHeaderBytes);
    if (in_.at<std::uint32_t>(0) != kElfMagic) in_.fail(0, "an ELF file expected");
    if (in_.at<std::uint8_t>(4) != kClass64) in_.fail(4, "a 64-bit file expected");
    if (in_.at<std::uint8_t>(5) != kLittleEndian) in_.fail(5, "a little-endian file expected");
    if (in_.at<std::uint16_t>(0x12) != kMachineCuda)
      in_.fail(0x12, fmt::format("machine {} (CUDA) expected", kMachineCuda));
  }

  void read_sections() {
    const auto table = in_.at<std::uint64_t>(0x28);
    const auto bytes = in_.at<std::uint16_t>(0x3a), count = in_.at<std::uint16_t>(0x3c),
               names = in_.at<std::uint16_t>(0x3e);
    if (count == 0) return;
    if (bytes != kSectionBytes)
      in_.fail(0x3a, fmt::format("section headers of {} bytes expected", kSectionBytes));
    (void)in_.range(table, std::uint64_t{count} * kSectionBytes);
    if (names >= count) in_.fail(0x3e, fmt::format("a section below {} expected", count));
    std::vector<std::uint32_t> name_offsets;
    for (std::uint64_t i = 0, at = table; i < count; ++i, at += kSectionBytes) {
      Section s;
      name_offsets.push_back(in_.at<std::uint32_t>(at));
      s.type = in_.at<std::uint32_t>(at + 0x04);
      s.offset = in_.at<std::uint64_t>(at + 0x18);
      s.size = in_.at<std::uint64_t>(at + 0x20);
      s.link = in_.at<std::uint32_t>(at + 0x28);
      if (s.type != 0 && s.type != kTypeNoBytes) (void)in_.range(s.offset, s.size);
      sections_.push_back(std::move(s));
    }
    for (std::size_t i = 0; i < sections_.size(); ++i)
      sections_[i].name = text(sections_[names], name_offsets[i]);
  }

  /// The string at `offset` of a string table.
  [[nodiscard]] std::string text(const Section& table, std::uint64_t offset) const {
    if (table.type == kTypeNoBytes || offset >= table.size)
      in_.fail(table.offset, "a name within its table expected");
    const auto bytes = in_.range(table.offset + offset, table.size - offset);
    const auto end = std::ranges::find(bytes, std::byte{0});
    return {reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(end - bytes.begin())};
  }

  [[nodiscard]] static std::optional<std::string> suffix(const std::string& name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return std::nullopt;
    return name.substr(prefix.size());
  }

  /// Name of symbol `index` of the table that `info` links to.
  [[nodiscard]] std::string symbol(const Section& info, std::uint32_t index) const {
    if (info.link >= sections_.size() || sections_[info.link].type != kTypeSymbols)
      in_.fail(info.offset, "a link to the symbols expected");
    const Section& symbols = sections_[info.link];
    if (index >= symbols.size / kSymbolBytes) in_.fail(info.offset, "a symbol of the table expected");
    if (symbols.link >= sections_.size()) in_.fail(symbols.offset, "a link to the names expected");
    return text(sections_[symbols.link],
                in_.at<std::uint32_t>(symbols.offset + std::uint64_t{index} * kSymbolBytes));
  }

  /// Calls visit(attribute, value's offset, value's size) for each attribute.
  template <class Visit>
  void attributes(const Section& s, Visit visit) const {
    if (s.type == kTypeNoBytes) in_.fail(s.offset, "attributes with contents expected");
    for (std::uint64_t at = s.offset; at < s.offset + s.size;) {
      const auto format = in_.at<std::uint8_t>(at), attribute = in_.at<std::uint8_t>(at + 1);
      const bool sized = format == kFormatSized;
      const std::uint64_t size = sized ? in_.at<std::uint16_t>(at + 2) : 2;
      const std::uint64_t value = sized ? at + 4 : at + 2;
      if (value + size > s.offset + s.size) in_.fail(at, "an attribute within its section expected");
      visit(attribute, value, size);
      at = value + size;
    }
  }

  void by_symbol(const Section& s, std::map<std::string, CubinKernel>& kernels) const {
    attributes(s, [&](std::uint8_t attribute, std::uint64_t value, std::uint64_t size) {
      if (attribute != kAttributeRegisters && attribute != kAttributeFrame && attribute != kAttributeStack)
        return;
      if (size < 8) in_.fail(value, "a symbol and a number expected");
      const auto found = kernels.find(symbol(s, in_.at<std::uint32_t>(value)));
      if (found == kernels.end()) return;  // a function that kernels call
      CubinKernel& kernel = found->second;
      const auto number = in_.at<std::uint32_t>(value + 4);
      (attribute == kAttributeRegisters ? kernel.registers
       : attribute == kAttributeFrame   ? kernel.frame_bytes
                                        : kernel.stack_bytes) = number;
    });
  }

  void of_kernel(const Section& s, CubinKernel& kernel) const {
    attributes(s, [&](std::uint8_t attribute, std::uint64_t value, std::uint64_t) {
      if (attribute == kAttributeBarriers) kernel.barriers = in_.at<std::uint8_t>(value);
    });
  }

  ByteReader in_;
  std::vector<Section> sections_;
};

}  // namespace

std::map<std::string, CubinKernel> read_cubin(std::span<const std::byte> cubin, const std::string& name) {
  return Cubin(cubin, name).kernels();
}

std::string describe_cubin(std::span<const std::byte> cubin, const std::string& name) {
  constexpr std::size_t kNamed = 4;
  const Cubin file(cubin, name);
  std::string text = fmt::format("a cubin for sm_{}", file.architecture());
  std::size_t named = 0;
  for (const auto& [kernel, resources] : file.kernels()) {
    text += named == kNamed ? ", ..." : named == 0 ? ", kernels " + kernel : ", " + kernel;
    if (named++ == kNamed) break;
  }
  return text;
}

}  // namespace lockstep::cuda
