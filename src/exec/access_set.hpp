// What a part of a launch's CTAs reads and writes in global memory, and what was there before: whether parts
// that ran at the same time were independent of each other, and how to undo them. Internal to
// src/exec but for AccessSets, which whoever runs several launches keeps.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "exec/address_space.hpp"
#include "exec/reduction_set.hpp"

namespace lockstep::exec {

/// Zeros, of which the host only takes pages that are touched.
class SparseBytes {
 public:
  explicit SparseBytes(std::uint64_t bytes);
  ~SparseBytes();
  SparseBytes(const SparseBytes&) = delete;
  SparseBytes& operator=(const SparseBytes&) = delete;
  /// nullptr: the host refuses to map this much address space.
  [[nodiscard]] std::byte* data() const { return data_; }
  /// All zeros again; the host gets its pages back.
  void drop();

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
  explicit Undo(std::uint64_t arena_bytes);
  [[nodiscard]] bool works() const { return states_.data() != nullptr; }
  /// To be called before a write. Keeps the line in `log`, or waits for the thread that does.
  void keep(Address line, std::vector<Line>& log);
  /// The line may be kept again.
  void forget(Address line);

 private:
  SparseBytes states_;  // a byte for each line: untouched, being kept, kept
};

/// What CTAs run at once for cannot be had: an access needs what one by one would have made of memory.
struct Dependent : std::exception {};

/// One part. Its memory is counted in words of 4 bytes.
class AccessSet {
 public:
  /// `arena_bytes`: DeviceMemory::arena_bytes() of the memory.
  AccessSet(Undo& undo, std::uint64_t arena_bytes);
  [[nodiscard]] bool works() const;

  /// `bytes` is not 0. Addresses outside the arena make the set foreign(). Throws Dependent where this part
  /// has reduced a word of them.
  void read(Address first, std::uint64_t bytes);
  void write(Address first, std::uint64_t bytes);
  /// Memory stays as it is until apply(). All elements of a launch have the same width. Throws Dependent
  /// where this part has read, written, or reduced the element by another operation.
  void reduce(const Reduction& one);
  [[nodiscard]] bool reduces() const { return !reductions_.all().empty(); }

  /// It reached memory that is not the arena's, of which nothing is known.
  [[nodiscard]] bool foreign() const { return foreign_; }
  /// Does this one write a word that the other reads, writes or reduces, or reduce one that the other reads
  /// or reduces by another operation?
  [[nodiscard]] bool conflicts_with(const AccessSet& other) const;
  /// Gives memory what this part has reduced. Which part is first makes no difference.
  void apply() const;
  /// Gives the lines that this one kept their bytes back.
  void undo() const;
  /// As if nothing had been noted, for the next launch.
  void clear();

 private:
  static constexpr unsigned kWordsShift = 2;        // bytes of a word
  static constexpr unsigned kChunkShift = 17;       // bytes of device memory that a page of bits stands for
  static constexpr std::uint64_t kChunkBits = 512;  // such a page, in numbers of 64 bits
  static constexpr std::uint64_t kNoChunk = ~std::uint64_t{0};
  /// False: outside the arena.
  [[nodiscard]] bool reach(Address first, std::uint64_t bytes) {
    const std::uint64_t from = first - kArenaBase, to = from + bytes - 1;
    return (from >> kChunkShift == latest_ && to >> kChunkShift == latest_) || reach_chunks(from, to);
  }
  [[nodiscard]] bool reach_chunks(std::uint64_t from, std::uint64_t to);
  [[nodiscard]] bool words_overlap(const AccessSet& other) const;

  Undo& undo_;
  std::uint64_t arena_bytes_;
  SparseBytes read_, written_, reduced_, touched_;  // touched_: a byte for each chunk
  std::vector<std::uint64_t> chunks_;               // that are touched
  std::uint64_t latest_ = kNoChunk;                 // of them
  std::vector<Undo::Line> log_;
  ReductionSet reductions_;
  bool foreign_ = false;
};

/// The sets of one launch after the other: most reach the same memory, whose pages are then there.
class AccessSets {
 public:
  /// `arena_bytes`: DeviceMemory::arena_bytes() of the memory.
  explicit AccessSets(std::uint64_t arena_bytes);
  ~AccessSets();
  /// `count` empty sets, valid until the next call; none if the host refuses to map that much address
  /// space.
  [[nodiscard]] std::span<const std::unique_ptr<AccessSet>> get(unsigned count);

 private:
  std::uint64_t arena_bytes_;
  Undo undo_;
  std::vector<std::unique_ptr<AccessSet>> sets_;
};

}  // namespace lockstep::exec
