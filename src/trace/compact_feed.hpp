// Reading and writing compact traces.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "trace/compact_directory.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

/// A compact trace as a set of kernels. Throws InputError.
[[nodiscard]] std::unique_ptr<TraceSet> open_compact(const std::string& path, const OpenOptions& options);

/// A compact trace that is still being written; kernels are added as they are completed.
class GrowingTrace final : public SizedTraceSet {
 public:
  /// `strict`: as OpenOptions.
  explicit GrowingTrace(bool strict);
  ~GrowingTrace() override;
  /// Before the first kernel: takes over a descriptor of CompactFile::descriptor()'s file; `path` is its name
  /// in messages.
  void open_file(const std::string& path, int descriptor);
  /// Not at the same time as open(); other threads may go on reading kernels that are open.
  void add(KernelEntry kernel);
  /// Name and hash of what has been written so far.
  void finish(std::string name, std::uint64_t hash);
  /// Its address does not change.
  [[nodiscard]] const KernelEntry& entry(std::uint32_t index) const;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t content_hash() const override { return hash_; }
  /// Empty: a reader of a growing file gets its commands elsewhere.
  [[nodiscard]] const std::vector<Command>& commands() const override { return commands_; }
  [[nodiscard]] const std::vector<KernelHeader>& kernels() const override { return headers_; }
  [[nodiscard]] std::unique_ptr<CtaFeed> open(std::uint32_t index) const override;
  [[nodiscard]] std::optional<KernelSize> size(std::uint32_t index) const override {
    return entry(index).size;
  }

 private:
  struct File;
  std::shared_ptr<File> file_;
  bool strict_;
  std::string name_;
  std::uint64_t hash_ = 0;
  std::vector<Command> commands_;
  std::vector<KernelHeader> headers_;
};

struct ConvertProgress {
  std::uint32_t kernel = 0, kernels = 0;
  std::uint64_t ctas = 0, total_ctas = 0;          // of the whole trace
  std::uint64_t warp_instructions = 0, bytes = 0;  // read, written so far
};

struct ConvertOptions {
  int level = 19;        // Zstandard's, 1 to 22
  unsigned threads = 1;  // to decode the source with; the result does not depend on it
  std::function<void(const ConvertProgress&)> progress{};  // called from time to time
};

/// Writes `trace` to `path` as a compact trace, a bounded number of CTAs at a time. The file appears only
/// when it is complete. The same trace gives the same bytes. Throws UserError.
ConvertProgress write_compact(const TraceSet& trace, const std::string& path,
                              const ConvertOptions& options = {});

}  // namespace lockstep::trace
