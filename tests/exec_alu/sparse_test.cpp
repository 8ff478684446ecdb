// mma.sp with the metadata where the ISA's figures show it (9.7.14.6), and mma.m8n8k4 of f16 with its
// layouts, both against plain products of the whole matrices. redux on f32 against a fold over the lanes.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/exec_alu/harness.hpp"

namespace lockstep::test {
namespace {

/// A small integer in an element type.
Bits bits_of(const std::string& type, int value) {
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == "f32" || type == "tf32") return single;
  if (type == "bf16") return single >> 16;
  if (type == "f16")
    return value == 0
               ? 0
               : (single >> 16 & 0x8000) | (((single >> 23) & 255) - 112) << 10 | (single >> 13 & 1023);
  if (type == "e4m3")  // 1, 2, 4 and their negatives, and zero
    return value == 0 ? 0 : (value < 0 ? 0x80u : 0u) | (7u + static_cast<unsigned>(std::ilogb(value))) << 3;
  const int width = type.back() == '4' ? 4 : type.back() == '8' ? 8 : 32;
  return static_cast<Bits>(value) & ((Bits{1} << width) - 1);
}

struct Shape {
  const char* type;
  const char* result;
  int k, bits, group;  // group: elements that four bits of metadata speak of
  int selectors;
  bool shared_words;  // rows g and g + 8 share a word of metadata
};
constexpr Shape kShapes[] = {
    {"f16", "f32", 16, 16, 4, 4, true},  {"f16", "f16", 32, 16, 4, 2, true},
    {"bf16", "f32", 16, 16, 4, 4, true}, {"bf16", "f32", 32, 16, 4, 2, true},
    {"tf32", "f32", 8, 32, 2, 4, true},  {"tf32", "f32", 16, 32, 2, 2, true},
    {"s8", "s32", 32, 8, 4, 2, false},   {"u8", "s32", 64, 8, 4, 1, false},
    {"s4", "s32", 64, 4, 8, 2, false},   {"u4", "s32", 128, 4, 8, 1, false},
    {"e4m3", "f32", 64, 8, 4, 1, false},
};

std::string list(int n) {
  std::string out = "{r";
  for (int i = 1; i < n; ++i) out += ",r";
  return out + "}";
}

/// The lane and first bit of the metadata of a group, as the figures show it.
std::pair<int, int> metadata_at(const Shape& s, int selector, int row, int group) {
  const int quad = 4 * (row % 8), high = row / 8;
  if (s.shared_words && s.selectors == 4) return {quad + selector, 16 * high + 4 * group};
  if (s.shared_words) return {quad + 2 * selector + group / 4, 16 * high + group % 4 * 4};
  if (s.selectors == 2) return {quad + 2 * selector + high, 4 * group};
  return {quad + (group < 8 ? 0 : 2) + high, 4 * (group % 8)};
}

void check_sparse(const Shape& s, int selector, std::mt19937& random, bool ordered) {
  const int each = 32 / s.bits, ra = 16 * s.k / 2 / 32 / each, rb = s.k * 8 / 32 / each;
  const bool half = std::string(s.result) == "f16";
  const int rd = half ? 2 : 4;
  const std::string form = std::string("mma.sp") + (ordered ? "::ordered_metadata" : "") +
                           ".sync.aligned.m16n8k" + std::to_string(s.k) + ".row.col." + s.result + "." +
                           s.type + "." + s.type + "." + s.result;
  INFO(form << " selector " << selector);
  Warp warp(form,
            list(rd) + "," + list(ra) + "," + list(rb) + "," + list(rd) + ",r,#" + std::to_string(selector));
  const bool narrow = std::string(s.type) == "e4m3", is_unsigned = s.type[0] == 'u';
  const auto number = [&] {
    constexpr int kPowers[] = {1, -2, 4, -1, 2, 0};
    if (narrow) return kPowers[random() % 6];
    return static_cast<int>(random() % 8) - (is_unsigned ? 0 : 4);
  };
  std::vector<std::vector<int>> a(16, std::vector<int>(static_cast<std::size_t>(s.k))),
      b(static_cast<std::size_t>(s.k), std::vector<int>(8));
  const int meta = ra + rb + rd;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < meta; ++r) warp.source(r, lane) = 0;
    warp.source(meta, lane) = random() & 0xffffffff;  // other lanes' metadata must not matter
  }
  for (int row = 0; row < 16; ++row)
    for (int g = 0; g < s.k / s.group; ++g) {
      const auto [lane, bit] = metadata_at(s, selector, row, g);
      const auto low = static_cast<unsigned>(random() % 3);
      const auto high = low + 1 + static_cast<unsigned>(random() % (3 - low));
      unsigned nibble = low | high << 2;
      std::vector<int> places;
      if (s.group == 2) {
        places = {static_cast<int>(random() % 2)};
        nibble = places[0] == 0 ? 0b0100 : 0b1110;
      } else if (s.group == 4) {
        places = {static_cast<int>(low), static_cast<int>(high)};
      } else {
        for (const unsigned p : {low, high}) places.insert(places.end(), {int(2 * p), int(2 * p + 1)});
      }
      warp.source(meta, lane) &= ~(Bits{15} << bit);
      warp.source(meta, lane) |= Bits{nibble} << bit;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const int value = number(), column = g * s.group / 2 + static_cast<int>(i);  // among the stored ones
        a[static_cast<std::size_t>(row)][static_cast<std::size_t>(g * s.group + places[i])] = value;
        const int block = 4 * each, reg = column / block * 2 + row / 8;
        warp.source(reg, 4 * (row % 8) + column % block / each) |= bits_of(s.type, value)
                                                                   << (column % each * s.bits);
      }
    }
  for (int k = 0; k < s.k; ++k)
    for (int n = 0; n < 8; ++n) {
      const int value = number(), block = 4 * each;
      b[static_cast<std::size_t>(k)][static_cast<std::size_t>(n)] = value;
      warp.source(ra + k / block, 4 * n + k % block / each) |= bits_of(s.type, value) << (k % each * s.bits);
    }
  warp.run();
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const auto row = static_cast<std::size_t>(lane / 4 + i / 2 * 8),
                 column = static_cast<std::size_t>(lane % 4 * 2 + i % 2);
      int want = 0;
      for (std::size_t k = 0; k < b.size(); ++k) want += a[row][k] * b[k][column];
      const Bits got = half ? warp.result(lane, i / 2) >> (16 * (i % 2)) & 0xffff : warp.result(lane, i);
      REQUIRE(got == bits_of(s.result, want));
    }
}

}  // namespace

