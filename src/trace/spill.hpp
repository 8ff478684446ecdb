// Unprocessed traces: lines of many warps interleaved, brought into CTA order through a temporary file.
#pragma once

#include <memory>

#include "trace/kernel_header.hpp"
#include "trace/text_stream.hpp"

namespace lockstep::trace {

/// Reads the whole of `stream` now and writes it, sorted in runs of `run_bytes`, to a nameless temporary file
/// in $TMPDIR. The result merges the runs CTA by CTA, in linear CTA order, in the form of a processed trace;
/// of each pair of LDGSTS lines (the tracer prints one for each address) the first is dropped. Memory: one
/// run, then one CTA, and 24 bytes per run. Throws InputError for lines without valid CTA and warp numbers.
[[nodiscard]] std::unique_ptr<CtaSource> spill_interleaved(TextStream stream, const KernelFile& kernel,
                                                           std::size_t run_bytes = 16 << 20);

}  // namespace lockstep::trace
