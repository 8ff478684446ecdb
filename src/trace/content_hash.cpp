#include "trace/content_hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "trace/byte_source.hpp"

namespace lockstep::trace {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87u, kPrime2 = 0xC2B2AE3D27D4EB4Fu;

std::uint64_t load_word(const char* p) {
  std::uint64_t word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, p, sizeof word);
  } else {
    for (unsigned i = 0; i < 8; ++i) word |= std::uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
  }
  return word;
}

std::uint64_t fold(std::uint64_t h, std::uint64_t word) {
  return std::rotl(h + word * kPrime2, 31) * kPrime1;
}

}  // namespace

void ContentHash::block(const char* bytes) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i] = fold(lanes_[i], load_word(bytes + 8 * i));
}

void ContentHash::update(const char* bytes, std::size_t size) {
  length_ += size;
  if (pending_size_ > 0) {
    const std::size_t step = std::min(size, kBlock - pending_size_);
    std::memcpy(pending_.data() + pending_size_, bytes, step);
    pending_size_ += step;
    bytes += step;
    size -= step;
    if (pending_size_ < kBlock) return;
    block(pending_.data());
    pending_size_ = 0;
  }
  for (; size >= kBlock; bytes += kBlock, size -= kBlock) block(bytes);
  if (size > 0) std::memcpy(pending_.data(), bytes, size);
  pending_size_ = size;
}

void ContentHash::update(std::uint64_t number) {
  char bytes[8];
  for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (8 * i) & 0xff);
  update(bytes, sizeof bytes);
}

std::uint64_t ContentHash::value() const {
  ContentHash last = *this;
  std::fill(last.pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_), last.pending_.end(), '\0');
  last.block(last.pending_.data());
  std::uint64_t h = length_ * kPrime1;
  for (const std::uint64_t lane : last.lanes_) h = fold(h ^ lane, lane);
  h ^= h >> 33;
  h *= kPrime2;
  return h ^ h >> 29;
}

std::uint64_t hash_file(const std::string& path) {
  const auto file = open_stored(path);
  std::vector<char> buffer(1 << 18);
  ContentHash hash;
  while (const std::size_t got = file->read(buffer.data(), buffer.size())) hash.update(buffer.data(), got);
  return hash.value();
}

}  // namespace lockstep::trace
