// Cache operators of loads, as the PTX ISA describes them, in the static instructions that the model reads.
#include <catch2/catch.hpp>
#include <string>

#include "exec/device_memory.hpp"
#include "exec/image.hpp"
#include "lower/code.hpp"
#include "ptx/linker.hpp"
#include "ptx/parser.hpp"
#include "trace/traced_instruction.hpp"

using namespace lockstep;

namespace {

/// The only global load of a kernel, `load` with a register and an address behind it.
trace::StaticInst load_of(const std::string& load) {
  std::vector<ptx::Module> modules;
  modules.push_back(
      ptx::parse(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                 ".reg .f32 %f<2>;\n.reg .b64 %r<2>;\nld.param.u64 %r1, [p];\n" +
                     load + " %f1, [%r1];\nst.global.f32 [%r1+4], %f1;\nret;\n}\n",
                 "test"));
  const ptx::Program program = ptx::link(std::move(modules));
  exec::DeviceMemory memory(std::uint64_t{1} << 22);
  const exec::ProgramImage image(program, memory);
  const lower::Code code(exec::Executable(image, program.find_function("k").value()), 75);
  for (const auto& i : code.instructions())
    if (i.text.find("LDG") != std::string::npos) return trace::decode_traced({i.pc, i.text, i.immediate}, 75);
  return {};
}

TEST_CASE("cache operators reach the L1: .cg and .cv pass it by, .cs goes first") {
  CHECK_FALSE(load_of("ld.global.f32").bypass_l1);
  CHECK_FALSE(load_of("ld.global.ca.f32").bypass_l1);
  CHECK(load_of("ld.global.cg.f32").bypass_l1);
  CHECK(load_of("ld.global.cv.f32").bypass_l1);
  CHECK(load_of("ld.volatile.global.f32").bypass_l1);
  CHECK_FALSE(load_of("ld.global.cg.f32").evict_first);
  CHECK(load_of("ld.global.cs.f32").evict_first);
  CHECK_FALSE(load_of("ld.global.cs.f32").bypass_l1);
}

}  // namespace
