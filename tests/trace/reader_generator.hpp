// Random valid traces for the feed, spill and fuzz tests.
#pragma once

#include <bit>
#include <random>

#include "reader_support.hpp"

namespace lockstep::trace::test {

/// What became of traces that were changed.
struct Tally {
  unsigned good = 0, refused = 0;
};

/// 32 random bits at a time, the same on every host.
struct Random {
  explicit Random(std::uint32_t seed) : engine(seed) {}
  unsigned operator()() { return static_cast<unsigned>(engine()); }
  std::mt19937 engine;
};

/// An instruction line with one of the three address encodings or none.
inline std::string random_line(Random& random, unsigned instructions) {
  static constexpr const char* kPlain[] = {"1 R1 MOV 0",   "1 R2 FADD 2 R1 R3", "0 ISETP.GE.AND 2 R1 R255",
                                           "0 BAR.SYNC 0", "0 DEPBAR.LE 0",     "1 R7 IMAD.WIDE 2 R1 R2",
                                           "0 EXIT 0"};
  char text[64];
  const unsigned which = random() % instructions;
  const LaneMask mask = random() % 3 == 0 ? random() : random() % 5 == 0 ? 0u : ~0u;
  std::snprintf(text, sizeof text, "%04x %08x ", which * 16, mask);
  std::string line = text;
  if (which % 3 != 0) {
    line += kPlain[which % std::size(kPlain)];
    return line + " 0 " + std::to_string(which % 5);
  }
  line += "1 R4 LDG.E 1 R8 4 ";
  const unsigned mode = random() % 3;
  const auto lanes = static_cast<unsigned>(std::popcount(mask));
  line += std::to_string(mode);
  for (unsigned i = 0; i < (mode == 0 ? lanes : 1); ++i) {
    std::snprintf(text, sizeof text, " 0x%016llx", 0x7f0000000000ull + random() % 65536 * 4);
    line += text;
  }
  if (mode == 1) line += " " + std::to_string(static_cast<int>(random() % 64) - 32);
  for (unsigned i = 1; mode == 2 && i < lanes; ++i)
    line += " " + std::to_string(static_cast<int>(random() % 4096) - 2048);
  return line + " 0";
}

struct RandomTrace {
  unsigned ctas = 10, warps = 2, lines = 20, instructions = 30;
  std::uint32_t seed = 1;
  [[nodiscard]] HeaderText header() const {
    HeaderText h;
    h.grid = "(" + std::to_string(ctas) + ",1,1)";
    h.block = "(" + std::to_string(warps * 32) + ",1,1)";
    return h;
  }
  /// lines[cta][warp]
  [[nodiscard]] std::vector<std::vector<std::vector<std::string>>> all_lines() const {
    Random random(seed);
    std::vector<std::vector<std::vector<std::string>>> out(ctas);
    for (auto& cta : out) {
      cta.resize(warps);
      for (auto& warp : cta) {
        for (unsigned i = random() % (2 * lines); i > 0; --i)
          warp.push_back(random_line(random, instructions));
      }
    }
    return out;
  }
  [[nodiscard]] std::string text() const {
    std::string out = header().text();
    const auto lines_of = all_lines();
    for (unsigned c = 0; c < ctas; ++c) {
      std::string body;
      for (unsigned w = 0; w < warps; ++w) body += warp_text(w, lines_of[c][w]);
      out += block_text(std::to_string(c) + ",0,0", body);
    }
    return out;
  }
};

}  // namespace lockstep::trace::test
