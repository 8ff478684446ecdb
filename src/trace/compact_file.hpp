// Writing a compact trace kernel by kernel, CTA by CTA.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trace/compact_blocks.hpp"
#include "trace/compact_chunk.hpp"
#include "trace/compact_directory.hpp"
#include "trace/content_hash.hpp"

namespace lockstep::trace {

/// A chunk as it is stored in the file.
struct PackedChunk {
  Bytes raw, stored;
  std::uint64_t ctas = 0, records = 0, words = 0;
};

/// Makes packed chunks; one per thread that uses it. The same CTAs give the same bytes.
class ChunkPacker {
 public:
  /// `level`: Zstandard's, 1 to 22.
  explicit ChunkPacker(int level) : blocks_(level) {}
  /// `ctas`: as ChunkEncoder asks.
  void pack(const KernelHeader& header, std::span<const CtaTrace> ctas, PackedChunk& out);

 private:
  ChunkEncoder encoder_;
  BlockPacker blocks_;
};

/// CTAs of a kernel in their order, until they fill a chunk. Their memory is used again.
class OpenChunk {
 public:
  /// Swaps the CTA in. True: the chunk is full.
  bool add(CtaTrace& cta);
  [[nodiscard]] std::span<const CtaTrace> ctas() const { return {ctas_.data(), size_}; }
  void clear() { size_ = 0, bytes_ = 0; }

 private:
  std::vector<CtaTrace> ctas_;
  std::size_t size_ = 0, bytes_ = 0;
};

/// For each kernel: begin(), add() all CTAs in order, end(); then finish(). The same calls give the same
/// bytes. The file appears only when it is finished. Throws UserError if it cannot be written.
class CompactFile {
 public:
  /// `level`: Zstandard's, 1 to 22.
  CompactFile(const std::string& path, int level) : file_(path, level), packer_(level) {}

  void begin(const KernelHeader& header);
  /// Copies the CTA.
  void add(const CtaTrace& cta);
  /// The same without a copy: the CTA's memory is exchanged. None of its records is kShared.
  void add_plain(CtaTrace& cta);
  /// In place of add(): the next chunk of the kernel, each closed by the CTA that filled an OpenChunk.
  void add_packed(const PackedChunk& chunk);
  /// Forgets all CTAs since begin().
  void restart();
  /// A kernel of which some CTAs have been added. Others may be written before it is continued.
  struct Unfinished {
    KernelEntry entry;
    OpenChunk open;
  };
  [[nodiscard]] Unfinished suspend();
  /// It becomes the last kernel, with `id`.
  void resume(Unfinished kernel, std::uint64_t id);
  /// `traced(i)` for i below `instructions` is the kernel's instruction table, complete by now.
  void end(std::uint32_t instructions, const std::function<TracedInstruction(std::uint32_t)>& traced,
           std::vector<std::string> remarks);
  void finish(std::string name, std::uint64_t hash, std::vector<Command> commands);

  /// The file, for a reader that follows it (GrowingTrace).
  [[nodiscard]] int descriptor() const { return file_.descriptor(); }
  /// Kernels whose end() was called have all their blocks in the file.
  [[nodiscard]] const KernelEntry& kernel(std::uint32_t index) const { return directory_.kernels[index]; }
  /// For a process that was forked to write one kernel: its result, and how the parent process, which has
  /// written nothing meanwhile, takes it over.
  [[nodiscard]] Bytes last_kernel() const;
  void adopt_kernel(const Bytes& last);
  /// That process has failed.
  void forget_kernel() { file_.resize(file_.size()); }

  [[nodiscard]] std::uint64_t bytes() const { return file_.size(); }
  [[nodiscard]] std::uint64_t warp_instructions() const { return warp_instructions_; }
  /// Hash of everything written so far, uncompressed.
  [[nodiscard]] std::uint64_t hash() const { return hash_.value(); }

 private:
  void close_chunk();
  std::uint64_t write(BlockKind kind);

  struct Mark {  // the place where a kernel begins
    std::uint64_t bytes = 0, warp_instructions = 0;
    ContentHash hash;
  };

  BlockWriter file_;
  ChunkPacker packer_;
  CompactDirectory directory_;
  OpenChunk open_;
  CtaTrace plain_;
  PackedChunk packed_;
  std::uint64_t warp_instructions_ = 0;
  ContentHash hash_;
  Mark begin_;
  Bytes raw_;
};

}  // namespace lockstep::trace
