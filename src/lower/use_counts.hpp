// How often a function names each of its virtual registers.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::lower {

/// By register: instructions that write it and that read it (ptx::register_use).
struct UseCounts {
  UseCounts() = default;
  explicit UseCounts(const ptx::Function& function);
  std::vector<std::uint32_t> writes, reads;
};

}  // namespace lockstep::lower
