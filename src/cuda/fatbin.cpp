#include "cuda/fatbin.hpp"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include "cuda/byte_reader.hpp"

namespace lockstep::cuda {

namespace {

constexpr std::uint16_t kKindPtx = 1, kKindCubin = 2;
constexpr std::uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
constexpr std::size_t kEntryHeaderBytes = 64;

struct EntryHeader {
  std::uint16_t kind;
  std::uint32_t header_bytes;
  std::uint64_t payload_bytes;
  std::uint32_t compressed_bytes;
  std::uint16_t minor, major;
  std::uint32_t sm;
  std::uint64_t flags, plain_bytes;
};

EntryHeader read_entry(const ByteReader& in, std::uint64_t at) {
  (void)in.range(at, kEntryHeaderBytes);
  EntryHeader entry{
      in.at<std::uint16_t>(at),        in.at<std::uint32_t>(at + 0x04), in.at<std::uint64_t>(at + 0x08),
      in.at<std::uint32_t>(at + 0x10), in.at<std::uint16_t>(at + 0x18), in.at<std::uint16_t>(at + 0x1a),
      in.at<std::uint32_t>(at + 0x1c), in.at<std::uint64_t>(at + 0x28), in.at<std::uint64_t>(at + 0x38)};
  if (entry.header_bytes < kEntryHeaderBytes) in.fail(at + 4, "entry header of at least 64 bytes expected");
  return entry;
}

std::string options_of(const ByteReader& in, std::uint64_t at, const EntryHeader& entry) {
  const auto record = in.at<std::uint32_t>(at + 0x14);
  if (record == 0 || std::uint64_t{record} + 8 > entry.header_bytes) return {};
  const auto offset = in.at<std::uint32_t>(at + record), size = in.at<std::uint32_t>(at + record + 4);
  const auto text = in.range(at + offset, size);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

/// Before so much memory is taken: can these bytes be an image of that size?
bool may_hold(std::span<const std::byte> packed, const EntryHeader& entry) {
  constexpr std::uint64_t kLz4Most = 255;  // bytes from one (LZ4 block format)
  if ((entry.flags & kFlagZstd) == 0) return entry.plain_bytes / kLz4Most <= packed.size();
  const auto said = ZSTD_getFrameContentSize(packed.data(), packed.size());
  return said == entry.plain_bytes || said == ZSTD_CONTENTSIZE_UNKNOWN;
}

std::string decompress(const ByteReader& in, std::uint64_t at, const EntryHeader& entry) {
  const std::uint64_t start = at + entry.header_bytes;
  if (entry.plain_bytes > kMaxImageBytes)
    in.fail(at + 0x38,
            fmt::format("an image of {} bytes, at most {} expected", entry.plain_bytes, kMaxImageBytes));
  if (entry.compressed_bytes > entry.payload_bytes)
    in.fail(at + 0x10, "a compressed size within the payload expected");
  const auto packed = in.range(start, entry.compressed_bytes);
  if (!may_hold(packed, entry))
    in.fail(start, fmt::format("a compressed image of {} bytes expected", entry.plain_bytes));
  std::string plain(entry.plain_bytes, '\0');
  if ((entry.flags & kFlagZstd) != 0) {
    const std::size_t got = ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size());
    if (ZSTD_isError(got) != 0 || got != plain.size()) in.fail(start, "a whole zstd frame expected");
  } else {
    const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(packed.data()), plain.data(),
                                        static_cast<int>(packed.size()), static_cast<int>(plain.size()));
    if (got < 0 || static_cast<std::size_t>(got) != plain.size())
      in.fail(start, "a whole LZ4 block expected");
  }
  return plain;
}

FatbinImage read_image(const ByteReader& in, std::uint64_t at, const EntryHeader& entry) {
  FatbinImage image;
  image.kind = entry.kind == kKindPtx ? FatbinImage::Kind::kPtx : FatbinImage::Kind::kCubin;
  image.sm = entry.sm;
  image.major = entry.major;
  image.minor = entry.minor;
  image.options = options_of(in, at, entry);
  if ((entry.flags & (kFlagLz4 | kFlagZstd)) != 0) {
    image.bytes = decompress(in, at, entry);
  } else {
    const auto payload = in.range(at + entry.header_bytes, entry.payload_bytes);
    image.bytes.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
  }
  if (image.kind == FatbinImage::Kind::kPtx) {
    const auto last = image.bytes.find_last_not_of('\0');
    image.bytes.resize(last == std::string::npos ? 0 : last + 1);
  }
  return image;
}

}  // namespace

std::uint64_t fatbin_bytes(std::span<const std::byte, kFatbinHeaderBytes> header) {
  static const std::string name = "program";
  const ByteReader in(header, name, "fatbin");
  if (in.at<std::uint32_t>(0) != kFatbinMagic)
    in.fail(0,
            fmt::format("magic number {:#x} expected, {:#x} found", kFatbinMagic, in.at<std::uint32_t>(0)));
  const auto header_bytes = in.at<std::uint16_t>(6);
  if (header_bytes < kFatbinHeaderBytes) in.fail(6, "header of at least 16 bytes expected");
  const auto entries = in.at<std::uint64_t>(8);
  if (entries > (std::uint64_t{1} << 40)) in.fail(8, "a size below 1 TiB expected");
  return header_bytes + entries;
}

std::vector<FatbinImage> read_fatbin(std::span<const std::byte> fatbin, const std::string& name) {
  const ByteReader in(fatbin, name, "fatbin");
  const std::uint64_t end = fatbin_bytes(in.range(0, kFatbinHeaderBytes).first<kFatbinHeaderBytes>());
  (void)in.range(0, end);
  std::vector<FatbinImage> images;
  for (std::uint64_t at = in.at<std::uint16_t>(6); at < end;) {
    const EntryHeader entry = read_entry(in, at);
    (void)in.range(at, entry.header_bytes);
    (void)in.range(at + entry.header_bytes, entry.payload_bytes);
    if (entry.kind == kKindPtx || entry.kind == kKindCubin) images.push_back(read_image(in, at, entry));
    at += entry.header_bytes + entry.payload_bytes;
  }
  return images;
}

}  // namespace lockstep::cuda
