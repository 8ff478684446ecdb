// Machine code of a small kernel, for the tests of lowering.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "exec/device_memory.hpp"
#include "exec/image.hpp"
#include "lower/code.hpp"
#include "ptx/linker.hpp"
#include "ptx/parser.hpp"

namespace lockstep::lower::test {

/// All steps but what every kernel begins with, of which setup_test.cpp is.
inline Passes without_setup() {
  Passes passes;
  passes.setup = false;
  return passes;
}

/// `body` may use %f0 to %f199 (f32), %d0 to %d8 (f64), %i0 to %i19 (b32), %l0 to %l8 (b64), %h0 to %h8
/// (b16), %p0 to %p8, %r1, an address of global memory, and 4 KB of shared memory at `window`.
inline ptx::Module module_of(const std::string& body) {
  return ptx::parse(
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
      ".reg .f32 %f<200>;\n.reg .f64 %d<9>;\n.reg .b64 %r<3>;\n.reg .b32 %i<20>;\n"
      ".reg .b64 %l<9>;\n.reg .b16 %h<9>;\n.reg .pred %p<9>;\n.shared .align 16 .b8 window[4096];\n"
      "ld.param.u64 %r1, [p];\n" +
          body + "ret;\n}\n",
      "test");
}
/// The kernel as parsed: its first instruction loads %r1.
inline ptx::Function function_of(const std::string& body) { return module_of(body).functions.front(); }

/// The register of this name; the first one if there is none.
inline ptx::RegisterId register_of(const ptx::Function& f, const std::string& name) {
  const auto found = std::ranges::find(f.registers, name, &ptx::Register::name);
  return found == f.registers.end() ? 0 : static_cast<ptx::RegisterId>(found - f.registers.begin());
}

inline Code code_of(const std::string& body, unsigned arch = 75, Passes passes = without_setup()) {
  std::vector<ptx::Module> modules;
  modules.push_back(module_of(body));
  const ptx::Program program = ptx::link(std::move(modules));
  exec::DeviceMemory memory(std::uint64_t{1} << 22);
  const exec::ProgramImage image(program, memory);
  return Code(exec::Executable(image, program.find_function("k").value()), arch, passes);
}
inline std::vector<MachineInstruction> lowered(const std::string& body, unsigned arch = 75,
                                               Passes passes = without_setup()) {
  return code_of(body, arch, passes).instructions();
}

inline std::size_t opcode_count(const std::vector<MachineInstruction>& code, const std::string& opcode) {
  return static_cast<std::size_t>(std::ranges::count_if(code, [&](const MachineInstruction& i) {
    return (" " + i.text + " ").find(" " + opcode + " ") != std::string::npos;
  }));
}

}  // namespace lockstep::lower::test
