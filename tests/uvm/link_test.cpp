// Times on the host link against published logs and measured points.
#include "uvm/link.hpp"

#include <catch2/catch.hpp>

#include "support.hpp"

namespace lockstep::uvm {
namespace {

constexpr LinkParameters kGtx1080{1481000, 16};

double gib_per_second(const LinkModel& model, std::uint64_t bytes, Direction d = Direction::kToDevice) {
  const LinkParameters fine{1000000000, 16};  // a cycle is a picosecond
  return static_cast<double>(bytes) / 1073741824.0 /
         (static_cast<double>(model.cycles(bytes, d, fine)) * 1e-12);
}

double microseconds(const LinkModel& model, std::uint64_t kib, Direction d = Direction::kToDevice) {
  return static_cast<double>(model.cycles(kib * 1024, d, {1000000000, 16})) * 1e-6;
}

TEST_CASE("the arctangent curve gives the cycles of the published logs") {
  const LinkTimes link(kArctanLink, kGtx1080);
  const nlohmann::json cycles = golden().at("arctan");
  REQUIRE(cycles.size() == 44);
  for (const auto& [kib, expected] : cycles.items()) {
    INFO(kib << " KB");
    const auto pages = static_cast<unsigned>(std::stoul(kib)) / 4;
    CHECK(link.cycles(Direction::kToDevice, pages) == expected.get<Cycle>());
    CHECK(link.cycles(Direction::kToHost, pages) == expected.get<Cycle>());
  }
  const unsigned pages[] = {1, 4, 16, 64, 256};
  const Cycle at32[] = {1302, 1715, 4351, 15596, 60780}, at64[] = {651, 857, 2175, 7798, 30390};
  const LinkTimes link32(kArctanLink, {1481000, 32}), link64(kArctanLink, {1481000, 64});
  for (unsigned i = 0; i < 5; ++i) {
    CHECK(link32.cycles(Direction::kToDevice, pages[i]) == at32[i]);
    CHECK(link64.cycles(Direction::kToDevice, pages[i]) == at64[i]);
  }
}

TEST_CASE("explicit copies and synchronisation as UVMSmart charges them") {
  const LinkTimes link(kArctanLink, kGtx1080);
  CHECK(smart_copy_cycles(link, Direction::kToDevice, 2 << 20) == 484160);
  CHECK(smart_copy_cycles(link, Direction::kToDevice, (2 << 20) - 4096) == 241609);
  CHECK(synchronise_cycles(link, 0) == 0);
  CHECK(synchronise_cycles(link, 64 << 10) == 10845);
  CHECK(synchronise_cycles(link, 128 << 10) == 21690);
  CHECK(synchronise_cycles(link, 2 << 20) == 260453);
}

TEST_CASE("the table hits its points and predicts those between them") {
  for (const auto& [kib, expected] :
       {std::pair{4u, 3.2219}, {16u, 6.4437}, {64u, 8.4771}, {256u, 10.508}, {1024u, 11.223}})
    CHECK(gib_per_second(kTableLink, kib * 1024) == Approx(expected).epsilon(1e-4));
  for (const auto& [kib, expected] : {std::pair{8u, 4.833},
                                      {32u, 7.670},
                                      {128u, 9.731},
                                      {512u, 10.974},
                                      {60u, 8.418},
                                      {252u, 10.495},
                                      {1020u, 11.222}})
    CHECK(gib_per_second(kTableLink, kib * 1024) == Approx(expected).epsilon(1e-3));
  // Measured beside the five: 8, 32, 128, 512 KB.
  for (const auto& [kib, measured] : {std::pair{8u, 4.8657}, {32u, 7.689}, {128u, 9.6323}, {512u, 10.993}})
    CHECK(gib_per_second(kTableLink, kib * 1024) == Approx(measured).epsilon(0.0105));
  CHECK(microseconds(kTableLink, 60) == Approx(6.797).epsilon(1e-3));
  CHECK(kTableLink.cycles(1, Direction::kToDevice, kGtx1080) ==
        kTableLink.cycles(4096, Direction::kToDevice, kGtx1080));
  CHECK(gib_per_second(kTableLink, std::uint64_t{1} << 33) == Approx(11.223).epsilon(1e-4));
}

TEST_CASE("the affine fit meets the migrations that nvprof shows") {
  for (const auto& [kib, us] : {std::pair{4u, 1.76},
                                {60u, 5.76},
                                {64u, 6.08},
                                {124u, 11.2},
                                {252u, 21.75},
                                {508u, 43.25},
                                {1020u, 86.4}})
    CHECK(microseconds(kAffineLink, kib) == Approx(us).epsilon(0.007));
  for (const auto& [kib, us] : {std::pair{4u, 1.15}, {60u, 5.31}, {64u, 5.65}})
    CHECK(microseconds(kAffineLink, kib, Direction::kToHost) == Approx(us).epsilon(0.02));
}

TEST_CASE("today's links reach their bandwidth with large transfers") {
  const std::uint64_t large = std::uint64_t{1} << 32;
  const double gb = 1e9 / 1073741824.0;
  CHECK(gib_per_second(kPcie3Link, large) == Approx(12.35 * gb).epsilon(1e-4));
  CHECK(gib_per_second(kPcie4Link, large) == Approx(24.7 * gb).epsilon(1e-4));
  CHECK(gib_per_second(kPcie5Link, large) == Approx(49.4 * gb).epsilon(1e-4));
  CHECK(gib_per_second(kC2cLink, large) == Approx(375 * gb).epsilon(1e-3));
  CHECK(gib_per_second(kC2cLink, large, Direction::kToHost) == Approx(297 * gb).epsilon(1e-3));
}

TEST_CASE("picoseconds become cycles exactly, rounded up") {
  CHECK(cycles_of_ps(0, kGtx1080) == 0);
  CHECK(cycles_of_ps(1, kGtx1080) == 1);
  CHECK(cycles_of_ps(1000000000, kGtx1080) == 1481000);
  CHECK(cycles_of_ps(45000000, kGtx1080) == 66645);  // 45 us: UVMSmart's far fault
  CHECK(cycles_of_ps(1000000001, kGtx1080) == 1481001);
}

}  // namespace
}  // namespace lockstep::uvm
