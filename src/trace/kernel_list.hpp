// kernelslist / kernelslist.g: the commands of a traced program, in order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/kernel_trace.hpp"
#include "trace/text_stream.hpp"

namespace lockstep::trace {

struct KernelList {
  std::vector<Command> commands;     // `kernel` counts the entries of `files`
  std::vector<std::string> files;    // as written in the list
  std::vector<std::uint64_t> lines;  // where each file is named
  std::uint64_t events = 0;          // recorded
  std::uint16_t device = 0;          // of the commands that follow
  std::vector<std::string> remarks;  // commands that are not modelled, each once
};

/// Throws InputError for malformed lines and for lists without kernels.
[[nodiscard]] KernelList read_kernel_list(TextStream stream);

}  // namespace lockstep::trace
