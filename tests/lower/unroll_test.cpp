// Loops unrolled as a whole and neighbouring accesses merged, against ptxas 13.0 (nvcc 13.0.88, -arch sm_86,
// disassembled): the numbers of instructions are those of its cubins of the same PTX.
#include "lower/unroll.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "lower/merge.hpp"
#include "tests/lower/interpreter.hpp"
#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

constexpr unsigned kArch = 86;

struct Accesses {
  std::size_t words, pairs, quads;
  bool operator==(const Accesses&) const = default;
};

Accesses loads(const std::vector<MachineInstruction>& code) {
  return {opcode_count(code, "LDS"), opcode_count(code, "LDS.64"), opcode_count(code, "LDS.128")};
}
Accesses stores(const std::vector<MachineInstruction>& code) {
  return {opcode_count(code, "STS"), opcode_count(code, "STS.64"), opcode_count(code, "STS.128")};
}

/// %i5 is an address of shared memory that is a multiple of 1 << `shift`.
std::string row(unsigned shift) {
  return fmt::format(
      "mov.u32 %i1, %tid.x;\nshl.b32 %i2, %i1, {};\nmov.u32 %i3, window;\nadd.s32 %i5, %i3, %i2;\n", shift);
}

std::string load_words(const std::vector<int>& offsets) {
  std::string text = row(5) + "mov.f32 %f8, 0f3F800000;\n";
  for (std::size_t n = 0; n < offsets.size(); ++n)
    text +=
        fmt::format("ld.shared.f32 %f{}, [%i5+{}];\nfma.rn.f32 %f8, %f{}, %f8, %f{};\n", n, offsets[n], n, n);
  return text + "st.global.f32 [%r1], %f8;\n";
}

std::string store_words(const std::vector<int>& offsets) {
  std::string text = row(5);
  for (std::size_t n = 0; n < offsets.size(); ++n)
    text += fmt::format("mad.lo.u32 %i{}, %i1, {}, {};\n", 10 + n, n + 3, n);
  for (std::size_t n = 0; n < offsets.size(); ++n)
    text += fmt::format("st.shared.u32 [%i5+{}], %i{};\n", offsets[n], 10 + n);
  return text;
}

/// `accumulators` sums of products of values from shared memory, `iterations` times; inside another loop
/// where it is `nested`.
std::string products(unsigned accumulators, unsigned iterations, bool nested) {
  std::string text = row(10) + "mov.u32 %i9, %tid.x;\n";
  for (unsigned a = 0; a < accumulators; ++a)
    text += fmt::format("ld.global.f32 %f{}, [%r1+{}];\n", a, 4 * a);
  text += "$outer:\nmov.u32 %i4, 0;\n$inner:\nadd.s32 %i6, %i5, %i4;\nld.shared.f32 %f8, [%i6];\n";
  for (unsigned a = 0; a < accumulators; ++a)
    text += fmt::format("fma.rn.f32 %f{}, %f8, %f{}, %f{};\n", a, (a + 1) % accumulators, a);
  text += fmt::format("add.s32 %i4, %i4, 4;\nsetp.ne.s32 %p1, %i4, {};\n@%p1 bra $inner;\n", 4 * iterations);
  if (nested)
    text += "add.s32 %i5, %i5, 16;\nadd.s32 %i9, %i9, -1;\nsetp.ne.s32 %p2, %i9, 0;\n@%p2 bra $outer;\n";
  for (unsigned a = 0; a < accumulators; ++a)
    text += fmt::format("st.global.f32 [%r1+{}], %f{};\n", 4 * a, a);
  return text;
}

/// Eight sums over 16 steps, whose factors come four at once.
std::string sums_of_vectors() {
  std::string text = row(4);
  for (int sum = 0; sum < 8; ++sum) text += fmt::format("ld.global.f32 %f{}, [%r1+{}];\n", sum, 4 * sum);
  for (int step = 0; step < 16; ++step) {
    const int one = 8 + step / 4 * 36;
    for (int sum = 0; step % 4 == 0 && sum < 8; ++sum) {
      const int f = one + 4 * sum;
      text += fmt::format("ld.shared.v4.f32 {{%f{}, %f{}, %f{}, %f{}}}, [%i5+{}];\n", f, f + 1, f + 2, f + 3,
                          128 * sum + 4 * step);
    }
    const int other = one + 32 + step % 4;
    text += fmt::format("ld.shared.f32 %f{}, [%i5+{}];\n", other, 2048 + 64 * step);
    for (int sum = 0; sum < 8; ++sum)
      text += fmt::format("fma.rn.f32 %f{0}, %f{1}, %f{2}, %f{0};\n", sum, other, one + 4 * sum + step % 4);
  }
  for (int sum = 0; sum < 8; ++sum) text += fmt::format("st.global.f32 [%r1+{}], %f{};\n", 4 * sum, sum);
  return text;
}

}  // namespace

