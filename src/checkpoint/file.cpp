#include "checkpoint/file.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "trace/content_hash.hpp"
#include "util/error.hpp"

namespace lockstep::checkpoint {
namespace {

constexpr std::string_view kMagic = "lockstep checkpoint\n";
constexpr std::uint64_t kVersion = 1;
constexpr int kLevel = 1;  // of compression: most of a state is zeros
/// More bytes than a compressed byte can stand for: a block of Zstandard has 128 KiB at most and 4 bytes at
/// least (RFC 8878, 3.1.1.2).
constexpr std::uint64_t kMaxFromByte = 1 << 16;

void put(std::string& bytes, std::uint64_t number) {
  for (unsigned i = 0; i < 8; ++i) bytes += static_cast<char>(number >> 8 * i);
}
void put(std::string& bytes, std::string_view text) {
  put(bytes, text.size());
  bytes += text;
}

/// What is left of the file.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& file) : left_(bytes), file_(&file) {}
  [[nodiscard]] std::string_view take(std::uint64_t size) {
    if (size > left_.size()) fail("ends too early; expected a whole checkpoint");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  [[nodiscard]] std::uint64_t number() {
    std::uint64_t value = 0;
    const std::string_view bytes = take(8);
    for (unsigned i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
    return value;
  }
  [[nodiscard]] std::string_view text() { return take(number()); }
  [[nodiscard]] bool at_end() const { return left_.empty(); }
  [[noreturn]] void fail(const std::string& what) const { throw InputError(*file_, 0, what); }

 private:
  std::string_view left_;
  const std::string* file_;
};

std::uint64_t hash_of(std::string_view bytes) {
  trace::ContentHash hash;
  hash.update(bytes.data(), bytes.size());
  return hash.value();
}

std::string compressed(std::string_view state) {
  std::string bytes(ZSTD_compressBound(state.size()), '\0');
  const std::size_t size = ZSTD_compress(bytes.data(), bytes.size(), state.data(), state.size(), kLevel);
  if (ZSTD_isError(size)) throw std::runtime_error("a state cannot be compressed");
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::string encode(const Checkpoint& checkpoint) {
  std::string bytes(kMagic);
  put(bytes, kVersion);
  put(bytes, checkpoint.kernels);
  put(bytes, checkpoint.made_from.size());
  for (const auto& [name, value] : checkpoint.made_from) {
    put(bytes, name);
    put(bytes, value);
  }
  put(bytes, checkpoint.state.size());
  put(bytes, compressed(checkpoint.state));
  put(bytes, hash_of(bytes));
  return bytes;
}

/// The version before the hash: another one's file may have that elsewhere.
Checkpoint decode(std::string_view bytes, const std::string& file) {
  Reader reader(bytes, file);
  if (!bytes.starts_with(kMagic)) reader.fail("is not a checkpoint of lockstep");
  (void)reader.take(kMagic.size());
  if (const std::uint64_t version = reader.number(); version != kVersion)
    reader.fail(fmt::format("is a checkpoint of format {}; expected format {}", version, kVersion));
  if (bytes.size() < 8) reader.fail("ends too early; expected a whole checkpoint");
  Reader tail(bytes.substr(bytes.size() - 8), file);
  if (tail.number() != hash_of(bytes.substr(0, bytes.size() - 8)))
    reader.fail("is damaged or cut off: its hash is not that of its content; expected a whole checkpoint");
  Checkpoint checkpoint;
  checkpoint.kernels = reader.number();
  for (std::uint64_t left = reader.number(); left > 0; --left) {
    const std::string_view name = reader.text(), value = reader.text();
    checkpoint.made_from.emplace_back(name, value);
  }
  const std::uint64_t size = reader.number();
  const std::string_view packed = reader.text();
  (void)reader.number();  // the hash
  if (!reader.at_end() || size / kMaxFromByte > packed.size() ||
      ZSTD_getFrameContentSize(packed.data(), packed.size()) != size)
    reader.fail("is damaged: its parts do not fit; expected a whole checkpoint");
  checkpoint.state.resize(size);
  if (ZSTD_decompress(checkpoint.state.data(), size, packed.data(), packed.size()) != size)
    reader.fail("is damaged: its state cannot be unpacked");
  return checkpoint;
}

void check_made_from(const Checkpoint& checkpoint, const MadeFrom& here, const std::string& file) {
  for (const auto& [name, value] : here) {
    const auto is_it = [&name = name](const auto& entry) { return entry.first == name; };
    const auto there = std::find_if(checkpoint.made_from.begin(), checkpoint.made_from.end(), is_it);
    if (there == checkpoint.made_from.end() || there->second != value)
      throw InputError(file, 0,
                       fmt::format("is of another {}: found {}, expected {}", name,
                                   there == checkpoint.made_from.end() ? "none" : there->second, value));
  }
}

}  // namespace lockstep::checkpoint
