// Registers that the code needs beside those that ptxas 13.0 gives the same kernels.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
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
