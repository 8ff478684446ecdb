// mma.m8n8k4 of f16 ("PTX ISA 9.0", 9.7.14.5.1): four products, each of the lanes 4 q to 4 q + 3 and 4 q + 16
// to 4 q + 19. Each addition rounds to fp32, in the order of k, as in the other products.
#include <cmath>

#include "exec/alu_families.hpp"
#include "exec/alu_float.hpp"
#include "exec/alu_form.hpp"

namespace lockstep::exec::alu {
namespace {

constexpr int kSide = 8, kDepth = 4, kQuadPairs = 4;

// The constant of the instruction.
constexpr u64 kColumnsA = 1, kColumnsB = 2, kHalfC = 4, kHalfD = 8;

struct Place {
  int row, column;
};

/// Element i of C and D: `place` is 0 to 7 in the quad pair, the upper quad's lanes from 4 on.
Place sum_place(bool half, int place, int i) {
  const int upper = place / 4 * 4, lane = place % 4;
  if (half) return {lane + upper, i};
  return {(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
}

float half_at(const LaneValues* const* src, int i, int lane) {
  return half_to_float(static_cast<u16>(src[i / 2]->lane[lane] >> (i % 2 * 16)));
}

struct Tile {
  float a[kSide][kDepth], b[kDepth][kSide], c[kSide][kSide];
};

void read_tile(const LaneArgs& args, u64 how, int pair, Tile& t) {
  const LaneValues* const* const c = args.src + 4;
  for (int place = 0; place < 8; ++place) {
    const int lane = 4 * pair + place % 4 + place / 4 * 16, own = place % 4, upper = place / 4 * 4;
    for (int i = 0; i < 4; ++i) {
      const float a = half_at(args.src, i, lane), b = half_at(args.src + 2, i, lane);
      if ((how & kColumnsA) != 0)
        t.a[i + upper][own] = a;
      else
        t.a[own + upper][i] = a;
      if ((how & kColumnsB) != 0)
        t.b[i][own + upper] = b;
      else
        t.b[own][i + upper] = b;
    }
    const bool half = (how & kHalfC) != 0;
    for (int i = 0; i < 8; ++i) {
      const Place at = sum_place(half, place, i);
      t.c[at.row][at.column] =
          half ? half_at(c, i, lane) : std::bit_cast<float>(static_cast<u32>(c[i]->lane[lane]));
    }
  }
}

void write_tile(const LaneArgs& args, u64 how, int pair, const Tile& t) {
  const bool half = (how & kHalfD) != 0;
  for (int place = 0; place < 8; ++place) {
    const int lane = 4 * pair + place % 4 + place / 4 * 16;
    for (int i = 0; i < 8; ++i) {
      LaneValues* const to = args.dst[half ? i / 2 : i];
      if (!to) continue;
      const Place at = sum_place(half, place, i);
      const float value = t.c[at.row][at.column];
      if (!half) {
        to->lane[lane] = std::bit_cast<u32>(canonical(value));
        continue;
      }
      const u64 bits = round_to_16<10, 15>(value);
      to->lane[lane] = i % 2 == 0 ? bits : to->lane[lane] | bits << 16;
    }
  }
}

void product(const LaneArgs& args, u64 how) {
  Tile tiles[kQuadPairs];  // all are read first: a destination may be a source
  for (int pair = 0; pair < kQuadPairs; ++pair) read_tile(args, how, pair, tiles[pair]);
  for (int pair = 0; pair < kQuadPairs; ++pair) {
    Tile& t = tiles[pair];
    for (int m = 0; m < kSide; ++m)
      for (int n = 0; n < kSide; ++n)
        for (int k = 0; k < kDepth; ++k) t.c[m][n] = std::fma(t.a[m][k], t.b[k][n], t.c[m][n]);
    write_tile(args, how, pair, t);
  }
}

}  // namespace

LaneOp select_quad_pairs(const Form& form) {
  const auto mods = form.mods();
  const auto layout = [&](std::size_t i) {
    if (i >= mods.size() || (mods[i] != Mod::kRow && mods[i] != Mod::kCol))
      form.fail("expected .row or .col");
    return mods[i] == Mod::kCol;
  };
  if (mods.size() != 4 || mods[0] != Mod::kSync || mods[1] != Mod::kAligned) form.fail("no such mma");
  const bool half_c = form.type(3) == Type::kF16, half_d = form.type(0) == Type::kF16;
  const auto sum = [](Type t) { return t == Type::kF16 || t == Type::kF32; };
  if (form.type(2) != Type::kF16 || !sum(form.type(0)) || !sum(form.type(3))) form.fail("no such types");
  const u64 how = (layout(2) ? kColumnsA : u64{0}) | (layout(3) ? kColumnsB : u64{0}) |
                  (half_c ? kHalfC : u64{0}) | (half_d ? kHalfD : u64{0});
  return form.use({&product, &product, half_d ? 4 : 8, 4 + (half_c ? 4 : 8)}, how);
}

}  // namespace lockstep::exec::alu
