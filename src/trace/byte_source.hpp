// Bytes of a trace file: plain, gzip, xz or Zstandard, recognised by their first bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace lockstep::trace {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads up to `size` bytes into `out` and returns how many; 0 only at the end. Throws InputError when the
  /// file cannot be read or its compressed data is broken or cut short.
  virtual std::size_t read(char* out, std::size_t size) = 0;
};

/// The bytes as stored. Throws InputError unless `path` is an existing regular file.
[[nodiscard]] std::unique_ptr<ByteSource> open_stored(const std::string& path);

/// The text, decompressed where needed.
[[nodiscard]] std::unique_ptr<ByteSource> open_text(const std::string& path);

/// Text that is already in memory; for tests and fuzzing.
[[nodiscard]] std::unique_ptr<ByteSource> open_memory(std::string bytes);

/// Throws InputError unless `path` names a readable regular file.
void require_readable_file(const std::string& path);

}  // namespace lockstep::trace
