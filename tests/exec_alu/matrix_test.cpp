// mma.sync with the register layouts as the PTX ISA writes them, wmma by its own fragment map, against plain
// matrix products.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <set>

#include "exec/alu_fragment.hpp"
#include "tests/exec_alu/exact.hpp"
#include "tests/exec_alu/harness.hpp"
#include "tests/exec_alu/matrix_layouts.hpp"

namespace lockstep::test {
namespace {

using exec::Fragment;
using exec::MatrixRole;

/// Small numbers of a type: bits and value, whose products and sums are exact everywhere.
struct Number {
  Bits bits;
  double value;
};
Number number(const std::string& type, std::mt19937_64& random) {
  const int small = static_cast<int>(random() % 9) - 4;
  const auto encoded = [&](Format f) { return encode(from_integer(small), f, Rounding::kNearest, 0); };
  if (type == "f16") return {encoded(kF16), double(small)};
  if (type == "bf16") return {encoded(kBf16), double(small)};
  if (type == "tf32")
    return {encoded(kF32) | (random() & 0x1fff), double(small)};  // low bits are not looked at
  if (type == "e5m2") return {encoded({5, 2}), double(small)};
  if (type == "f64") return {encoded(kF64), double(small)};
  if (type == "s8") return {Bits(small * 30) & 0xff, small * 30.0};
  if (type == "u8") return {Bits((small + 4) * 30), (small + 4) * 30.0};
  if (type == "s4") return {Bits(small) & 15, double(small)};
  if (type == "u4") return {Bits(small + 7), double(small + 7)};
  return {Bits(small & 1), double(small & 1)};
}

struct Matrices {
  std::vector<std::vector<double>> a, b, c;
};
std::vector<std::vector<double>> zeros(int rows, int columns) {
  return std::vector<std::vector<double>>(static_cast<std::size_t>(rows),
                                          std::vector<double>(static_cast<std::size_t>(columns)));
}
double& at(std::vector<std::vector<double>>& m, Place p) {
  return m[static_cast<std::size_t>(p.row)][static_cast<std::size_t>(p.column)];
}

Bits sum_bits(double value, const std::string& type) {
  if (type == "f16")
    return encode(from_integer(Big(static_cast<long long>(value))), kF16, Rounding::kNearest, 0);
  if (type == "f32") return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == "f64") return std::bit_cast<Bits>(value);
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
}
int width_of(const std::string& sum) { return sum == "f16" ? 16 : sum == "f64" ? 64 : 32; }

/// Fills `registers` sources from `first` with numbers that `layout` places, noting the values.
void fill(Warp& warp, int first, int registers, int bits, const Layout& layout,
          std::vector<std::vector<double>>& out, const std::function<Number()>& make) {
  const int each = bits >= 32 ? 1 : 32 / bits;
  for (int lane = 0; lane < 32; ++lane)
    for (int r = 0; r < registers; ++r) {
      Bits word = 0;
      for (int i = 0; i < each; ++i) {
        const Number n = make();
        at(out, layout(lane / 4, lane % 4, r * each + i)) = n.value;
        word |= n.bits << (i * bits);
      }
      warp.source(first + r, lane) = word;
    }
}

void check_mma(const Layouts& l, const std::string& form, const std::string& ta, const std::string& tb,
               const std::string& tc, const std::string& td, bool exclusive = false) {
  std::mt19937_64 random(std::hash<std::string>()(form));
  const int width = l.bits >= 32 ? l.bits : 32;
  const int ra = l.m * l.k * l.bits / 32 / width, rb = l.k * l.n * l.bits / 32 / width;
  const auto sum_registers = [&](const std::string& t) {
    return l.m * l.n / 32 / (width_of(t) == 16 ? 2 : 1);
  };
  const int rc = sum_registers(tc), rd = sum_registers(td);
  Warp warp(form, register_vector(rd) + "," + register_vector(ra) + "," + register_vector(rb) + "," +
                      register_vector(rc));
  for (int round = 0; round < 5; ++round) {
    auto a = zeros(l.m, l.k), b = zeros(l.k, l.n), c = zeros(l.m, l.n);
    fill(warp, 0, ra, l.bits, l.a, a, [&] { return number(ta, random); });
    fill(warp, ra, rb, l.bits, l.b, b, [&] { return number(tb, random); });
    fill(warp, ra + rb, rc, width_of(tc), l.c, c, [&] {
      const double value = static_cast<double>(random() % 21) - 10;
      return Number{sum_bits(value, tc), value};
    });
    warp.run();
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < l.m * l.n / 32; ++i) {
        const Place p = l.c(lane / 4, lane % 4, i);
        double want = at(c, p);
        for (int k = 0; k < l.k; ++k) {
          const double x = at(a, {p.row, k}), y = at(b, {k, p.column});
          want += ta == "b1" ? (exclusive ? x != y : x != 0 && y != 0) : x * y;
        }
        const int w = width_of(td), each = w == 16 ? 2 : 1;
        const Bits got =
            warp.result(lane, i / each) >> (i % each * w) & (w == 64 ? ~Bits{0} : (Bits{1} << w) - 1);
        INFO(form << " row " << p.row << " column " << p.column);
        REQUIRE(got == sum_bits(want, td));
      }
  }
}

}  // namespace

