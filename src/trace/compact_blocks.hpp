// The container of a compact trace: checksummed, compressed blocks in one file; see docs/trace-format.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trace/compact_bytes.hpp"
#include "util/output_file.hpp"

namespace lockstep::trace {

enum class BlockKind : std::uint8_t { kChunk = 1, kTable = 2, kDirectory = 3 };

/// Line version: instruction tables may have source lines. Device version: commands may name devices as well.
/// Cluster version: kernels have clusters. A file has the lowest version that can express its content.
inline constexpr std::uint32_t kPlainVersion = 1, kLineVersion = 2, kDeviceVersion = 3, kSizeVersion = 4,
                               kNetworkVersion = 5, kHostVersion = 6, kTaskVersion = 7, kMessageVersion = 8,
                               kTimestampVersion = 9, kOneSidedVersion = 10, kElapseVersion = 11,
                               kPersistVersion = 12, kClusterVersion = 13, kLastVersion = kClusterVersion;
inline constexpr std::size_t kMaxBlockBytes = 256u << 20;  // decompressed

/// True when `path` is a regular file that begins as a compact trace does.
[[nodiscard]] bool is_compact(const std::string& path);

/// A decompressor and its buffers: one per task that reads blocks.
class BlockScratch {
 public:
  BlockScratch();
  ~BlockScratch();
  BlockScratch(const BlockScratch&) = delete;
  BlockScratch& operator=(const BlockScratch&) = delete;

 private:
  friend class BlockReader;
  Bytes stored_, raw_;
  void* context_;
};

/// Reads blocks of a file at any offset; safe to use from several threads, each with its own scratch.
class BlockReader {
 public:
  /// Checks magic, version and trailer. Throws InputError.
  explicit BlockReader(std::string path);
  /// For a file that is still being written, without trailer and directory: blocks may be read once they have
  /// been written. Takes over the open file; `path` is its name in messages.
  BlockReader(std::string path, int descriptor);
  ~BlockReader();
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  /// The content of the block at `offset`, good until the scratch is used again. Throws InputError.
  [[nodiscard]] std::span<const std::uint8_t> read(std::uint64_t offset, BlockKind kind,
                                                   BlockScratch& scratch) const;
  [[nodiscard]] std::uint64_t directory() const { return directory_; }
  [[nodiscard]] std::uint32_t version() const { return version_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Throws InputError naming the file and the block's offset.
  [[noreturn]] void fail(std::uint64_t offset, const std::string& message) const;

 private:
  void read_at(std::uint64_t offset, std::uint8_t* out, std::size_t size) const;
  void open_and_check();

  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0, directory_ = 0;
  std::uint32_t version_ = kLastVersion;
};

/// A compressor: makes blocks as they are stored in a file. One per thread that uses it.
class BlockPacker {
 public:
  /// `level`: Zstandard's, 1 to 22.
  explicit BlockPacker(int level);
  ~BlockPacker();
  BlockPacker(const BlockPacker&) = delete;
  BlockPacker& operator=(const BlockPacker&) = delete;
  /// The same content gives the same bytes. Throws UserError where it is larger than the format allows.
  void pack(BlockKind kind, const Bytes& raw, Bytes& stored);

 private:
  int level_;
  void* context_;
};

/// Writes a compact trace, which gets its name only when it is complete (OutputFile).
class BlockWriter {
 public:
  /// `level`: Zstandard's, 1 to 22. Throws UserError if the file cannot be created.
  BlockWriter(std::string path, int level);
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  /// Appends a block and returns its offset. Throws UserError if it is too large or cannot be written.
  std::uint64_t write(BlockKind kind, const Bytes& raw);
  /// The same for a block that a BlockPacker has made.
  std::uint64_t write_packed(const Bytes& stored);
  /// Appends the trailer that points at the directory block, and gives the file its name. `version`: of the
  /// format.
  void finish(std::uint64_t directory, std::uint32_t version);
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// For a reader that follows.
  [[nodiscard]] int descriptor() const { return file_.descriptor(); }
  /// The file ends at `size`: what follows is dropped; what comes before was written by this object, or by
  /// another process through the same open file.
  void resize(std::uint64_t size);

 private:
  void append(const Bytes& bytes);

  OutputFile file_;
  BlockPacker packer_;
  std::uint64_t size_ = 0;
  Bytes stored_;
};

}  // namespace lockstep::trace
