// What a part of a launch's CTAs reads and writes in global memory, and what was there before: whether parts
// that ran at the same time were independent of each other, and how to undo them. Internal to src/exec.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/address_space.hpp"

namespace lockstep::exec {

/// Zeros, of which the host only takes pages that are touched.
class SparseBytes {
 public:
  explicit SparseBytes(std::uint64_t bytes);
  ~SparseBytes();
  SparseBytes(const SparseBytes&) = delete;
  SparseBytes& operator=(const SparseBytes&) = delete;
  /// nullptr: the host refuses so many addresses.
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::uint64_t bytes_;
  std::byte* data_;
};

/// The memory of the whole arena as it was before a launch, by lines of 128 bytes, each kept by who first
/// writes to it.
class Undo {
 public:
  static constexpr unsigned kLineBytes = 128;
  struct Line {
    Address at;
    std::byte bytes[kLineBytes];
  };
  Undo();
  [[nodiscard]] bool works() const { return states_.data() != nullptr; }
  /// To be called before a write. Keeps the line in `log`, or waits for who does.
  void keep(Address line, std::vector<Line>& log);

 private:
  SparseBytes states_;  // a byte for each line: untouched, being kept, kept
};

/// One part. Its memory is counted in words of 4 bytes.
class AccessSet {
 public:
  explicit AccessSet(Undo& undo);
  [[nodiscard]] bool works() const;

  /// `bytes` is not 0. Addresses outside the arena make the set foreign().
  void read(Address first, std::uint64_t bytes);
  void write(Address first, std::uint64_t bytes);

  /// It reached memory that is not the arena's, of which nothing is known.
  [[nodiscard]] bool foreign() const { return foreign_; }
  /// Does this one write a word that the other reads or writes?
  [[nodiscard]] bool disturbs(const AccessSet& other) const;
  /// Gives the lines that this one kept their bytes back.
  void undo() const;

 private:
  static constexpr unsigned kWordsShift = 2;        // bytes of a word
  static constexpr unsigned kChunkShift = 17;       // bytes of device memory that a page of bits stands for
  static constexpr std::uint64_t kChunkBits = 512;  // such a page, in numbers of 64 bits
  [[nodiscard]] bool reach(Address first, std::uint64_t bytes);

  Undo& undo_;
  SparseBytes read_, written_, touched_;  // touched_: a byte for each chunk
  std::vector<std::uint64_t> chunks_;     // that are touched
  std::vector<Undo::Line> log_;
  bool foreign_ = false;
};

}  // namespace lockstep::exec
