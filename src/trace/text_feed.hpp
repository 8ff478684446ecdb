// The CtaFeed of text traces.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/kernel_header.hpp"
#include "trace/kernel_trace.hpp"
#include "trace/text_stream.hpp"

namespace lockstep::trace {

struct FeedOptions {
  bool strict = false;
  std::uint64_t ahead_ctas = 64;            // read-ahead: at most this many CTAs ...
  std::uint64_t ahead_bytes = 16ull << 20;  // ... and about this many decoded bytes
  Address region = 0;  // else addresses of global memory move there (moved_addresses.hpp)
};

/// `file` names the trace in errors.
[[nodiscard]] std::unique_ptr<CtaFeed> make_text_feed(KernelFile kernel, std::unique_ptr<CtaSource> source,
                                                      std::string file, const FeedOptions& options = {});

/// A kernel's feed from its text: header, then CTAs, processed or not.
[[nodiscard]] std::unique_ptr<CtaFeed> open_kernel_text(std::unique_ptr<ByteSource> bytes, std::string file,
                                                        const FeedOptions& options = {},
                                                        std::vector<std::string> remarks = {});

}  // namespace lockstep::trace
