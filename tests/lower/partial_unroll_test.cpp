// Loops unrolled in part: how many copies ptxas 13.0 makes, and what a warp executes of them.
#include "lower/partial_unroll.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "lower/replay.hpp"
#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

std::string products(unsigned n) {
  std::string text;
  for (unsigned i = 0; i < n; ++i) text += fmt::format("fma.rn.f32 %f{0}, %f{0}, %f10, %f11;\n", i % 3);
  return text;
}

std::string loads(const std::string& what, unsigned n) {
  std::string text;
  for (unsigned i = 0; i < n; ++i)
    text += fmt::format("ld.{0}.f32 %f{1}, [{2}+{3}];\nadd.f32 %f0, %f0, %f{1};\n", what, 20 + i,
                        what == "shared" ? "%i5" : "%r1", 8 * i);
  if (n > 0) text += what == "shared" ? "add.s32 %i5, %i5, 4;\n" : "add.s64 %r1, %r1, 4;\n";
  return text;
}

/// `limit`: "%i1", a parameter, or a number.
std::string loop(const std::string& body, const std::string& limit, const std::string& how = "lt.s32",
                 int step = 1) {
  std::string text = "ld.param.u32 %i1, [n];\nmov.u32 %i5, window;\n";
  for (const unsigned f : {0u, 1u, 2u, 10u, 11u})
    text += fmt::format("ld.global.f32 %f{}, [%r1+{}];\n", f, 4 * f + 64);
  text += step > 0 ? "mov.u32 %i4, 0;\n" : "mov.u32 %i4, %i1;\n";
  text += "LOOP:\n" + body +
          fmt::format("add.s32 %i4, %i4, {};\nsetp.{} %p1, %i4, {};\n@%p1 bra LOOP;\n", step, how, limit);
  for (unsigned f = 0; f < 3; ++f) text += fmt::format("st.global.f32 [%r1+{}], %f{};\n", 4 * f + 128, f);
  return text;
}

/// FFMAs of the machine code for each of the loop.
std::size_t copies(const std::string& text, std::size_t products_in_body, unsigned arch = 86) {
  return opcode_count(lowered(text, arch), "FFMA") / products_in_body;
}

}  // namespace

TEST_CASE("loops whose length is not known have the copies that ptxas makes") {
  constexpr std::size_t kAll = 4 + 2 + 1;
  for (const unsigned arch : {75u, 80u, 86u, 90u}) {
    CHECK(copies(loop(products(1), "%i1"), 1, arch) == kAll);
    CHECK(copies(loop(products(18), "%i1"), 18, arch) == kAll);
    CHECK(copies(loop(products(20), "%i1"), 20, arch) == 1);
    CHECK(copies(loop(loads("global", 1) + products(43), "%i1"), 43, arch) == kAll);
    CHECK(copies(loop(loads("global", 1) + products(44), "%i1"), 44, arch) == 1);
    CHECK(copies(loop(loads("global", 4) + products(34), "%i1"), 34, arch) == kAll);
    CHECK(copies(loop(loads("global", 4) + products(36), "%i1"), 36, arch) == 1);
    CHECK(copies(loop(loads("shared", 1) + products(20), "%i1"), 20, arch) == kAll);
    CHECK(copies(loop(loads("shared", 1) + products(22), "%i1"), 22, arch) == 1);
    CHECK(copies(loop(loads("shared", 8) + products(34), "%i1"), 34, arch) == kAll);
    CHECK(copies(loop(loads("shared", 8) + products(36), "%i1"), 36, arch) == 1);
  }
  CHECK(copies(loop("bar.sync 0;\n" + products(16), "%i1"), 16) == kAll);
  CHECK(copies(loop("bar.sync 0;\n" + products(18), "%i1"), 18) == 1);
  CHECK(copies(loop(products(4), "%i1", "ne.s32"), 4) == kAll);
  CHECK(copies(loop(products(4), "%i1", "le.u32", 3), 4) == kAll);
  CHECK(copies(loop(products(4), "0", "gt.s32", -1), 4) == kAll);
  CHECK(copies(loop("shfl.sync.bfly.b32 %f0, %f0, 1, 31, -1;\n" + products(4), "%i1"), 4) == 1);
}

