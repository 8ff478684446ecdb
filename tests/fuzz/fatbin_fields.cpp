// Fatbins as a program holds them, valid but for some fields: sizes, offsets, kinds and flags of entries, the
// compressed payload, sections and attributes of the machine code. Loaded as a program's module, or refused
// with a UserError.
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/cubin.hpp"
#include "cuda/error.hpp"
#include "cuda/fatbin.hpp"
#include "cuda/modules.hpp"
#include "paths.hpp"
#include "tests/fuzz/support/ptx_change.hpp"
#include "util/error.hpp"

namespace {

using namespace lockstep;
using fuzz::Choices;
using Bytes = std::string;

enum class Packing : std::uint8_t { kNone, kLz4, kZstd };
constexpr std::size_t kHeader = 16, kEntry = 64;

Bytes read(const char* path) {
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR "/") + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
void put(Bytes& bytes, std::size_t at, T value) {
  if (at <= bytes.size() && sizeof value <= bytes.size() - at)
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// A number that a careless reader would take: near the right one, or near a limit.
std::uint64_t odd_number(Choices& choices, std::uint64_t right) {
  switch (choices.below(9)) {
    case 0:
      return 0;
    case 1:
      return right + 1;
    case 2:
      return right - 1;
    case 3:
      return right + 8 * choices.below(1 << 12);
    case 4:
      return ~std::uint64_t{0} - choices.below(256);
    case 5:
      return (std::uint64_t{1} << 63) + choices.below(256);
    case 6:
      return 0xffffffffu - choices.below(256);
    case 7:
      return 0x80000000u + choices.below(256);
    default:
      return choices.below(1 << 16);
  }
}

/// A field of 1, 2, 4 or 8 bytes gets another number.
void change_field(Choices& choices, Bytes& bytes, std::size_t at, std::size_t width) {
  std::uint64_t right = 0;
  if (at > bytes.size() || width > bytes.size() - at) return;
  std::memcpy(&right, bytes.data() + at, width);
  const std::uint64_t value = odd_number(choices, right);
  std::memcpy(bytes.data() + at, &value, width);
}

void change_anywhere(Choices& choices, Bytes& bytes) {
  if (bytes.empty()) return;
  const std::size_t at = choices.below(bytes.size());
  switch (choices.below(3)) {
    case 0:
      bytes[at] = static_cast<char>(choices.below(256));
      break;
    case 1:
      bytes.resize(at);
      break;
    default:
      bytes.insert(at, choices.below(64), static_cast<char>(choices.below(256)));
  }
}

struct Field {
  std::size_t at, width;
};

/// ELF header, section headers, contents of sections (ELF-64: offsets and widths of the fields).
void change_cubin(Choices& choices, Bytes& cubin) {
  constexpr Field kElf[] = {{0x04, 1}, {0x05, 1}, {0x12, 2}, {0x28, 8}, {0x3a, 2}, {0x3c, 2}, {0x3e, 2}};
  constexpr Field kSection[] = {{0x00, 4}, {0x04, 4}, {0x18, 8}, {0x20, 8}, {0x28, 4}, {0x2c, 4}, {0x38, 8}};
  std::uint64_t table = 0;
  std::uint16_t count = 0;
  std::memcpy(&table, cubin.data() + 0x28, sizeof table);
  std::memcpy(&count, cubin.data() + 0x3c, sizeof count);
  const std::size_t section = table + 64 * choices.below(count);
  switch (choices.below(4)) {
    case 0: {
      const Field f = kElf[choices.below(std::size(kElf))];
      return change_field(choices, cubin, f.at, f.width);
    }
    case 1: {
      const Field f = kSection[choices.below(std::size(kSection))];
      return change_field(choices, cubin, section + f.at, f.width);
    }
    case 2: {
      std::uint64_t begin = 0, size = 0;
      if (section + 64 > cubin.size()) return;
      std::memcpy(&begin, cubin.data() + section + 0x18, sizeof begin);
      std::memcpy(&size, cubin.data() + section + 0x20, sizeof size);
      if (begin >= cubin.size() || size == 0) return;
      return change_field(choices, cubin,
                          begin + choices.below(std::min<std::size_t>(size, cubin.size() - begin)),
                          std::size_t{1} << choices.below(3));
    }
    default:
      return change_anywhere(choices, cubin);
  }
}

Bytes packed(const Bytes& plain, Packing packing) {
  if (packing == Packing::kNone) return plain;
  Bytes to(ZSTD_compressBound(plain.size()) +
               static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(plain.size()))),
           '\0');
  const std::size_t size =
      packing == Packing::kLz4
          ? static_cast<std::size_t>(LZ4_compress_default(
                plain.data(), to.data(), static_cast<int>(plain.size()), static_cast<int>(to.size())))
          : ZSTD_compress(to.data(), to.size(), plain.data(), plain.size(), 1);
  to.resize(size);
  return to;
}

