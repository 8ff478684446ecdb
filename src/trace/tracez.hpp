// Kernel files with the ending .tracez, as Accel-Sim 2.0's post-processing writes them: the instruction lines
// of each warp in Zstandard frames, with an index of thread blocks at the end. docs/trace-format.md has the
// layout.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/kernel_header.hpp"
#include "trace/text_feed.hpp"

namespace lockstep::trace {

/// Whether `path` is one: by its ending, or because a NUL ends its header. False where it cannot be read.
/// Throws InputError if the ending says that the file was compressed once more.
[[nodiscard]] bool is_tracez(const std::string& path);

/// Its header; the index is not read. Throws InputError, which names the offset in the file unless the error
/// is in the header's text.
[[nodiscard]] KernelFile read_tracez_header(const std::string& path);

/// Its CTAs in the order of the index. Reads the whole index and throws InputError if any of it is invalid.
/// Memory: the dictionary and, while reading, one sub-chunk (at most 256 MiB of text) and a piece of text,
/// whatever the file contains.
[[nodiscard]] std::unique_ptr<CtaFeed> open_tracez(const std::string& path, const FeedOptions& options = {},
                                                   const std::vector<std::string>& remarks = {});

}  // namespace lockstep::trace
