// Writing a compact trace kernel by kernel, CTA by CTA, as they come.
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

/// For each kernel: begin(), add() all CTAs in order, end(); then finish(). The same calls give the same
/// bytes. The file is there only when it is finished. Throws UserError when it cannot be written.
class CompactFile {
 public:
  /// `level`: Zstandard's, 1 to 22.
  CompactFile(const std::string& path, int level) : file_(path, level) {}

  void begin(const KernelHeader& header);
  /// Copies the CTA.
  void add(const CtaTrace& cta);
  /// `traced(i)` for i below `instructions` is the kernel's instruction table, complete by now.
  void end(std::uint32_t instructions, const std::function<TracedInstruction(std::uint32_t)>& traced,
           std::vector<std::string> remarks);
  void finish(std::string name, std::uint64_t hash, std::vector<Command> commands);

  /// The file until it is finished, for who reads along (GrowingTrace).
  [[nodiscard]] const std::string& temporary() const { return file_.temporary(); }
  /// Kernels whose end() was called have all their blocks in the file.
  [[nodiscard]] const KernelEntry& kernel(std::uint32_t index) const { return directory_.kernels[index]; }
  /// For a process that was forked to write one kernel: what it did, and the same in the process it was
  /// forked from, which has written nothing meanwhile.
  [[nodiscard]] Bytes last_kernel() const;
  void adopt_kernel(const Bytes& last);
  /// That process has failed.
  void forget_kernel() { file_.skip_to(file_.size()); }

  [[nodiscard]] std::uint64_t bytes() const { return file_.size(); }
  [[nodiscard]] std::uint64_t warp_instructions() const { return warp_instructions_; }
  /// Over all that was written so far, uncompressed.
  [[nodiscard]] std::uint64_t hash() const { return hash_.value(); }

 private:
  void close_chunk();
  std::uint64_t write(BlockKind kind);

  BlockWriter file_;
  ChunkEncoder encoder_;
  CompactDirectory directory_;
  std::vector<CtaTrace> ctas_;  // the first pending_ are the open chunk; the others keep their memory
  std::size_t pending_ = 0, pending_bytes_ = 0;
  std::uint64_t warp_instructions_ = 0;
  ContentHash hash_;
  Bytes raw_;
};

}  // namespace lockstep::trace
