// Accesses of several elements at once: up to 32 bytes of a lane, and atomics on vectors ("PTX ISA 9.0", ld,
// st, red, atom).
#include <catch2/catch.hpp>

#include "tests/exec/one_thread.hpp"

namespace lockstep::exec::test {
namespace {

using Cells = std::vector<std::uint64_t>;

/// The cells after a statement that finds these.
Cells cells_after(const std::string& statement, Cells cells) {
  Statements s{statement};
  s.cells = std::move(cells);
  s.run({});
  return s.cells;
}

// 1, 2, 3, 4, -1 as binary16 and bfloat16.
constexpr std::uint64_t kHalf[] = {0x3c00, 0x4000, 0x4200, 0x4400, 0xbc00},
                        kBfloat[] = {0x3f80, 0x4000, 0x4040, 0x4080, 0xbf80};

/// Four 16-bit numbers, the first lowest.
std::uint64_t four(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  return a | b << 16 | c << 32 | d << 48;
}

}  // namespace

TEST_CASE("vector accesses: 32 bytes as four or eight elements, of which some go nowhere") {
  const Cells four_cells{
      0x1111111122222222, 0x3333333344444444, 0x5555555566666666, 0x7777777788888888, 0, 0, 0, 0};
  const Cells copied{four_cells[0], four_cells[1], four_cells[2], four_cells[3],
                     four_cells[0], four_cells[1], four_cells[2], four_cells[3]};
  CHECK(cells_after("ld.global.v4.b64 {%d1, %d2, %d3, %d4}, [%d0];"
                    "st.global.v4.b64 [%d0+32], {%d1, %d2, %d3, %d4};",
                    four_cells) == copied);
  CHECK(cells_after("ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d0];"
                    "st.global.v8.b32 [%d0+32], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};",
                    four_cells) == copied);
  Statements s{
      "ld.global.v8.b32 {_, %r1, _, _, %r2, _, _, %r3}, [%d0]; ld.global.v4.f64 {_, %e1, _, _}, [%d0];"};
  s.cells = four_cells;
  CHECK(s.run({"%r1", "%r2", "%r3", "%e1"}) ==
        std::vector<std::uint64_t>{0x11111111, 0x66666666, 0x77777777, four_cells[1]});
  CHECK_THROWS_AS(value_after("ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d0+16];", "%r1"),
                  DeviceFault);  // 32 bytes at a multiple of 32
}

TEST_CASE("vector accesses: narrow elements fill their registers by the sign of their type") {
  const auto loaded = [](const std::string& load) {
    Statements s{load};
    s.cells[0] = 0x807f01ff00fe8001;
    return s.run({"%r1", "%r2"});
  };
  CHECK(loaded("ld.global.v2.s8 {%r1, %r2}, [%d0];") == std::vector<std::uint64_t>{1, 0xffffff80});
  CHECK(loaded("ld.global.v2.u8 {%r1, %r2}, [%d0];") == std::vector<std::uint64_t>{1, 0x80});
  CHECK(loaded("ld.global.v2.s16 {%r1, %r2}, [%d0];") == std::vector<std::uint64_t>{0xffff8001, 0xfe});
  CHECK(loaded("ld.global.v4.s8 {_, %r1, _, %r2}, [%d0+4];") == std::vector<std::uint64_t>{1, 0xffffff80});
  CHECK(cells_after("mov.u32 %r1, 0x1234; mov.u32 %r2, 0x5678; st.global.v2.u8 [%d0+2], {%r1, %r2};",
                    Cells(8))[0] == 0x78340000);
}

TEST_CASE("vector accesses: reductions of floats, halves and pairs, each element by itself") {
  const auto& h = kHalf;
  const auto& b = kBfloat;
  CHECK(cells_after("red.global.add.v2.f32 [%d0], {1.5, -2.0};", {0x40000000'3f800000, 0, 0, 0})[0] ==
        0x00000000'40200000);  // 1 + 1.5, 2 - 2
  CHECK(cells_after("mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x4000; red.global.add.noftz.v4.f16 [%d0], "
                    "{%h1, %h2, %h1, %h2};",
                    {four(h[0], h[0], h[1], h[1])})[0] == four(h[1], h[2], h[2], h[3]));
  CHECK(cells_after("mov.b16 %h1, 0x3f80; red.global.add.noftz.v2.bf16 [%d0], {%h1, %h1};",
                    {four(b[0], b[1], b[2], b[3])})[0] == four(b[1], b[2], b[2], b[3]));
  CHECK(cells_after("mov.b16 %h1, 0x4000; red.global.min.noftz.v8.f16 [%d0], "
                    "{%h1, %h1, %h1, %h1, %h1, %h1, %h1, %h1};",
                    {four(h[0], h[1], h[2], h[3]), four(h[3], h[4], h[0], h[2])}) ==
        Cells{four(h[0], h[1], h[1], h[1]), four(h[1], h[4], h[0], h[1])});
  CHECK(cells_after("mov.b32 %r1, 0x40403f80; red.global.max.noftz.v2.bf16x2 [%d0], {%r1, %r1};",
                    {four(b[1], b[1], b[0], b[3])})[0] == four(b[1], b[2], b[0], b[3]));
  CHECK(cells_after("mov.b32 %r1, 0x40003c00; red.global.add.noftz.v4.f16x2 [%d0], {%r1, %r1, %r1, %r1};",
                    {four(h[0], h[1], h[0], h[1]), 0}) ==
        Cells{four(h[1], h[3], h[1], h[3]), four(h[0], h[1], h[0], h[1])});
}

TEST_CASE("vector accesses: an atomic gives back what each element was") {
  Statements s{"atom.global.add.v4.f32 {%f1, _, %f2, %f3}, [%d0], {1.0, 1.0, 1.0, 1.0};"};
  s.cells = {0x40000000'3f800000, 0x40800000'40400000};  // 1, 2, 3, 4
  CHECK(s.run({"%f1", "%f2", "%f3"}) == std::vector<std::uint64_t>{0x3f800000, 0x40400000, 0x40800000});
  CHECK(s.cells == Cells{0x40400000'40000000, 0x40a00000'40800000});
  Statements pairs{"mov.b32 %r1, 0x3c003c00; atom.global.add.noftz.v2.f16x2 {%r2, %r3}, [%d0], {%r1, %r1};"};
  pairs.cells = {four(kHalf[0], kHalf[1], kHalf[2], kHalf[4])};
  CHECK(pairs.run({"%r2", "%r3"}) ==
        std::vector<std::uint64_t>{kHalf[0] | kHalf[1] << 16, kHalf[2] | kHalf[4] << 16});
  CHECK(pairs.cells[0] == four(kHalf[1], kHalf[2], kHalf[3], 0));
  // What the same 32 lanes add to one vector is the sum in each element.
  Statements all{"red.global.add.v2.f32 [%d0], {1.0, 2.0};"};
  all.run({}, 32);
  CHECK(all.cells[0] == 0x42800000'42000000);  // 32, 64
}

}  // namespace lockstep::exec::test
