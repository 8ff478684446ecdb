#include "util/archive.hpp"

namespace lockstep {

void Archive::complain() {
  throw std::logic_error("persist() does not name every member in the order of declaration");
}

void Archive::raw(void* data, std::size_t bytes) {
  if (!reading_) {
    bytes_.append(static_cast<const char*>(data), bytes);
    return;
  }
  if (bytes > left_.size()) throw ArchiveError("the state ends too early");
  if (bytes > 0) std::memcpy(data, left_.data(), bytes);
  left_.remove_prefix(bytes);
}

/// The size of a container whose elements take at least `min_bytes` each.
std::size_t Archive::count(std::size_t size, std::size_t min_bytes) {
  std::uint64_t n = size;
  raw(&n, sizeof n);
  if (reading_ && n > left_.size() / min_bytes) throw ArchiveError("the state ends too early");
  return n;
}

void Archive::section(std::string_view name) {
  std::uint64_t word = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) word = (word ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  const std::uint64_t expected = word;
  raw(&word, sizeof word);
  if (word != expected)
    throw ArchiveError("the state of \"" + std::string(name) + "\" is not where it should be");
}

void Archive::item(bool& value) {
  std::uint8_t byte = value ? 1 : 0;
  raw(&byte, sizeof byte);
  if (byte > 1) throw ArchiveError("a value is neither true nor false");
  value = byte != 0;
}

void Archive::item(std::string& text) {
  text.resize(count(text.size(), 1));
  raw(text.data(), text.size());
}

void Archive::item(std::vector<bool>& bits) {
  bits.resize(count(bits.size(), 1));
  for (std::vector<bool>::reference bit : bits) {
    bool value = bit;
    item(value);
    bit = value;
  }
}

}  // namespace lockstep
