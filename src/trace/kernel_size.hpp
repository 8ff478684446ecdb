// How much a launch executes.
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

/// A trace that knows it without reading CTAs.
class SizedTraceSet : public TraceSet {
 public:
  /// The size of kernel `index`; nothing where the trace does not say it.
  [[nodiscard]] virtual std::optional<KernelSize> size(std::uint32_t index) const = 0;
};

/// What the trace says, else counted in all CTAs of the kernel. Throws InputError.
[[nodiscard]] KernelSize size_of(const TraceSet& trace, std::uint32_t kernel);
/// Counted.
[[nodiscard]] KernelSize measure_kernel(const TraceSet& trace, std::uint32_t kernel);

}  // namespace lockstep::trace
