// Which errors of device programs are looked for (`--check`).
#pragma once

#include <string>
#include <string_view>

namespace lockstep::exec {

struct Checks {
  bool memory = false;  // accesses outside of allocations, misaligned ones
  bool init = false;    // reads of memory that nothing has written
  bool race = false;    // unordered accesses of different threads
  bool leak = false;    // allocations that the program has not freed at its end

  [[nodiscard]] bool any() const { return memory || init || race || leak; }
};

/// From a comma-separated list of the members' names; "all" stands for memory, init and race. Throws
/// UserError naming the unknown word.
[[nodiscard]] Checks parse_checks(std::string_view list);
/// As parse_checks() reads it.
[[nodiscard]] std::string to_text(const Checks& checks);

}  // namespace lockstep::exec