TEST_CASE("mma.sync: every type and shape in the ISA's register layouts", "[exec][matrix]") {
  for (const Layouts& l : kLayouts) {
    const std::string head = std::string("mma.sync.aligned.") + l.shape + ".row.col.";
    if (l.bits == 16) {
      for (const std::string d : {"f16", "f32"})
        for (const std::string c : {"f16", "f32"})
          check_mma(l, head + d + ".f16.f16." + c, "f16", "f16", c, d);
      check_mma(l, head + "f32.bf16.bf16.f32", "bf16", "bf16", "f32", "f32");
    }
    if (l.bits == 32) check_mma(l, head + "f32.tf32.tf32.f32", "tf32", "tf32", "f32", "f32");
    if (l.bits == 64) check_mma(l, head + "f64.f64.f64.f64", "f64", "f64", "f64", "f64");
    if (l.bits == 8 && l.m == 16) check_mma(l, head + "f32.e5m2.e5m2.f32", "e5m2", "e5m2", "f32", "f32");
    if (l.bits == 8 || l.bits == 4)
      for (const std::string ta : {"s", "u"})
        for (const std::string tb : {"s", "u"})
          for (const std::string sat : {"", "satfinite."}) {
            const std::string wa = ta + std::to_string(l.bits), wb = tb + std::to_string(l.bits);
            check_mma(l, head + sat + "s32." + wa + "." + wb + ".s32", wa, wb, "s32", "s32");
          }
    if (l.bits == 1)
      for (const bool exclusive : {false, true})
        check_mma(l, head + "s32.b1.b1.s32." + (exclusive ? "xor" : "and") + ".popc", "b1", "b1", "s32",
                  "s32", exclusive);
  }
}

