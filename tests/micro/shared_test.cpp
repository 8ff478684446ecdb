// Shared memory: conflicts of every stride and width, latency, atomics on the same words.
#include <catch2/catch.hpp>
#include <numeric>

#include "micro.hpp"

namespace lockstep::test {
namespace {

/// Passes over 32 banks of 4 bytes (CUDA C++ Programming Guide, shared memory of cc 5.x and later): the lanes
/// of `width` bytes go in groups of 128 bytes; in a group, lanes a stride of s widths apart meet every 32 /
/// gcd(s * words, 32) lanes.
unsigned conflict_free_passes(unsigned width) { return width / 4; }
unsigned degree(unsigned stride, unsigned width) {
  const unsigned words = width / 4, lanes = 32 / words;
  if (stride == 0) return 1;
  const unsigned period = 32 / std::gcd(stride * words, 32u);
  return (lanes + period - 1) / period;
}
double wavefronts(unsigned stride, unsigned width) {
  return conflict_free_passes(width) * degree(stride, width);
}
/// Loads of 64 and 128 bits of which all lanes have the same address: half the passes (NVIDIA about LDS.128,
/// forums.developer.nvidia.com/t/77228).
double load_wavefronts(unsigned stride, unsigned width) {
  return stride == 0 && width > 4 ? wavefronts(stride, width) / 2 : wavefronts(stride, width);
}

SynthValues access(const char* op, unsigned bits, unsigned stride) {
  return {{"op", op}, {"width", std::to_string(bits)}, {"stride", std::to_string(stride)}};
}

TEST_CASE("a load or store takes a cycle for each conflicting row, for every stride and width") {
  const Micro micro("v100");
  for (const char* op : {"LDS", "STS"})
    for (const unsigned bits : {32u, 64u, 128u})
      for (unsigned stride = 0; stride <= 32; ++stride) {
        if (op[0] == 'S' && stride % 5 != 1) continue;  // stores do as loads
        INFO(op << "." << bits << " stride " << stride);
        SynthValues values = access(op, bits, stride);
        values["threads"] = "128";  // a warp in each sub-core
        const double cycles = micro.each("shared", "instructions", 24, 48, values) / 4;
        const auto expected = op[0] == 'L' ? load_wavefronts : wavefronts;
        CHECK(cycles == Approx(expected(stride, bits / 8)).margin(0.05));
      }
}

TEST_CASE("a dependent load takes the latency and one cycle for each further row") {
  for (const std::string& model : config::gpu_model_names()) {
    const Micro micro(model);
    for (const unsigned bits : {32u, 128u})
      for (const unsigned stride : {1u, 6u}) {
        INFO(model << " LDS." << bits << " stride " << stride);
        SynthValues values = access("LDS", bits, stride);
        values["dependent"] = "1";
        CHECK(micro.each("shared", "instructions", 8, 16, values) ==
              micro.config().l1.shared_latency + wavefronts(stride, bits / 8) - 1);
      }
  }
}

TEST_CASE("published latency of a shared-memory load") {
  // Jia et al. 2018: V100 19; RTX 2070 and RTX 3060: 23 (sjfeng1999, YKTian); FlashGPU-Sim sm_90: 29 to 33.
  const auto latency = [](const char* model) {
    return Micro(model).each("shared", "instructions", 24, 48, {{"dependent", "1"}});
  };
  CHECK(latency("v100") == 19);
  CHECK(latency("rtx2080ti") == 23);
  CHECK(latency("rtx3080ti") == 23);
  CHECK(latency("h100_pcie") == 29);
}

TEST_CASE("lanes that read the same words share a row; atomics on them take turns") {
  const Micro micro("v100");
  for (const unsigned distinct : {1u, 2u, 3u, 4u, 7u, 8u, 16u, 31u, 32u}) {
    INFO(distinct << " addresses");
    const auto cycles = [&](const char* op) {
      SynthValues values = access(op, 32, 1);
      values["addresses"] = std::to_string(distinct);
      values["threads"] = "128";
      return micro.each("shared", "instructions", 24, 48, values) / 4;
    };
    CHECK(cycles("LDS") == Approx(1).margin(0.05));
    CHECK(cycles("ATOMS.ADD") == Approx((32 + distinct - 1) / distinct).margin(0.05));
  }
}

}  // namespace
}  // namespace lockstep::test
