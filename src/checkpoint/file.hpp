// A checkpoint as a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::checkpoint {

/// What a run is made from, by name: "program", "configuration", ... in the order in which differences are
/// reported. A run can only resume from a checkpoint that was made from the same.
using MadeFrom = std::vector<std::pair<std::string, std::string>>;

struct Checkpoint {
  MadeFrom made_from;
  std::uint64_t kernels = 0;  // that are complete
  std::string state;          // gpu::keep()
};

/// The bytes of a file: its header names the format and its version; a hash over all says whether it is
/// whole. That finds damage, not malice: states are as trustworthy as whoever wrote them.
[[nodiscard]] std::string encode(const Checkpoint& checkpoint);
/// Throws InputError naming `file` for anything but the bytes of such a file.
[[nodiscard]] Checkpoint decode(std::string_view bytes, const std::string& file);

/// Throws InputError naming `file` and the first difference.
void check_made_from(const Checkpoint& checkpoint, const MadeFrom& here, const std::string& file);

}  // namespace lockstep::checkpoint
