// The bytes of a .tracez file: header, dictionary, and the index of thread blocks read from front to back.
// Internal to the reader of such files (tracez.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "util/types.hpp"

namespace lockstep::trace {

class TracezFile {
 public:
  /// Opens it and finds its parts. Throws InputError.
  explicit TracezFile(std::string path);
  ~TracezFile();
  TracezFile(const TracezFile&) = delete;
  TracezFile& operator=(const TracezFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& header() const { return header_; }
  /// The dictionary; empty if the frames need none.
  [[nodiscard]] std::vector<char> dictionary() const;
  [[nodiscard]] std::uint64_t index_offset() const { return index_offset_; }
  [[nodiscard]] std::uint64_t index_end() const { return size_ - 8; }
  [[nodiscard]] std::uint64_t data_offset() const { return dictionary_offset_ + dictionary_size_; }

  /// `what`: for the message when the bytes reach beyond `end`.
  void read(std::uint64_t offset, void* out, std::size_t size, std::uint64_t end, const char* what) const;
  [[nodiscard]] std::uint32_t number(std::uint64_t offset, std::uint64_t end, const char* what) const;
  [[noreturn]] void fail(std::uint64_t offset, const std::string& message) const;

 private:
  void find_header();
  void find_parts();

  std::string path_, header_;
  int fd_ = -1;
  std::uint64_t size_ = 0, dictionary_offset_ = 0, index_offset_ = 0;
  std::uint32_t dictionary_size_ = 0;
};

/// A warp in the index. The file has the number of instructions of each sub-chunk from `counts` on.
struct TracezWarp {
  std::uint32_t instructions = 0, subchunks = 0;
  std::uint64_t data = 0;    // offset of the warp's header
  std::uint64_t counts = 0;  // offset
};

struct TracezBlock {
  Dim3 id{0, 0, 0}, cta_in_cluster{0, 0, 0};
  std::vector<TracezWarp> warps;
};

/// Reads the index block by block.
class TracezIndex {
 public:
  TracezIndex(const TracezFile& file, std::uint32_t warps_per_cta);
  [[nodiscard]] std::uint32_t blocks() const { return blocks_; }
  /// The next block; false after the last. Throws InputError unless its numbers agree with the file.
  bool next(TracezBlock& block);

 private:
  std::uint32_t take();
  void warp(TracezWarp& out);

  const TracezFile& file_;
  std::uint32_t warps_per_cta_, blocks_, done_ = 0;
  std::uint64_t at_;
  std::vector<std::uint8_t> buffer_;  // the index from buffer_start_ on
  std::uint64_t buffer_start_ = 0;
};

}  // namespace lockstep::trace
