// Registers of texels beside those that ptxas 13.0 gives the same kernels.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/lower/support.hpp"
#include "trace/traced_instruction.hpp"

namespace lockstep::lower::test {
namespace {

/// `fetches` texels, of which `components` are read once all are fetched.
std::string fetching(const std::string& components, unsigned fetches) {
  std::string text =
      "ld.param.u64 %l2, [p];\nmov.u32 %i0, %tid.x;\nmul.wide.u32 %l0, %i0, 4;\nadd.s64 %l1, %r1, %l0;\n"
      "mov.f32 %f0, 0f00000000;\n";
  for (unsigned n = 0; n < fetches; ++n)
    text +=
        fmt::format("add.s32 %i1, %i0, {};\ntex.1d.v4.f32.s32 {{%f{}, %f{}, %f{}, %f{}}}, [%l2, {{%i1}}];\n",
                    1000 * n + 7, 10 + 4 * n, 11 + 4 * n, 12 + 4 * n, 13 + 4 * n);
  for (unsigned n = 0; n < fetches; ++n)
    for (const char c : components)
      text +=
          fmt::format("fma.rn.f32 %f0, %f{}, %f0, 0f3f800000;\n", 10 + 4 * n + std::string("xyzw").find(c));
  return text + "st.global.f32 [%l1], %f0;\n";
}

struct Row {
  const char* components;
  unsigned fetches, registers;  // of ptxas for sm_75
};

TEST_CASE("components of texels that nothing reads take no registers") {
  for (const Row& row : {Row{"x", 4, 11},
                         {"x", 12, 17},
                         {"w", 8, 14},
                         {"xy", 4, 13},
                         {"yw", 12, 29},
                         {"xyz", 8, 28},
                         {"yzw", 12, 40},
                         {"xyzw", 4, 21},
                         {"xyzw", 12, 52}}) {
    CAPTURE(row.components, row.fetches);
    const unsigned ours = code_of(fetching(row.components, row.fetches), 75, Passes()).registers();
    CHECK(ours >= row.registers);
    CHECK(ours <= row.registers + 2);
  }
}

TEST_CASE("what reads any component of a texel waits for it") {
  for (const char* components : {"x", "y", "zw", "xyzw"}) {
    const auto code = lowered(fetching(components, 1));
    const auto fetch = std::ranges::find_if(
        code, [](const MachineInstruction& i) { return i.text.find(" TEX ") != std::string::npos; });
    REQUIRE(fetch != code.end());
    const auto written = trace::decode_traced({fetch->pc, fetch->text, fetch->immediate}, 75).destinations;
    CHECK(written.size == std::string(components).size());
    for (const auto& r : written)
      CHECK(std::ranges::any_of(code, [&](const MachineInstruction& i) {
        const std::size_t at = i.text.find(" FFMA ");
        return at != std::string::npos && i.text.find(fmt::format(" R{} ", r.first), at) != std::string::npos;
      }));
  }
}

}  // namespace
}  // namespace lockstep::lower::test
