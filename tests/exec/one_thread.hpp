// Statements of PTX executed by one warp, and what its registers hold afterwards.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {

/// Registers that the statements may use: %h (16 bits), %r, %f (32), %d, %e (64), %p; %d0 is the address of
/// `cells`, %r0 the thread's number. There are variables `shared` and `local` of 256 bytes each.
struct Statements {
  std::string text;
  std::string module = {};  // before the kernel
  std::vector<std::uint64_t> cells = std::vector<std::uint64_t>(8);

  /// What the registers hold in each thread: [thread * registers.size() + register].
  std::vector<std::uint64_t> run(const std::vector<std::string>& registers, std::uint32_t threads = 1) {
    std::string store;
    for (std::size_t i = 0; i < registers.size(); ++i) {
      const std::string& name = registers[i];
      const char* const convert = name[1] == 'h'   ? "cvt.u64.u16 %out, {};"
                                  : name[1] == 'r' ? "cvt.u64.u32 %out, {};"
                                  : name[1] == 'f' ? "mov.b64 %out, {{{}, 0}};"
                                  : name[1] == 'p' ? "selp.u64 %out, 1, 0, {};"
                                                   : "mov.b64 %out, {};";
      store +=
          fmt::format(fmt::runtime(convert), name) + fmt::format(" st.global.u64 [%to+{}], %out;\n", 8 * i);
    }
    Device device(module + R"(
.visible .entry run(.param .u64 cells, .param .u64 out) {
  .reg .b16 %h<9>; .reg .b32 %r<17>; .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .f64 %e<9>; .reg .pred %p<9>;
  .reg .b64 %to, %out;
  .shared .align 16 .b8 shared[256]; .local .align 16 .b8 local[256];
  ld.param.u64 %d0, [cells]; ld.param.u64 %to, [out]; mov.u32 %r0, %tid.x;
)" + text + fmt::format("\n  mad.wide.u32 %to, %r0, {}, %to;\n", 8 * registers.size()) +
                  store + "  ret;\n}\n");
    const Address at = device.array(cells);
    const std::size_t count = registers.size() * threads;
    const Address out = device.zeros<std::uint64_t>(std::max<std::size_t>(count, 1));
    device.run("run", {1, 1, 1}, {threads, 1, 1}, Arguments(at, out));
    cells = device.read<std::uint64_t>(at, cells.size());
    return device.read<std::uint64_t>(out, count);
  }
};

/// What a register holds after the statements.
inline std::uint64_t value_after(const std::string& statements, const std::string& name) {
  return Statements{statements}.run({name})[0];
}

}  // namespace lockstep::exec::test
