// Against facts of NVIDIA's occupancy calculator (CUDA C++ Programming Guide, table of technical
// specifications; values checked by hand from its rules) and a brute-force search.
#include "config/occupancy.hpp"

#include <catch2/catch.hpp>

#include "../core/fakes.hpp"
#include "util/error.hpp"

namespace lockstep::test {
namespace {

config::GpuConfig sm_70() { return {}; }

config::GpuConfig sm_80() {
  config::GpuConfig c;
  c.sm.shared_unit = 128;
  c.sm.shared_reserved = 1024;
  c.l1.bytes = 192 * 1024;
  c.l1.shared_carveouts_kib = {0, 8, 16, 32, 64, 100, 132, 164};
  return c;
}

config::GpuConfig sm_86() {
  config::GpuConfig c = sm_80();
  c.sm.max_warps = 48;
  c.sm.max_threads = 1536;
  c.sm.max_ctas = 16;
  c.l1.bytes = 128 * 1024;
  c.l1.shared_carveouts_kib = {0, 8, 16, 32, 64, 100};
  return c;
}

struct Case {
  const char* what;
  config::GpuConfig (*config)();
  std::uint32_t threads, registers, shared, ctas;
  const char* limiter;
};

TEST_CASE("occupancy of known cases") {
  const Case c = GENERATE(
      Case{"full", sm_70, 256, 32, 0, 8, "warps"},
      Case{"64 registers halve it", sm_70, 256, 64, 0, 4, "registers"},
      Case{"33 registers count as 40: 48 warps", sm_70, 256, 33, 0, 6, "registers"},
      Case{"small CTAs: 32 slots", sm_70, 32, 16, 0, 32, "ctas"},
      Case{"48 KiB on Volta", sm_70, 128, 16, 49152, 2, "shared"},
      Case{"96 KiB on Volta", sm_70, 128, 16, 98304, 1, "shared"},
      Case{"65 threads take 3 warps", sm_70, 65, 16, 0, 21, "warps"},
      Case{"1024 threads with 64 registers", sm_70, 1024, 64, 0, 1, "registers"},
      Case{"odd warps and registers: 12 warps per sub-core", sm_70, 96, 40, 0, 16, "registers"},
      Case{"163 KiB on GA100", sm_80, 128, 16, 163 * 1024, 1, "shared"},
      Case{"81 KiB on GA100", sm_80, 128, 16, 81 * 1024, 2, "shared"},
      Case{"82 KiB on GA100: the reserved KiB does not fit twice", sm_80, 128, 16, 82 * 1024, 1, "shared"},
      Case{"1024 threads on GA10x", sm_86, 1024, 32, 0, 1, "warps"},
      Case{"512 threads on GA10x", sm_86, 512, 32, 0, 3, "warps"},
      Case{"255 registers", sm_70, 128, 255, 0, 2, "registers"});
  INFO(c.what);
  const auto o = config::occupancy(c.config(), kernel(1, 1, c.threads, 0, c.shared, c.registers));
  CHECK(o.ctas_per_sm == c.ctas);
  CHECK(std::string(o.limiter) == c.limiter);
}

TEST_CASE("most registers of a thread: 64 K of an SM in 4 sub-cores, given to warps in units of 256") {
  CHECK(config::max_registers(sm_70().sm, 1024) == 64);  // 65536 / 1024
  CHECK(config::max_registers(sm_70().sm, 512) == 128);
  CHECK(config::max_registers(sm_70().sm, 768) == 80);  // 85.3, of which whole units of 8
  CHECK(config::max_registers(sm_70().sm, 800) == 72);  // 25 warps: 7 of them in one sub-core
  for (std::uint32_t threads = 1; threads <= 1024; ++threads) {
    const std::uint32_t most = config::max_registers(sm_70().sm, threads);
    CHECK(config::occupancy(sm_70(), kernel(1, 1, threads, 0, 0, most)).ctas_per_sm >= 1);
    CHECK_THROWS_AS(config::occupancy(sm_70(), kernel(1, 1, threads, 0, 0, most + 1)), UserError);
  }
}

TEST_CASE("carve-out is the smallest that does not lower the occupancy") {
  const auto carveout = [](const config::GpuConfig& c, std::uint32_t threads, std::uint32_t shared) {
    return c.l1.shared_carveouts_kib[config::occupancy(c, kernel(1, 1, threads, 0, shared)).carveout];
  };
  CHECK(carveout(sm_70(), 256, 0) == 0);
  CHECK(carveout(sm_70(), 256, 4096) == 32);  // 8 CTAs of 4 KiB
  CHECK(carveout(sm_70(), 256, 4097) == 64);
  CHECK(carveout(sm_70(), 1024, 4096) == 8);   // 2 CTAs
  CHECK(carveout(sm_70(), 256, 49152) == 96);  // 8 are out of reach: the most that can be had
  CHECK(carveout(sm_70(), 256, 65536) == 64);  // only one fits, with 64 as with 96
  CHECK(carveout(sm_80(), 256, 0) == 8);       // 8 CTAs, 1 KiB reserved each
  CHECK(carveout(sm_80(), 256, 7168) == 64);   // 8 KiB each
  config::GpuConfig unsorted;
  unsorted.l1.shared_carveouts_kib = {96, 0, 64, 8, 32, 16};
  CHECK(carveout(unsorted, 256, 4096) == 32);
}

TEST_CASE("a kernel that does not fit is an error with numbers") {
  const auto fails = [](const trace::KernelHeader& k, const char* number) {
    CHECK_THROWS_AS(config::occupancy(sm_70(), k), UserError);
    CHECK_THROWS_WITH(config::occupancy(sm_70(), k), Catch::Contains(number) && Catch::Contains("kernel 7"));
  };
  fails(kernel(7, 1, 2080), "65 warps");
  fails(kernel(7, 1, 1024, 0, 0, 65), "73728 registers");
  fails(kernel(7, 1, 32, 0, 98305), "98560 bytes");
  trace::KernelHeader huge = kernel(7, 1);
  huge.block = {0xffffffff, 0xffffffff, 0xffffffff};
  fails(huge, "warps");
}

/// Adds CTAs one by one until some resource runs out.
std::uint32_t fill(const config::GpuConfig& c, const trace::KernelHeader& k, std::uint32_t shared_capacity) {
  const std::uint32_t warps = (k.block.x + 31) / 32, shared_unit = c.sm.shared_unit;
  std::uint32_t per_warp = 0;
  while (per_warp < k.registers * 32) per_warp += c.sm.register_unit;
  std::uint32_t shared = 0;
  while (shared < k.shared_bytes + c.sm.shared_reserved) shared += shared_unit;
  std::uint32_t ctas = 0, used_warps = 0, used_shared = 0;
  std::vector<std::uint32_t> file(c.sm.subcores, 0);
  const auto add_cta = [&] {
    for (std::uint32_t w = 0; w < warps; ++w) {
      auto& part = *std::min_element(file.begin(), file.end());
      part += per_warp;
      if (part > c.sm.registers / c.sm.subcores) return false;
    }
    used_warps += warps;
    used_shared += shared;
    return used_warps <= c.sm.max_warps && used_warps * 32 <= c.sm.max_threads &&
           used_shared <= shared_capacity;
  };
  while (ctas < c.sm.max_ctas && add_cta()) ++ctas;
  return ctas;
}

TEST_CASE("occupancy equals filling an SM CTA by CTA") {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const config::GpuConfig c = i % 3 == 0 ? sm_70() : i % 3 == 1 ? sm_80() : sm_86();
    const auto k = kernel(1, 1, random() % 1024 + 1, 0, random() % 3 ? random() % 20000 : random() % 90000,
                          random() % 64 + 1);
    std::uint32_t best = 0, best_kib = 0;
    for (const std::uint32_t kib : c.l1.shared_carveouts_kib)
      if (const std::uint32_t n = fill(c, k, kib * 1024); n > best) {
        best = n;
        best_kib = kib;
      }
    INFO(k.block.x << " threads, " << k.registers << " registers, " << k.shared_bytes << " bytes");
    if (best == 0) {
      CHECK_THROWS_AS(config::occupancy(c, k), UserError);
      continue;
    }
    const auto o = config::occupancy(c, k);
    REQUIRE(o.ctas_per_sm == best);
    REQUIRE(c.l1.shared_carveouts_kib[o.carveout] == best_kib);
  }
}

}  // namespace
}  // namespace lockstep::test