TEST_CASE("mma.sp: every type and shape, every selector", "[exec][matrix]") {
  std::mt19937 random(11);
  for (const Shape& s : kShapes)
    for (int selector = 0; selector < s.selectors; ++selector)
      for (int round = 0; round < 4; ++round) check_sparse(s, selector, random, round % 2 != 0);
  CHECK_THROWS_AS(exec::select_lane_op(instruction("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
                                                   "{r,r,r,r},{r,r,r,r},{r,r,r,r},{r,r,r,r},r,#2")),
                  exec::FormError);
  CHECK_THROWS_AS(exec::select_lane_op(instruction("mma.sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
                                                   "{r,r,r,r},{r},{r},{r,r,r,r},r,#0")),
                  exec::FormError);
}

// Elements that are not stored are no factors: infinity beside them makes no NaN.
TEST_CASE("mma.sp: what is not stored is not multiplied", "[exec][matrix]") {
  Warp warp("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "{r,r,r,r},{r,r},{r,r},{r,r,r,r},r,#0");
  for (int i = 0; i < 9; ++i) warp.set_all(i, 0);
  warp.set_all(0, 0x3c003c00).set_all(1, 0x3c003c00);                  // ones
  warp.set_all(2, 0x3c003c00).set_all(3, 0x3c003c00);                  // b: ones,
  for (int n = 0; n < 8; ++n) warp.source(2, 4 * n + 1) = 0x7c007c00;  // rows 2 and 3 infinite
  warp.set_all(8, 0x44444444).run();                                   // elements 0 and 1 of each group
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) CHECK(warp.result(lane, i) == 0x41000000);  // 8
}

