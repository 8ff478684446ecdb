// One bit for each byte of memory: has anything written it? Internal to src/exec.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "util/types.hpp"

namespace lockstep::exec {

/// Bits [from, from + count) of `words`, whose bit i is bit i % 64 of word i / 64.
void set_bits(std::span<std::uint64_t> words, std::uint64_t from, std::uint64_t count, bool value);
/// The first of them that is `value`.
[[nodiscard]] std::optional<std::uint64_t> first_bit(std::span<const std::uint64_t> words, std::uint64_t from,
                                                     std::uint64_t count, bool value);

/// One bit for each byte of the address space; regions that were never set take no memory.
class ShadowBits {
 public:
  void set(Address begin, std::uint64_t bytes, bool value);
  /// The first byte whose bit is `value`.
  [[nodiscard]] std::optional<Address> first(Address begin, std::uint64_t bytes, bool value) const;
  /// The bits of [to, to + bytes) become those of [from, from + bytes), as memmove() would.
  void move(Address to, Address from, std::uint64_t bytes);

 private:
  static constexpr unsigned kPageShift = 16;
  static constexpr std::uint64_t kPageBytes = std::uint64_t{1} << kPageShift, kWords = kPageBytes / 64;
  struct Page {
    std::uint64_t words[kWords] = {};
  };

  [[nodiscard]] Page* page(Address at, bool make) const;

  mutable std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  mutable std::uint64_t last_number_ = ~std::uint64_t{0};
  mutable Page* last_ = nullptr;
};

}  // namespace lockstep::exec