TEST_CASE("long loops of known length have about as many copies as ptxas makes") {
  CHECK(copies(loop(products(2), "4096"), 2) == 157 + 14);
  CHECK(copies(loop(products(8), "4096"), 8) == 39 + 1);
  CHECK(copies(loop(products(16), "4096"), 16) == 16);
  CHECK(copies(loop(products(32), "4096"), 32) == 9 + 1);
  CHECK(copies(loop(products(64), "4093"), 64) == 4 + 1);
  CHECK(copies(loop(products(80), "4096"), 80) == 1);
}

namespace {

constexpr unsigned kProducts = 2;

struct Executed {
  std::size_t instructions = 0, products = 0, branches = 0;
  std::vector<Address> loads;
};

/// A warp that executes a number of iterations of a loop that loads one word and has kProducts.
Executed executed(unsigned iterations) {
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::parse(
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
      ".reg .f32 %f<9>;\n.reg .b64 %r<3>;\n.reg .b32 %i<9>;\n.reg .pred %p<3>;\n"
      "ld.param.u64 %r1, [p];\nld.param.u32 %i1, [n];\nmov.u32 %i4, 0;\n"
      "LOOP:\nld.global.f32 %f1, [%r1];\nfma.rn.f32 %f2, %f1, %f2, %f3;\nfma.rn.f32 %f4, %f1, %f4, %f3;\n"
      "add.s64 %r1, %r1, 4;\nadd.s32 %i4, %i4, 1;\nsetp.lt.s32 %p1, %i4, %i1;\n@%p1 bra LOOP;\n"
      "st.global.f32 [%r1], %f2;\nst.global.f32 [%r1+4], %f4;\nret;\n}\n",
      "test"));
  const ptx::Program program = ptx::link(std::move(modules));
  exec::DeviceMemory memory(std::uint64_t{1} << 22);
  const exec::ProgramImage image(program, memory);
  const exec::Executable kernel(image, program.find_function("k").value());
  const Code code(kernel, 86, without_setup());
  constexpr std::uint32_t kLoop = 3, kBehind = 10;
  exec::CtaRecord record;
  exec::WarpRecord warp;
  const auto operations = [&](std::uint32_t first, std::uint32_t end, Address address) {
    for (std::uint32_t i = first; i < end; ++i) {
      const auto op = kernel.instruction(i).op();
      auto form = trace::AddressForm::kNone;
      if ((op == ptx::Opcode::kLd && i >= kLoop) || op == ptx::Opcode::kSt) {
        Address lanes[kWarpSize];
        for (unsigned l = 0; l < kWarpSize; ++l) lanes[l] = address + 4 * l;
        form = trace::pack_addresses(~LaneMask{0}, lanes, warp.words);
      }
      warp.records.push_back(trace::Record::make(i, form, ~LaneMask{0}));
    }
  };
  operations(0, kLoop, 0);
  for (unsigned turn = 0; turn < iterations; ++turn) operations(kLoop, kBehind, 0x1000 + 4 * turn);
  operations(kBehind, static_cast<std::uint32_t>(kernel.operations().size()), 0x9000);
  record.warps.push_back(std::move(warp));
  trace::CtaTrace out;
  const Dim3 grid{1, 1, 1};
  Replayer(code, grid).replay(record, out);
  Executed found;
  const std::uint64_t* words = out.words.data();
  for (const trace::Record& r : out.records) {
    const std::string text = " " + code.instructions()[r.inst()].text + " ";
    ++found.instructions;
    found.products += text.find(" FFMA ") != text.npos;
    found.branches += text.find(" BRA ") != text.npos;
    if (text.find(" LDG") != text.npos) found.loads.push_back(words[0]);
    words += trace::address_words(r.form(), r.mask);
    CHECK(r.mask == ~LaneMask{0});
  }
  return found;
}

}  // namespace

TEST_CASE("a warp executes four iterations at once as long as there are four, then two, then one") {
  for (unsigned iterations = 1; iterations <= 13; ++iterations) {
    CAPTURE(iterations);
    const Executed found = executed(iterations);
    CHECK(found.products == kProducts * iterations);
    std::vector<Address> expected;
    for (unsigned i = 0; i < iterations; ++i) expected.push_back(0x1000 + 4 * i);
    CHECK(found.loads == expected);
    // Three comparisons whether there are four, two and one, and one behind each four.
    CHECK(found.branches == 3 + iterations / 4);
  }
  // Twelve iterations more are three times the loop of ptxas' code: 4 loads, 8 products, two sums and a
  // comparison, and the branch.
  const std::size_t more = executed(25).instructions - executed(13).instructions;
  CHECK(more >= 3 * 16);
  CHECK(more <= 3 * 18);
}

}  // namespace lockstep::lower::test
