// The header of a kernel's trace file, and the layout of the lines that follow.
#pragma once

#include <string>
#include <vector>

#include "trace/kernel_trace.hpp"
#include "trace/text_stream.hpp"

namespace lockstep::trace {

/// How the instruction lines of a file are laid out.
struct LineLayout {
  bool line_info = false;    // a source line number precedes the PC
  unsigned leading_ids = 0;  // numbers before that (CTA x y z, warp, ...)
  bool address_mode = true;  // addresses are preceded by their encoding (0, 1 or 2)
  bool processed = true;     // grouped by CTA; otherwise lines of many warps are interleaved
};

struct KernelFile {
  KernelHeader header;
  LineLayout layout;
  std::vector<std::string> remarks;
};

/// Reads the header and leaves `stream` at the first line of the body. Throws InputError.
[[nodiscard]] KernelFile read_header(TextStream& stream);

}  // namespace lockstep::trace