/// An entry with PTX or machine code; in some, one thing is not as it should be.
void add_entry(Choices& choices, Bytes& fatbin) {
  static const Bytes ptx = read("examples/ptx/vector_add.ptx"),
                     cubin = read("tests/fuzz/seeds/cubin/vector_add_sm75");
  constexpr Field kFields[] = {{0x00, 2}, {0x02, 2}, {0x04, 4}, {0x08, 8}, {0x10, 4}, {0x14, 4},
                               {0x18, 2}, {0x1a, 2}, {0x1c, 4}, {0x28, 8}, {0x38, 8}};
  const bool is_ptx = choices.below(2) == 0;
  const auto packing = static_cast<Packing>(choices.below(3));
  Bytes plain = is_ptx ? ptx : cubin;
  if (!is_ptx && choices.below(2) == 0) change_cubin(choices, plain);
  if (is_ptx && choices.below(4) == 0) plain = fuzz::changed_ptx(choices);
  Bytes payload = packed(plain, packing);
  const std::size_t compressed = payload.size(), at = fatbin.size();
  if (choices.below(4) == 0) change_anywhere(choices, payload);
  payload.resize((payload.size() + 7) / 8 * 8);
  fatbin.resize(at + kEntry);
  put<std::uint16_t>(fatbin, at, is_ptx ? 1 : 2);
  put<std::uint16_t>(fatbin, at + 2, 0x0101);
  put<std::uint32_t>(fatbin, at + 4, kEntry);
  put<std::uint64_t>(fatbin, at + 8, payload.size());
  put<std::uint16_t>(fatbin, at + 0x1a, 9);
  put<std::uint32_t>(fatbin, at + 0x1c, 75);
  if (packing != Packing::kNone) {
    put<std::uint32_t>(fatbin, at + 0x10, static_cast<std::uint32_t>(compressed));
    put<std::uint64_t>(fatbin, at + 0x28, packing == Packing::kLz4 ? 0x2000 : 0x8000);
    put<std::uint64_t>(fatbin, at + 0x38, plain.size());
  }
  fatbin += payload;
  if (choices.below(2) == 0) {
    const Field f = kFields[choices.below(std::size(kFields))];
    change_field(choices, fatbin, at + f.at, f.width);
  }
}

Bytes new_fatbin(Choices& choices) {
  Bytes fatbin(kHeader, '\0');
  put<std::uint32_t>(fatbin, 0, 0xBA55ED50);
  put<std::uint16_t>(fatbin, 4, 1);
  put<std::uint16_t>(fatbin, 6, kHeader);
  for (std::size_t entries = 1 + choices.below(3); entries > 0; --entries) add_entry(choices, fatbin);
  put<std::uint64_t>(fatbin, 8, fatbin.size() - kHeader);
  if (choices.below(8) == 0) change_field(choices, fatbin, 6, 2);
  if (choices.below(8) == 0) change_field(choices, fatbin, 8, 8);
  return fatbin;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  const Bytes fatbin = new_fatbin(choices);
  const auto bytes =
      std::make_unique<std::byte[]>(fatbin.size());  // exactly as long, so that no read goes beyond it unseen
  std::memcpy(bytes.get(), fatbin.data(), fatbin.size());
  const std::span<const std::byte> whole(bytes.get(), fatbin.size());
  try {
    for (const cuda::FatbinImage& image : cuda::read_fatbin(whole, "fuzz"))
      if (image.kind == cuda::FatbinImage::Kind::kCubin)
        (void)cuda::read_cubin(std::as_bytes(std::span(image.bytes)), "fuzz");
  } catch (const UserError&) {
  }
  exec::DeviceMemory memory(std::uint64_t{1} << 28);
  cuda::Module module("fuzz", std::vector{whole}, cuda::PtxLimit{75, "fuzz"}, memory);
  try {
    (void)module.machine_code();
    (void)module.image();
  } catch (const UserError&) {
  } catch (const cuda::ApiError&) {
  }
  return 0;
}
