// Registers that the code needs beside those that ptxas 13.0 gives the same kernels.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>

#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

constexpr std::array kArchitectures{75u, 80u, 86u, 90u};

/// `groups` loads, each followed by `products` FFMAs of one chain that need it.
std::string chain(const std::string& load, unsigned groups, unsigned products) {
  std::string text =
      "mov.u32 %i0, %tid.x;\nmul.wide.u32 %l0, %i0, 4;\nadd.s64 %l1, %r1, %l0;\nshl.b32 %i1, %i0, 2;\n"
      "mov.u32 %i2, window;\nadd.s32 %i3, %i1, %i2;\nld.global.f32 %f0, [%l1];\n"
      "ld.global.f32 %f1, [%l1+4096];\nbar.sync 0;\n";
  for (unsigned g = 0; g < groups; ++g) {
    text += fmt::format("{0} %f{1}, [{2}+{3}];\n", load, 10 + g,
                        load.find("shared") == std::string::npos ? "%l1" : "%i3", 8192 + 132 * g);
    text += fmt::format("fma.rn.f32 %f0, %f{}, %f1, %f0;\n", 10 + g);
    for (unsigned p = 1; p < products; ++p) text += "fma.rn.f32 %f0, %f0, %f1, %f0;\n";
  }
  return text + "st.global.f32 [%l1], %f0;\n";
}

/// A dot product over n, four elements at a time, whose sum so far is stored after each.
std::string stored_sum() {
  std::string text =
      "ld.param.u32 %i1, [n];\nmov.u32 %i0, %tid.x;\nmul.wide.u32 %l0, %i0, 4;\nadd.s64 %l1, %r1, %l0;\n"
      "add.s64 %l2, %r1, 65536;\nld.global.f32 %f0, [%r1];\nmov.u32 %i4, 0;\nLOOP:\n";
  for (unsigned e = 0; e < 4; ++e)
    text += fmt::format(
        "ld.global.f32 %f{0}, [%l1+{2}];\nld.global.f32 %f{1}, [%l2+{2}];\nfma.rn.f32 %f0, %f{0}, %f{1}, "
        "%f0;\n"
        "st.global.f32 [%r1], %f0;\n",
        2 + 2 * e, 3 + 2 * e, 4 * e);
  return text +
         "add.s64 %l1, %l1, 4096;\nadd.s64 %l2, %l2, 16;\nadd.s32 %i4, %i4, 4;\nsetp.lt.s32 %p1, %i4, %i1;\n"
         "@%p1 bra LOOP;\n";
}

/// `values` that are all live at a barrier, in threads that start with 128 registers and request `registers`.
std::string many_values(unsigned values, unsigned registers) {
  std::string text = fmt::format(
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 p) .maxntid 512, 1, 1 .minnctapersm 1 {{\n.reg .f32 %x<200>;\n"
      ".reg .f32 %s;\n.reg .b64 %d<3>;\nld.param.u64 %d1, [p];\nsetmaxnreg.inc.sync.aligned.u32 {};\n",
      registers);
  for (unsigned i = 0; i < values; ++i) text += fmt::format("ld.global.f32 %x{}, [%d1+{}];\n", i, 4 * i);
  text += "mov.f32 %s, 0f00000000;\nbar.sync 0;\n";
  for (unsigned i = values; i-- > 0;) text += fmt::format("add.f32 %s, %s, %x{};\n", i);
  text += "st.global.f32 [%d1], %s;\n";
  for (unsigned i = 0; i < values; ++i)
    text +=
        fmt::format("fma.rn.f32 %x{0}, %x{0}, %s, %x{0};\nst.global.f32 [%d1+{1}], %x{0};\n", i, 4 * i + 4);
  return text + "ret;\n}\n";
}

/// The highest register that an instruction writes.
int highest(const std::vector<MachineInstruction>& code) {
  int found = 0;
  for (const MachineInstruction& i : code) {
    int written = 0, number = 0;
    if (std::sscanf(i.text.c_str(), "%d R%d", &written, &number) == 2 && written > 0)
      found = std::max(found, number);
  }
  return found;
}

/// How many FFMAs stand between the 20th load and the first FFMA that needs it.
int products_ahead(const std::vector<MachineInstruction>& code, unsigned products) {
  constexpr int kLoad = 20;
  int loads = 0, before = 0;
  for (const MachineInstruction& i : code) {
    if (i.text.find("LDS") != std::string::npos && ++loads == kLoad) break;
    if (i.text.find("FFMA") != std::string::npos) ++before;
  }
  return static_cast<int>(products) * (kLoad - 1) - before;
}

struct Measured {
  unsigned products;
  std::array<int, 4> registers;  // by kArchitectures
  int ahead;                     // products_ahead(), the same for all
};

}  // namespace

// All figures: ptxas 13.0 -arch sm_X of the text that code_of() makes, registers from the cubin's .nv.info,
// places from its instructions.

TEST_CASE("shared memory is loaded as far ahead as ptxas does, and takes its registers") {
  for (const Measured& m : {Measured{1, {18, 26, 27, 26}, 9}, Measured{2, {13, 13, 17, 17}, 10},
                            Measured{4, {11, 11, 13, 13}, 11}, Measured{8, {10, 10, 11, 11}, 12}})
    for (std::size_t a = 0; a < kArchitectures.size(); ++a) {
      CAPTURE(m.products, kArchitectures[a]);
      const Code code = code_of(chain("ld.shared.f32", 40, m.products), kArchitectures[a], Passes{});
      CHECK(std::abs(static_cast<int>(code.registers()) - m.registers[a]) <= 6);
      CHECK(std::abs(products_ahead(code.instructions(), m.products) - m.ahead) <= 1);
    }
}

TEST_CASE("setmaxnreg.inc gives values registers beyond those that a launch has") {
  // ptxas: 128 registers at launch, none spilled, the highest one written is R157 with 160 and R165 with 200.
  for (const auto& [values, registers] :
       {std::pair{140u, 160u}, std::pair{150u, 160u}, std::pair{150u, 200u}}) {
    CAPTURE(values, registers);
    std::vector<ptx::Module> modules;
    modules.push_back(ptx::parse(many_values(values, registers), "test"));
    const ptx::Program program = ptx::link(std::move(modules));
    exec::DeviceMemory memory(std::uint64_t{1} << 22);
    const exec::ProgramImage image(program, memory);
    const Code code(exec::Executable(image, 0), 90);
    CHECK(code.registers() == 128);
    CHECK(highest(code.instructions()) >= static_cast<int>(values));
    CHECK(highest(code.instructions()) < static_cast<int>(registers));
  }
}

TEST_CASE("loads from global memory take what full occupancy leaves") {
  constexpr std::array kRegisters{64, 32, 40, 32};
  for (std::size_t a = 0; a < kArchitectures.size(); ++a) {
    const Code code = code_of(chain("ld.global.nc.f32", 120, 1), kArchitectures[a], Passes{});
    CAPTURE(kArchitectures[a]);
    CHECK(std::abs(static_cast<int>(code.registers()) - kRegisters[a]) <= 2);
  }
}

TEST_CASE("copies of a loop's body take each other's registers") {
  constexpr std::array kRegisters{14, 18, 18, 18};
  for (std::size_t a = 0; a < kArchitectures.size(); ++a) {
    const Code code = code_of(stored_sum(), kArchitectures[a], Passes{});
    CAPTURE(kArchitectures[a]);
    CHECK(std::abs(static_cast<int>(code.registers()) - kRegisters[a]) <= 2);
  }
}

}  // namespace lockstep::lower::test
