// CTAs of a kernel that come from several threads, in any order, as chunks of a compact trace.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "trace/compact_file.hpp"

namespace lockstep::trace {

/// For each kernel, between CompactFile::begin() and end(): begin(), add(), finish(). The file gets the same
/// bytes as from CompactFile::add() of one CTA after another. Memory is kept from kernel to kernel.
class ChunkTeam {
 public:
  /// `level`: the file's.
  ChunkTeam(CompactFile& file, int level) : file_(file), level_(level) {}

  /// `header` must outlive finish(). Drops what is left of a kernel that failed.
  void begin(const KernelHeader& header);

  /// Any thread: some of the kernel's CTAs in ascending order, each once; their memory is exchanged. None of
  /// their records is kShared. A thread's calls are in ascending order too. Packs chunks that are complete.
  /// Waits while earlier CTAs are missing and too many later ones are kept, unless `failed`, when results no
  /// longer matter. Throws UserError.
  void add(std::span<CtaTrace> ctas, const std::atomic<bool>& failed);
  /// After all CTAs.
  void finish();

 private:
  struct Job {
    std::uint64_t number = 0;
    std::unique_ptr<OpenChunk> chunk;
  };
  using Lock = std::unique_lock<std::mutex>;
  void wait_for_room(Lock& lock, std::uint64_t index, const std::atomic<bool>& failed);
  void gather();
  void close();
  void work(Lock& lock);
  void pack(Lock& lock, Job job);

  CompactFile& file_;
  const KernelHeader* header_ = nullptr;
  int level_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable room_;
  std::map<std::uint64_t, CtaTrace> early_;  // whose predecessors are still missing
  std::vector<CtaTrace> spare_;              // memory
  std::uint64_t next_ = 0;                   // CTA
  std::unique_ptr<OpenChunk> open_ = std::make_unique<OpenChunk>();
  std::uint64_t closed_ = 0, written_ = 0;  // chunks
  std::deque<Job> jobs_;
  std::map<std::uint64_t, std::unique_ptr<PackedChunk>> packed_;  // by number: not yet written
  std::vector<std::unique_ptr<OpenChunk>> spare_chunks_;
  std::vector<std::unique_ptr<PackedChunk>> spare_packed_;
  std::vector<std::unique_ptr<ChunkPacker>> packers_;
};

}  // namespace lockstep::trace