TEST_CASE("wmma fragments hold every element, accumulators once, in PTX's number of registers",
          "[exec][matrix]") {
  const struct {
    ptx::Shape shape;
    ptx::Type type;
    int a, b;
  } rows[] = {{{16, 16, 16}, ptx::Type::kF16, 8, 8}, {{32, 8, 16}, ptx::Type::kF16, 8, 8},
              {{8, 32, 16}, ptx::Type::kF16, 8, 8},  {{16, 16, 16}, ptx::Type::kBf16, 4, 4},
              {{32, 8, 16}, ptx::Type::kBf16, 8, 2}, {{8, 32, 16}, ptx::Type::kBf16, 2, 8},
              {{16, 16, 16}, ptx::Type::kS8, 2, 2},  {{32, 8, 16}, ptx::Type::kU8, 4, 1},
              {{8, 32, 16}, ptx::Type::kS8, 1, 4},   {{16, 16, 8}, ptx::Type::kTf32, 4, 4},
              {{8, 8, 4}, ptx::Type::kF64, 1, 1},    {{8, 8, 32}, ptx::Type::kS4, 1, 1},
              {{8, 8, 128}, ptx::Type::kB1, 1, 1}};
  const auto covers = [](const Fragment& f, bool once) {
    std::multiset<std::pair<int, int>> seen;
    for (int lane = 0; lane < 32; ++lane)
      for (int e = 0; e < f.elements(); ++e) {
        const exec::MatrixPlace p = exec::fragment_place(f, lane, e);
        if (p.row < 0 || p.row >= f.rows || p.column < 0 || p.column >= f.columns) return false;
        seen.insert({p.row, p.column});
      }
    const std::set<std::pair<int, int>> distinct(seen.begin(), seen.end());
    return static_cast<int>(distinct.size()) == f.rows * f.columns &&
           (!once || seen.size() == distinct.size());
  };
  for (const auto& row : rows) {
    const auto a = exec::wmma_fragment(MatrixRole::kA, row.shape, row.type),
               b = exec::wmma_fragment(MatrixRole::kB, row.shape, row.type);
    REQUIRE(a);
    REQUIRE(b);
    CHECK(a->registers == row.a);
    CHECK(b->registers == row.b);
    CHECK(covers(*a, false));
    CHECK(covers(*b, false));
    for (const ptx::Type sum : {ptx::Type::kF16, ptx::Type::kF32, ptx::Type::kS32, ptx::Type::kF64}) {
      const auto c = exec::wmma_fragment(MatrixRole::kAccumulator, row.shape, sum);
      REQUIRE(c);
      CHECK(covers(*c, true));
    }
  }
  CHECK_FALSE(exec::wmma_fragment(MatrixRole::kA, {16, 16, 8}, ptx::Type::kF16));
  CHECK(exec::wmma_fragment(MatrixRole::kAccumulator, {32, 8, 16}, ptx::Type::kF16)->registers == 4);
}

