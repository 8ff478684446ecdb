// Launches that are refused before anything runs: limits of "CUDA C++ Programming Guide", technical
// specifications, and those that the kernel itself states. The last allowed value on each side is launched.
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"
#include "util/error.hpp"

namespace lockstep::exec::test {
namespace {

constexpr const char* kKernels = R"(
.visible .entry plain(.param .u32 a, .param .u64 b) { ret; }
.visible .entry most(.param .u32 a, .param .u64 b) .maxntid 8, 4 { ret; }
.visible .entry exact(.param .u32 a, .param .u64 b) .reqntid 16, 2, 2 { ret; }
.visible .entry shared(.param .u32 a, .param .u64 b) {
  .shared .align 4 .b8 cells[1000]; .reg .b32 %r;
  ld.shared.u32 %r, [cells];
  ret;
})";

struct LaunchRow {
  std::string kernel;
  Dim3 grid, block, cluster;
  std::uint32_t dynamic;
  std::string refusal;  // empty: it is launched
};

std::string refusal_of_launch(const LaunchRow& row) {
  Device device(kKernels);
  device.cluster = row.cluster;
  device.options.shared_bytes_limit = 2000;
  const auto executable = device.kernel(row.kernel);
  const Arguments arguments(1u, std::uint64_t{2});
  Launch launch;
  launch.kernel = executable.get();
  launch.grid = row.grid;
  launch.block = row.block;
  launch.cluster = row.cluster;
  launch.dynamic_shared_bytes = row.dynamic;
  launch.parameters = arguments.bytes();
  try {
    const Grid grid(launch, device.memory, device.options);  // only its geometry: nothing runs
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

constexpr Dim3 kOne{1, 1, 1};

}  // namespace

TEST_CASE("launch errors: grids, blocks and clusters have their limits") {
  const std::uint32_t widest = (1u << 31) - 1;
  const LaunchRow rows[] = {
      {"plain", {0, 1, 1}, kOne, kOne, 0, "grid (0,1,1) is not allowed"},
      {"plain", {1, 1, 0}, kOne, kOne, 0, "grid (1,1,0) is not allowed"},
      {"plain", {widest, 1, 1}, kOne, kOne, 0, ""},
      {"plain", {widest + 1, 1, 1}, kOne, kOne, 0, "grid (2147483648,1,1) is not allowed"},
      {"plain", {1, 65535, 65535}, kOne, kOne, 0, ""},
      {"plain", {1, 65536, 1}, kOne, kOne, 0, "grid (1,65536,1) is not allowed"},
      {"plain", {1, 1, 65536}, kOne, kOne, 0, "grid (1,1,65536) is not allowed"},
      {"plain", kOne, {0, 1, 1}, kOne, 0, "block (0,1,1) is not allowed"},
      {"plain", kOne, {1024, 1, 1}, kOne, 0, ""},
      {"plain", kOne, {1, 1024, 1}, kOne, 0, ""},
      {"plain", kOne, {1025, 1, 1}, kOne, 0, "block (1025,1,1) is not allowed"},
      {"plain", kOne, {32, 33, 1}, kOne, 0, "block (32,33,1) is not allowed"},
      {"plain", kOne, {16, 1, 64}, kOne, 0, ""},
      {"plain", kOne, {1, 1, 65}, kOne, 0, "block (1,1,65) is not allowed"},
      {"plain", {4, 4, 2}, kOne, {4, 2, 2}, 0, ""},
      {"plain", {4, 4, 2}, kOne, {4, 4, 2}, 0, "clusters of (4,4,2) CTAs are not allowed"},
      {"plain", {4, 4, 2}, kOne, {3, 1, 1}, 0, "clusters of (3,1,1) CTAs are not allowed"},
      {"plain", {4, 4, 2}, kOne, {1, 3, 1}, 0, "clusters of (1,3,1) CTAs are not allowed"},
      {"plain", {4, 4, 2}, kOne, {0, 1, 1}, 0, "clusters of (0,1,1) CTAs are not allowed"}};
  for (const LaunchRow& row : rows)
    CHECK(refusal_of_launch(row) == (row.refusal.empty() ? "" : "launch of plain: " + row.refusal));
}

TEST_CASE("launch errors: what the kernel says of its block holds") {
  const LaunchRow rows[] = {{"most", kOne, {8, 4, 1}, kOne, 0, ""},
                            {"most", kOne, {32, 1, 1}, kOne, 0, ""},  // the product is the limit
                            {"most", kOne, {1, 1, 32}, kOne, 0, ""},
                            {"most", kOne, {33, 1, 1}, kOne, 0, "33 threads a CTA, .maxntid allows 32"},
                            {"exact", kOne, {16, 2, 2}, kOne, 0, ""},
                            {"exact", kOne, {2, 16, 2}, kOne, 0, "the block is not that of .reqntid"},
                            {"exact", kOne, {16, 2, 1}, kOne, 0, "the block is not that of .reqntid"}};
  for (const LaunchRow& row : rows)
    CHECK(refusal_of_launch(row) ==
          (row.refusal.empty() ? "" : "launch of " + row.kernel + ": " + row.refusal));
}

TEST_CASE("launch errors: shared memory, static and dynamic, is limited") {
  const LaunchRow rows[] = {
      {"plain", kOne, kOne, kOne, 2000, ""},
      {"plain", kOne, kOne, kOne, 2001, "launch of plain: 2001 bytes of shared memory a CTA, 2000 allowed"},
      {"shared", kOne, kOne, kOne, 0, ""},
      // The dynamic part begins at a multiple of 16: 1000 rounded up to 1008.
      {"shared", kOne, kOne, kOne, 992, ""},
      {"shared", kOne, kOne, kOne, 993, "launch of shared: 2001 bytes of shared memory a CTA, 2000 allowed"}};
  for (const LaunchRow& row : rows) CHECK(refusal_of_launch(row) == row.refusal);
}

TEST_CASE("launch errors: parameters that are too few") {
  Device device(kKernels);
  CHECK_THROWS_WITH(device.run("plain", kOne, kOne, Arguments(1u)),
                    "launch of plain: 4 bytes of parameters are given, 16 expected");
  CHECK_THROWS_WITH(device.run("plain", kOne, kOne, Arguments()),
                    "launch of plain: 0 bytes of parameters are given, 16 expected");
  CHECK_NOTHROW(device.run("plain", kOne, kOne, Arguments(1u, std::uint64_t{2}, 3u)));
}

}  // namespace lockstep::exec::test
