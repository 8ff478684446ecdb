// Which functions a kernel can reach, and where their names lie: the first step of decoding. Internal to
// src/exec.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "exec/translation.hpp"
#include "ptx/ir.hpp"

namespace lockstep::exec {

/// Where the names of one function lie.
struct FunctionLayout {
  std::vector<std::uint32_t> registers;  // first row of each register
  // The offset of each Function::variable in shared memory or in the frame.
  std::vector<std::uint32_t> variables;
  // Offset of each parameter: the entry's in the parameter buffer, another function's in its frame.
  std::vector<std::uint32_t> parameters;
  std::vector<std::uint32_t> results;                   // offsets in the frame
  std::map<std::uint32_t, std::uint32_t> address_rows;  // frame offset -> row that holds its address
};

struct KernelLayout {
  std::vector<std::uint32_t> ids;  // Program::functions index of each function of the kernel, the entry first
  std::vector<FunctionLayout> functions;
  // The offset of each Program::variable in shared memory or in the entry's frame.
  std::vector<std::uint32_t> variables;
};

/// Finds the functions that the kernel `entry` can reach, gives each its rows, frame and operations (empty
/// ones), and lays out shared memory. Throws InputError where a limit of the machine is passed.
[[nodiscard]] KernelLayout lay_out(const ptx::Program& program, std::uint32_t entry, Translation& out);

}  // namespace lockstep::exec