// PTX ISA 9.7.14.5.1: the layouts of .m8n8k4 with .f16, element by element.
TEST_CASE("mma.m8n8k4 of f16 makes four products in every layout", "[exec][matrix]") {
  std::mt19937 random(5);
  for (const std::string la : {"row", "col"})
    for (const std::string lb : {"row", "col"})
      for (const std::string d : {"f16", "f32"})
        for (const std::string c : {"f16", "f32"}) {
          const int rc = c == "f16" ? 4 : 8, rd = d == "f16" ? 4 : 8;
          Warp warp("mma.sync.aligned.m8n8k4." + la + "." + lb + "." + d + ".f16.f16." + c,
                    list(rd) + "," + list(2) + "," + list(2) + "," + list(rc));
          int a[4][8][4] = {}, b[4][4][8] = {}, sum[4][8][8] = {};
          const auto place = [](const std::string& type, int lane, int i) {
            const int upper = lane < 16 ? 0 : 4;
            if (type == "f16") return std::pair{lane % 4 + upper, i};
            return std::pair{(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
          };
          for (int lane = 0; lane < 32; ++lane) {
            const int q = lane % 16 / 4, upper = lane < 16 ? 0 : 4;
            for (int r = 0; r < 4 + rc; ++r) warp.source(r, lane) = 0;
            for (int i = 0; i < 4; ++i) {
              const int x = static_cast<int>(random() % 7) - 3, y = static_cast<int>(random() % 7) - 3;
              (la == "row" ? a[q][lane % 4 + upper][i] : a[q][i + upper][lane % 4]) = x;
              (lb == "row" ? b[q][lane % 4][i + upper] : b[q][i][lane % 4 + upper]) = y;
              warp.source(i / 2, lane) |= bits_of("f16", x) << (i % 2 * 16);
              warp.source(2 + i / 2, lane) |= bits_of("f16", y) << (i % 2 * 16);
            }
            for (int i = 0; i < 8; ++i) {
              const int z = static_cast<int>(random() % 50);
              const auto [row, column] = place(c, lane, i);
              sum[q][row][column] = z;
              if (rc == 8)
                warp.source(4 + i, lane) = bits_of("f32", z);
              else
                warp.source(4 + i / 2, lane) |= bits_of("f16", z) << (i % 2 * 16);
            }
          }
          warp.run();
          for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < 8; ++i) {
              const int q = lane % 16 / 4;
              const auto [row, column] = place(d, lane, i);
              int want = sum[q][row][column];
              for (int k = 0; k < 4; ++k) want += a[q][row][k] * b[q][k][column];
              const Bits got =
                  rd == 8 ? warp.result(lane, i) : warp.result(lane, i / 2) >> (i % 2 * 16) & 0xffff;
              REQUIRE(got == bits_of(d, want));
            }
        }
}

TEST_CASE("redux on f32 ignores NaN unless it is asked for", "[exec][warp]") {
  std::mt19937_64 random(8);
  for (const bool maximum : {false, true})
    for (const bool magnitude : {false, true})
      for (const bool with_nan : {false, true})
        for (int round = 0; round < 50; ++round) {
          Warp warp(std::string("redux.sync.") + (maximum ? "max" : "min") + (magnitude ? ".abs" : "") +
                        (with_nan ? ".NaN" : "") + ".f32",
                    "r,r,r");
          warp.set_all(1, 0xffffffff);
          double best = std::nan("");
          bool nan = false;
          for (int lane = 0; lane < 32; ++lane) {
            const Bits bits = round < 10 ? random() & 0xffffffff : any_float(random, 8, 23);
            warp.source(0, lane) = bits;
            double x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
            if (magnitude) x = std::fabs(x);
            nan |= std::isnan(x);
            if (std::isnan(best))
              best = x;
            else if (!std::isnan(x) && x == best)
              best = std::signbit(x) == maximum ? best : x;
            else if (!std::isnan(x))
              best = maximum ? std::fmax(best, x) : std::fmin(best, x);
          }
          warp.run();
          const bool gives_nan = std::isnan(best) || (with_nan && nan);
          const Bits want = gives_nan ? 0x7fffffff : std::bit_cast<std::uint32_t>(static_cast<float>(best));
          CHECK(warp.result(17) == want);
        }
}

}  // namespace lockstep::test
