// A file of managed allocations beside a trace.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trace/text_stream.hpp"
#include "util/types.hpp"

namespace lockstep::gpu {

/// One allocation a line: address (0x hexadecimal, or decimal), white space, bytes (decimal, or hexadecimal
/// with 0x), and whatever follows is a comment; empty lines and lines that begin with # are skipped. Throws
/// InputError naming the line: a malformed number, size 0, an end beyond 2^49, or no allocation at all.
[[nodiscard]] std::vector<std::pair<Address, std::uint64_t>> read_managed_file(trace::TextStream stream);
[[nodiscard]] std::vector<std::pair<Address, std::uint64_t>> read_managed_file(const std::string& path);

}  // namespace lockstep::gpu
