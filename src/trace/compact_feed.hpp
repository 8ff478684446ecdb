// Reading and writing compact traces.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

/// A compact trace as a set of kernels. Throws InputError.
[[nodiscard]] std::unique_ptr<TraceSet> open_compact(const std::string& path, const OpenOptions& options);

struct ConvertProgress {
  std::uint32_t kernel = 0, kernels = 0;
  std::uint64_t ctas = 0, total_ctas = 0;          // of the whole trace
  std::uint64_t warp_instructions = 0, bytes = 0;  // read, written so far
};

struct ConvertOptions {
  int level = 19;        // Zstandard's, 1 to 22
  unsigned threads = 1;  // to decode the source with; the result does not depend on it
  std::function<void(const ConvertProgress&)> progress{};  // now and then
};

/// Writes `trace` to `path` as a compact trace, a bounded number of CTAs at a time. The file is there only
/// when it is complete. The same trace gives the same bytes. Throws UserError.
ConvertProgress write_compact(const TraceSet& trace, const std::string& path,
                              const ConvertOptions& options = {});

}  // namespace lockstep::trace
