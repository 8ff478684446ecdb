// SMs by GPC.
#include "config/gpcs.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "config/config.hpp"

namespace lockstep::config {
namespace {

GpuGroup gpu_of(std::uint32_t sms, std::uint32_t per_tpc, std::uint32_t gpcs) {
  GpuGroup gpu;
  gpu.sms = sms;
  gpu.sms_per_tpc = per_tpc;
  gpu.gpcs = gpcs;
  return gpu;
}

TEST_CASE("SMs of the GPCs of products, in TPCs of two") {
  // GV100: 6 GPCs of 7 TPCs, of which a V100 has 40. GA100: an A100 has 54 TPCs, up to 8 a GPC.
  const auto v100 = sms_of_gpcs(resolve("v100").gpu), a100 = sms_of_gpcs(resolve("a100").gpu);
  CHECK(v100.size() == 6);
  CHECK(std::accumulate(v100.begin(), v100.end(), 0u) == 80);
  CHECK(std::ranges::count(v100, 14u) == 4);
  CHECK(std::ranges::count(v100, 12u) == 2);
  CHECK(std::accumulate(a100.begin(), a100.end(), 0u) == 108);
  CHECK(*std::ranges::max_element(a100) <= 16);
  // Grids of clusters depend on it: an H100 SXM has 132 SMs in GPCs of up to 18, on 120 of which clusters of
  // 4 x 2 CTAs run at a time (accel-sim/gpu-app-collection#87).
  const auto h100 = sms_of_gpcs(resolve("h100_sxm").gpu);
  std::uint32_t clusters = 0;
  for (const std::uint32_t sms : h100) clusters += sms / 8;
  CHECK(clusters == 15);
  CHECK(std::accumulate(h100.begin(), h100.end(), 0u) == 132);
  CHECK(std::ranges::max(h100) == 18);
}

TEST_CASE("TPCs are spread evenly and in order, and never divided") {
  for (std::uint32_t tpcs = 1; tpcs <= 40; ++tpcs)
    for (std::uint32_t gpcs = 1; gpcs <= 10; ++gpcs)
      for (const std::uint32_t per_tpc : {1u, 2u, 3u}) {
        const GpuGroup gpu = gpu_of(tpcs * per_tpc, per_tpc, gpcs);
        const auto gpc = gpc_of_sms(gpu);
        const auto sms = sms_of_gpcs(gpu);
        CAPTURE(tpcs, gpcs, per_tpc);
        REQUIRE(sms.size() == std::min(gpcs, tpcs));
        const auto [fewest, most] = std::ranges::minmax_element(sms);
        REQUIRE(*fewest >= per_tpc);
        REQUIRE(*most - *fewest <= per_tpc);
        REQUIRE(std::ranges::is_sorted(gpc));
        for (std::uint32_t sm = 0; sm < gpu.sms; ++sm) REQUIRE(gpc[sm] == gpc[sm / per_tpc * per_tpc]);
        for (std::uint32_t g = 0; g < sms.size(); ++g) REQUIRE(std::ranges::count(gpc, g) == sms[g]);
      }
}

TEST_CASE("the last GPC may have fewer SMs, the others share the rest evenly") {
  GpuGroup gpu = gpu_of(26, 2, 4);
  gpu.last_gpc_sms = 4;
  CHECK(sms_of_gpcs(gpu) == std::vector<std::uint32_t>{8, 8, 6, 4});
  gpu.last_gpc_sms = 6;
  CHECK(sms_of_gpcs(gpu) == std::vector<std::uint32_t>{8, 6, 6, 6});
  gpu.gpcs = 1;
  CHECK(sms_of_gpcs(gpu) == std::vector<std::uint32_t>{26});
  CHECK_THROWS_WITH(resolve("a100", {"gpu.last_gpc_sms=5"}),
                    Catch::Contains("the last GPC must have whole TPCs"));
  CHECK_THROWS_WITH(resolve("a100", {"gpu.last_gpc_sms=14"}), Catch::Contains("no more SMs than the others"));
}

TEST_CASE("a GPU without GPCs or TPCs in its configuration has one of each") {
  CHECK(gpc_of_sms(gpu_of(4, 0, 0)) == std::vector<std::uint32_t>{0, 0, 0, 0});
  CHECK(sms_of_gpcs(gpu_of(4, 0, 0)) == std::vector<std::uint32_t>{4});
  CHECK(sms_of_gpcs(gpu_of(5, 2, 9)) == std::vector<std::uint32_t>{2, 2, 1});  // a TPC with one SM of two
}

}  // namespace
}  // namespace lockstep::config