TEST_CASE("loads of neighbouring words are as wide as ptxas makes them") {
  CHECK(loads(lowered(load_words({0, 4, 8, 12}), kArch)) == Accesses{0, 0, 1});
  CHECK(loads(lowered(load_words({12, 8, 4, 0}), kArch)) == Accesses{0, 0, 1});
  CHECK(loads(lowered(load_words({0, 4, 12}), kArch)) == Accesses{0, 0, 1});
  CHECK(loads(lowered(load_words({0, 8, 12}), kArch)) == Accesses{0, 0, 1});
  CHECK(loads(lowered(load_words({0, 4}), kArch)) == Accesses{0, 1, 0});
  CHECK(loads(lowered(load_words({8, 12}), kArch)) == Accesses{0, 1, 0});
  CHECK(loads(lowered(load_words({4, 8}), kArch)) == Accesses{2, 0, 0});
  CHECK(loads(lowered(load_words({0, 12}), kArch)) == Accesses{2, 0, 0});
}

TEST_CASE("stores of neighbouring words are as wide as ptxas makes them") {
  CHECK(stores(lowered(store_words({12, 8, 4, 0}), kArch)) == Accesses{0, 0, 1});
  CHECK(stores(lowered(store_words({0, 4, 12}), kArch)) == Accesses{1, 1, 0});
  CHECK(stores(lowered(store_words({4, 8, 12}), kArch)) == Accesses{1, 1, 0});
  CHECK(stores(lowered(store_words({4, 8}), kArch)) == Accesses{2, 0, 0});
}

TEST_CASE("accesses stay apart where the address, or what lies between, does not allow more") {
  const std::string sum =
      "add.f32 %f4, %f0, %f1;\nadd.f32 %f5, %f2, %f3;\nadd.f32 %f6, %f4, %f5;\nst.global.f32 [%r1], %f6;\n";
  const auto four = [&](unsigned shift) {
    std::string text = row(shift);
    for (unsigned n = 0; n < 4; ++n) text += fmt::format("ld.shared.f32 %f{}, [%i5+{}];\n", n, 4 * n);
    return text + sum;
  };
  CHECK(loads(lowered(four(3), kArch)) == Accesses{0, 2, 0});
  CHECK(loads(lowered(four(2), kArch)) == Accesses{4, 0, 0});
  const std::string between =
      row(4) +
      "ld.global.u32 %i9, [%r1+8];\nld.shared.f32 %f0, [%i5];\nst.shared.u32 [%i9], %i1;\n"
      "ld.shared.f32 %f1, [%i5+4];\nadd.f32 %f4, %f0, %f1;\nst.global.f32 [%r1], %f4;\n";
  CHECK(loads(lowered(between, kArch)) == Accesses{2, 0, 0});
  CHECK(loads(lowered("bar.sync 0;\n" + row(4) +
                          "ld.shared.f32 %f0, [%i5];\nbar.sync 0;\nld.shared.f32 %f1, [%i5+4];\n"
                          "add.f32 %f4, %f0, %f1;\nst.global.f32 [%r1], %f4;\n",
                      kArch)) == Accesses{2, 0, 0});
}

TEST_CASE("counted loops are unrolled as far as ptxas does") {
  const auto check = [](unsigned iterations, bool nested, std::size_t products_made, std::size_t quads,
                        unsigned arch = kArch) {
    CAPTURE(iterations, nested, arch);
    const auto code = lowered(products(8, iterations, nested), arch);
    CHECK(opcode_count(code, "FFMA") == products_made);
    CHECK(loads(code) == Accesses{quads > 0 ? 0u : 1u, 0, quads});
  };
  check(4, false, 32, 1);
  check(16, false, 128, 4);
  check(64, false, 512, 16);
  check(64, true, 512, 16);
  check(128, true, 1024, 32);
  check(128, false, 256, 8);  // in part: four times 32 iterations
  check(64, true, 512, 16, 90);
  check(128, true, 256, 8, 90);  // likewise
}

TEST_CASE("a kernel that loads vectors has about the registers that ptxas gives it") {
  CHECK(code_of(sums_of_vectors(), 75).registers() == Approx(72).epsilon(0.2));
  CHECK(code_of(sums_of_vectors(), 86).registers() == Approx(48).epsilon(0.2));
}

}  // namespace lockstep::lower::test
