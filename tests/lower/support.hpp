// Machine code of a small kernel, for the tests of lowering.
#pragma once

#include <string>
#include <vector>

#include "exec/device_memory.hpp"
#include "exec/image.hpp"
#include "lower/code.hpp"
#include "ptx/linker.hpp"
#include "ptx/parser.hpp"

namespace lockstep::lower::test {

/// For sm_75. `body` may use %f0 to %f8 (f32), %d0 to %d8 (f64) and %r1, an address of global memory.
inline std::vector<MachineInstruction> lowered(const std::string& body) {
  std::vector<ptx::Module> modules;
  modules.push_back(
      ptx::parse(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                 ".reg .f32 %f<9>;\n.reg .f64 %d<9>;\n.reg .b64 %r<3>;\nld.param.u64 %r1, [p];\n" +
                     body + "ret;\n}\n",
                 "test"));
  const ptx::Program program = ptx::link(std::move(modules));
  exec::DeviceMemory memory(std::uint64_t{1} << 22);
  const exec::ProgramImage image(program, memory);
  return Code(exec::Executable(image, program.find_function("k").value()), 75).instructions();
}

}  // namespace lockstep::lower::test
