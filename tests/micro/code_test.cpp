// Straight-line code larger and larger: the L0, the L1 instruction cache, the L2, and what the stream buffer
// hides.
#include <catch2/catch.hpp>

#include "micro.hpp"

namespace lockstep::test {
namespace {

constexpr unsigned kInstructionBytes = 16;

/// Cycles of an instruction in steady state: the slope between two sizes of code, so that the branch back
/// cancels.
double cycles_an_instruction(const Micro& micro, unsigned low_kib, unsigned high_kib) {
  return micro.each("code", "bytes", low_kib * 1024, high_kib * 1024, {}) * kInstructionBytes;
}

std::vector<std::string> entries(unsigned n) { return {"frontend.prefetch_entries=" + std::to_string(n)}; }

TEST_CASE("code that fits the L0 issues one instruction per cycle on every GPU") {
  for (const std::string& model : config::gpu_model_names()) {
    const Micro micro(model);
    if (micro.config().gpu.arch < 70) continue;  // FADD and IADD3 share a pipe before Volta
    INFO(model);
    CHECK(cycles_an_instruction(micro, 4, 8) == Approx(1).margin(0.01));
  }
}

TEST_CASE("without a prefetcher every line of code beyond the L0 costs the way to the L1I") {
  // A line's instructions issue one a cycle once it is there; the next line is asked for when they are
  // fetched.
  const auto line = [](unsigned latency) {
    const Micro micro("v100",
                      {"frontend.prefetch_entries=0", "frontend.l1i_latency=" + std::to_string(latency)});
    const unsigned instructions = micro.config().frontend.line_bytes / kInstructionBytes;
    return cycles_an_instruction(micro, 32, 64) * instructions - instructions;
  };
  CHECK(line(39) == Approx(39).margin(1.5));
  CHECK(line(79) - line(39) == Approx(40).margin(0.01));
}

TEST_CASE("n lines in flight divide the way to the L1I by n + 1") {
  const double alone = cycles_an_instruction(Micro("v100", entries(0)), 32, 64);
  for (const unsigned n : {1u, 2u, 3u, 4u, 8u, 16u}) {
    INFO(n << " entries");
    CHECK(cycles_an_instruction(Micro("v100", entries(n)), 32, 64) ==
          Approx(std::max(1.0, alone / (n + 1))).epsilon(0.05));
  }
}

TEST_CASE("each cache that the code outgrows makes it slower") {
  for (const unsigned n : {0u, 8u}) {
    INFO(n << " entries");
    const Micro micro("v100", entries(n));  // L0 12 KiB, L1I 128 KiB
    const double l0 = cycles_an_instruction(micro, 4, 8), l1i = cycles_an_instruction(micro, 32, 96);
    const double l2 = cycles_an_instruction(micro, 192, 256);
    CHECK(l0 <= l1i);  // with eight entries the L1I is as good
    if (n == 0) CHECK(l1i > 5 * l0);
    CHECK(1.05 * l1i < l2);
    // It stays on a plateau up to the capacity.
    CHECK(cycles_an_instruction(micro, 64, 96) == Approx(l1i).epsilon(0.02));
    CHECK(cycles_an_instruction(micro, 8, 11) == Approx(l0).epsilon(0.02));
  }
}

TEST_CASE("a longer stream buffer helps, in the order of the published ablation") {
  // Huerta et al., MICRO 2025, error of the RTX A6000 model: no prefetcher 45.55 %, 1 entry 35.09, 2: 22.82,
  // 4: 15.63, 8: 13.45, 16: 13.51.
  for (const auto& [low, high] : {std::pair{32u, 64u}, {192u, 256u}}) {
    double before = 1e9;
    for (const unsigned n : {0u, 1u, 2u, 4u, 8u}) {
      const double now = cycles_an_instruction(Micro("rtxa6000", entries(n)), low, high);
      INFO(high << " KiB, " << n << " entries");
      CHECK(now < before);
      before = now;
    }
    if (high <= 128) CHECK(cycles_an_instruction(Micro("rtxa6000", entries(16)), low, high) == before);
  }
}

}  // namespace
}  // namespace lockstep::test
