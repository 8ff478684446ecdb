// How much work a launch is.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

struct KernelSize {
  std::uint64_t instructions = 0;   // warp instructions: records
  std::uint64_t address_words = 0;  // words that say which memory they access, in the shortest forms
  bool operator==(const KernelSize&) const = default;
};

/// A trace that has the size of its kernels without reading CTAs.
class SizedTraceSet : public TraceSet {
 public:
  /// The size of kernel `index`; empty if it is not in the trace.
  [[nodiscard]] virtual std::optional<KernelSize> size(std::uint32_t index) const = 0;
};

/// The size in the trace, otherwise counted in all CTAs of the kernel. Throws InputError.
[[nodiscard]] KernelSize size_of(const TraceSet& trace, std::uint32_t kernel);
/// Counted.
[[nodiscard]] KernelSize measure_kernel(const TraceSet& trace, std::uint32_t kernel);

}  // namespace lockstep::trace
