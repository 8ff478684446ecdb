// A chunk of a compact trace: a few successive CTAs of a kernel as byte columns; see docs/trace-format.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trace/compact_bytes.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::trace {

/// A chunk is closed by the CTA with which it reaches this size: decoding one takes less than a millisecond.
inline constexpr std::size_t kChunkBytes = 512 << 10;
inline constexpr std::size_t kMaxCtaBytes = 1u << 30;
/// The bytes for which a CTA counts in its chunk; records that warps share count for each of them.
[[nodiscard]] inline std::size_t counted_bytes(std::size_t warps, std::size_t records, std::size_t words) {
  return 64 + warps * sizeof(WarpSpan) + records * sizeof(Record) + words * sizeof(std::uint64_t);
}
[[nodiscard]] inline std::size_t record_count(const CtaTrace& cta) {
  std::size_t sum = 0;
  for (const WarpSpan& warp : cta.warps) sum += warp.record_count;
  return sum;
}
/// No chunk has more CTAs, as each counts for 64 bytes.
inline constexpr std::uint64_t kMaxChunkCtas = kChunkBytes / 64 + 1;

enum class Column : std::uint8_t {
  kHead,        // CTA numbers; for each warp its sequence
  kLength,      // records of each sequence
  kToken,       // a byte for each record of a sequence
  kInst,        // instructions that do not follow as predicted
  kMask,        // masks that are not among the recent ones
  kMode,        // how a warp's words are predicted, a byte each
  kExceptions,  // number of mispredicted words of a warp
  kGap,         // words between them
  kResidual,    // difference to the prediction
  kCode,        // how a record's lane addresses are coded, a byte each
  kStep,        // base addresses and strides
  kWidth,       // bytes of each lane's difference
  kPlane0,      // lowest byte of each difference, then 7 columns for the higher ones
  kCount = kPlane0 + 8,
};
inline constexpr std::size_t kColumns = static_cast<std::size_t>(Column::kCount);

/// What a chunk's content refers to.
struct ChunkContext {
  const KernelHeader& header;
  std::uint64_t first_cta = 0;  // CtaTrace::index of the chunk's first CTA
};

/// Turns CTAs into a chunk's bytes. The same CTAs give the same bytes. None of their records is kShared
/// (copy_plain); throws std::logic_error.
class ChunkEncoder {
 public:
  ChunkEncoder();
  ~ChunkEncoder();
  void encode(const ChunkContext& context, std::span<const CtaTrace> ctas, Bytes& out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The reverse. Everything read is checked against header and table.
class ChunkDecoder {
 public:
  ChunkDecoder();
  ~ChunkDecoder();
  /// Fills all of `out`. Throws BrokenBlock.
  void decode(const ChunkContext& context, const StaticTable& table, std::span<const std::uint8_t> bytes,
              std::span<CtaTrace* const> out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::trace
