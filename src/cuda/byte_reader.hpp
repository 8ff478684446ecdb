// Bounds-checked reading of little-endian numbers from bytes that may be anything.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "util/error.hpp"

namespace lockstep::cuda {

static_assert(std::endian::native == std::endian::little);

/// `name` of the program and `what` the bytes are, e.g. "fatbin", stand in the errors (UserError).
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, const std::string& name, const char* what)
      : bytes_(bytes), name_(&name), what_(what) {}

  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  template <class T>
  [[nodiscard]] T at(std::uint64_t offset) const {
    T value{};
    std::memcpy(&value, range(offset, sizeof value).data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::span<const std::byte> range(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset)
      fail(offset, fmt::format("{} bytes expected, the {} ends after {}", size, what_, bytes_.size()));
    return bytes_.subspan(offset, size);
  }
  [[noreturn]] void fail(std::uint64_t offset, const std::string& message) const {
    throw UserError(fmt::format("{}: {}, offset {:#x}: {}", *name_, what_, offset, message));
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string* name_;
  const char* what_;
};

}  // namespace lockstep::cuda
