// kernelslist / kernelslist.g: the commands of a traced program, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/kernel_trace.hpp"
#include "trace/text_stream.hpp"

namespace lockstep::trace {

/// The list of one device among several, each with an address space of its own (device_folders.hpp).
struct ListOptions {
  std::optional<std::uint16_t> device;  // whose it is: addresses become those of its region
};

/// A wait for an event of another device's list.
struct ForeignEvent {
  std::size_t command = 0;  // index of the wait, whose `event` counts in that list
  std::uint16_t device = 0;
  std::uint64_t line = 0;
};

struct KernelList {
  std::vector<Command> commands;      // `kernel` counts the entries of `files`
  std::vector<std::string> files;     // as written in the list
  std::vector<std::uint64_t> lines;   // where each file is named
  std::uint64_t events = 0;           // recorded
  std::uint16_t device = 0;           // of the commands that follow
  std::vector<std::string> remarks;   // commands that are not modelled, each once
  std::vector<ForeignEvent> foreign;  // of a device's list
};

/// Throws InputError for malformed lines and for lists without kernels.
[[nodiscard]] KernelList read_kernel_list(TextStream stream, const ListOptions& options = {});

}  // namespace lockstep::trace