TEST_CASE("wmma.mma multiplies what the fragment map places", "[exec][matrix]") {
  const struct {
    const char *form, *a, *sum;
    ptx::Shape shape;
  } rows[] = {{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "f16", "f32", {16, 16, 16}},
              {"wmma.mma.sync.aligned.col.row.m32n8k16.f16.f16", "f16", "f16", {32, 8, 16}},
              {"wmma.mma.sync.aligned.row.row.m8n32k16.f32.f32", "f16", "f32", {8, 32, 16}},
              {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32", "bf16", "f32", {16, 16, 16}},
              {"wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", "tf32", "f32", {16, 16, 8}},
              {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn", "f64", "f64", {8, 8, 4}},
              {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32", "u8", "s32", {16, 16, 16}},
              {"wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32.satfinite", "s8", "s32", {32, 8, 16}},
              {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", "s4", "s32", {8, 8, 32}}};
  std::mt19937_64 random(17);
  for (const auto& row : rows) {
    const ptx::Type type = *ptx::find_type(row.a), sum = *ptx::find_type(row.sum);
    const Fragment a = *exec::wmma_fragment(MatrixRole::kA, row.shape, type),
                   b = *exec::wmma_fragment(MatrixRole::kB, row.shape, type);
    const Fragment c = *exec::wmma_fragment(MatrixRole::kAccumulator, row.shape, sum);
    Warp warp(row.form, register_vector(c.registers) + "," + register_vector(a.registers) + "," +
                            register_vector(b.registers) + "," + register_vector(c.registers));
    const auto load = [&](const Fragment& f, int first, const std::vector<std::vector<Bits>>& bits) {
      for (int lane = 0; lane < 32; ++lane)
        for (int r = 0; r < f.registers; ++r) {
          Bits word = 0;
          for (int i = 0; i < f.per_register(); ++i) {
            const exec::MatrixPlace p = exec::fragment_place(f, lane, r * f.per_register() + i);
            word |= bits[static_cast<std::size_t>(p.row)][static_cast<std::size_t>(p.column)] << (i * f.bits);
          }
          warp.source(first + r, lane) = word;
        }
    };
    const auto fresh = [&](int m, int n, std::vector<std::vector<double>>& values,
                           const std::function<Number()>& make) {
      std::vector<std::vector<Bits>> bits(static_cast<std::size_t>(m),
                                          std::vector<Bits>(static_cast<std::size_t>(n)));
      values = zeros(m, n);
      for (std::size_t i = 0; i < bits.size(); ++i)
        for (std::size_t j = 0; j < bits[i].size(); ++j) {
          const Number x = make();
          bits[i][j] = x.bits;
          values[i][j] = x.value;
        }
      return bits;
    };
    std::vector<std::vector<double>> va, vb, vc;
    const int m = row.shape.m, n = row.shape.n, k = row.shape.k;
    load(a, 0, fresh(m, k, va, [&] { return number(row.a, random); }));
    load(b, a.registers, fresh(k, n, vb, [&] { return number(row.a, random); }));
    load(c, a.registers + b.registers, fresh(m, n, vc, [&] { return Number{sum_bits(5, row.sum), 5}; }));
    warp.run();
    for (int lane = 0; lane < 32; ++lane)
      for (int e = 0; e < c.elements(); ++e) {
        const exec::MatrixPlace p = exec::fragment_place(c, lane, e);
        double want = at(vc, {p.row, p.column});
        for (int i = 0; i < k; ++i) want += at(va, {p.row, i}) * at(vb, {i, p.column});
        const int each = c.per_register();
        const Bits mask = c.bits == 64 ? ~Bits{0} : (Bits{1} << c.bits) - 1;
        INFO(row.form);
        REQUIRE((warp.result(lane, e / each) >> (e % each * c.bits) & mask) == sum_bits(want, row.sum));
      }
  }
}

TEST_CASE("Matrix sums round to fp32 in order of k; integers wrap or clamp; NaN is canonical",
          "[exec][matrix]") {
  // Eight products of 2^-24: in order of k each sum with 1 is a tie that goes to even.
  Warp warp("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "{r,r,r,r},{r,r},{r},{r,r,r,r}");
  for (int i = 3; i < 7; ++i) warp.set_all(i, 0x3f800000);
  warp.set_all(0, 0x1000'1000).set_all(1, 0).set_all(2, 0x0800'0800).run();
  CHECK(warp.result(0, 0) == 0x3f800000);
  warp.set_all(2, 0x0c00'0c00).run();  // eight times 2^-23
  CHECK(warp.result(0, 0) == 0x3f800008);
  CHECK(warp.result(0, 2) == 0x3f800000);
  Warp wrap("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", "{r,r},{r},{r},{r,r}");
  Warp clamp("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32", "{r,r},{r},{r},{r,r}");
  for (Warp* w : {&wrap, &clamp})
    w->set_all(0, 0x7f7f7f7f).set_all(1, 0x7f7f7f7f).set_all(2, 0x7fffffff).set_all(3, 0x80000000).run();
  CHECK(wrap.result(3, 0) == ((0x7fffffffu + 16 * 127 * 127) & 0xffffffff));
  CHECK(clamp.result(3, 0) == 0x7fffffff);
  CHECK(clamp.result(3, 1) == 0x80000000u + 16 * 127 * 127);
  warp.set_all(0, 0x7c00'7c00).set_all(2, 0).run();  // infinity times zero
  CHECK(warp.result(9, 0) == 0x7fffffff);
  CHECK_THROWS_AS(exec::select_lane_op(instruction("mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32",
                                                   "{r,r,r,r},{r,r},{r},{r,r,r,r}")),
                  exec::FormError);
  CHECK_THROWS_AS(exec::select_lane_op(instruction("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
                                                   "{r,r,r,r},{r,r,r},{r},{r,r,r,r}")),
                  exec::FormError);
  CHECK_THROWS_AS(exec::select_lane_op(instruction("mma.sync.aligned.m16n8k8.row.col.s32.s8.s8.s32",
                                                   "{r,r,r,r},{r,r},{r},{r,r,r,r}")),
                  exec::FormError);
}

TEST_CASE("movmatrix transposes an 8x8 matrix", "[exec][matrix]") {
  Warp warp("movmatrix.sync.aligned.m8n8.trans.b16", "r,r");
  for (int lane = 0; lane < 32; ++lane) {
    const Bits row = static_cast<Bits>(lane / 4), column = static_cast<Bits>(lane % 4 * 2);
    warp.source(0, lane) = (row << 4 | column) | (row << 4 | (column + 1)) << 16;
  }
  warp.run();
  for (int lane = 0; lane < 32; ++lane) {
    const Bits row = static_cast<Bits>(lane / 4), column = static_cast<Bits>(lane % 4 * 2);
    CHECK(warp.result(lane) == ((column << 4 | row) | ((column + 1) << 4 | row) << 16));
  }
}

}  // namespace lockstep::test
