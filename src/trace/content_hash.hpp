// A fast 64-bit hash of file contents: identifies a trace in statistics; not cryptographic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace lockstep::trace {

/// Four independent multiply-and-fold lanes over 8-byte little-endian words. The result depends on the bytes
/// only, not on how they were split over update() calls.
class ContentHash {
 public:
  void update(const char* bytes, std::size_t size);
  void update(std::uint64_t number);  // its 8 bytes, the lowest first
  [[nodiscard]] std::uint64_t value() const;

 private:
  static constexpr std::size_t kBlock = 32;
  void block(const char* bytes);
  std::array<std::uint64_t, 4> lanes_{0x243F6A8885A308D3u, 0x13198A2E03707344u, 0xA4093822299F31D0u,
                                      0x082EFA98EC4E6C89u};  // digits of pi
  std::array<char, kBlock> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t length_ = 0;
};

/// The hash of the bytes as stored. Throws InputError.
[[nodiscard]] std::uint64_t hash_file(const std::string& path);

}  // namespace lockstep::trace
