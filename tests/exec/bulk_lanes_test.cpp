// How many copies a warp starts with one bulk instruction: what the code that ptxas makes does.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <numeric>

#include "exec/tensor_map.hpp"
#include "tests/exec/support.hpp"
#include "tests/exec/tensor_bytes.hpp"
#include "trace/bulk_runs.hpp"

namespace lockstep::exec::test {
namespace {

/// A warp writes 1 to 32 to shared memory and starts `copy`. %rd1: `to` plus `step` for every second lane;
/// %r6: likewise `step` / 4 or 0.
std::string warp_stores(const char* copy) {
  return fmt::format(R"(
.visible .entry run(.param .align 64 .b8 map[128], .param .u64 to, .param .u32 step) {{
  .shared .align 128 .b8 tile[128];
  .reg .b32 %r<9>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [step];
  mov.b64 %rd3, map;
  cvta.param.u64 %rd3, %rd3;
  mov.u32 %r2, %tid.x; mov.u32 %r3, tile;
  shl.b32 %r4, %r2, 2; add.u32 %r4, %r4, %r3; add.u32 %r5, %r2, 1;
  st.shared.u32 [%r4], %r5;
  bar.sync 0;
  and.b32 %r6, %r2, 1; mul.lo.u32 %r6, %r6, %r1;
  cvt.u64.u32 %rd2, %r6; add.u64 %rd1, %rd1, %rd2;
  shr.u32 %r6, %r6, 2;
  {};
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}})",
                     copy);
}

struct Stored {
  std::vector<std::uint32_t> values;           // in memory afterwards
  std::map<std::uint64_t, unsigned> recorded;  // first bytes of rows, from `to`: how often
};

Stored store(const char* copy, std::uint32_t step) {
  Device device(warp_stores(copy));
  const Address to = device.zeros<std::uint32_t>(64);
  TensorMap map;
  map.type = ptx::Type::kU32;
  map.stride[0] = 4;
  map.dim[0] = 64;
  map.box[0] = 32;
  map.address = to;
  REQUIRE(map.valid());
  const CtaRecord cta = device.record("run", {1, 1, 1}, {32, 1, 1}, Arguments(packed(map), to, step)).front();
  Stored out{device.read<std::uint32_t>(to, 64), {}};
  const auto& warp = cta.warps.front();
  std::size_t word = 0;
  for (const trace::Record& r : warp.records) {
    Address lanes[kWarpSize] = {};
    if (r.form() != trace::AddressForm::kNone)
      trace::expand_addresses(r.form(), r.mask, warp.words.data() + word, lanes);
    word += trace::address_words(r.form(), r.mask);
    if (r.mask != 0xf) continue;  // a bulk copy of one row has four words
    trace::each_bulk_run(lanes, 4, [&](const trace::BulkRun& run) {
      CHECK(std::pair(run.bytes, run.rows) == std::pair(128u, 1u));
      ++out.recorded[run.first - to];
    });
  }
  return out;
}

constexpr const char* kStore = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 128";
constexpr const char* kTensorStore =
    "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd3, {%r6}], [%r3]";
constexpr const char* kReduction =
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r3], 128";
constexpr const char* kTensorReduction =
    "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd3, {%r6}], [%r3]";

}  // namespace

TEST_CASE("a warp's bulk store is one copy for all lanes with the same operands") {
  std::vector<std::uint32_t> tile(32), twice;
  std::iota(tile.begin(), tile.end(), 1u);
  twice = tile;
  twice.insert(twice.end(), tile.begin(), tile.end());
  tile.resize(64);
  for (const char* copy : {kStore, kTensorStore}) {
    INFO(copy);
    const Stored same = store(copy, 0), two = store(copy, 128);
    CHECK(same.values == tile);
    CHECK(same.recorded == std::map<std::uint64_t, unsigned>{{0, 1}});
    CHECK(two.values == twice);
    CHECK(two.recorded == std::map<std::uint64_t, unsigned>{{0, 1}, {128, 1}});
  }
}

TEST_CASE("a warp's bulk reduction is one copy for each lane") {
  std::vector<std::uint32_t> sums(64);
  for (std::uint32_t i = 0; i < 32; ++i) sums[i] = 32 * (i + 1);
  for (const char* copy : {kReduction, kTensorReduction}) {
    INFO(copy);
    const Stored same = store(copy, 0);
    CHECK(same.values == sums);
    CHECK(same.recorded == std::map<std::uint64_t, unsigned>{{0, 32}});
  }
}

}  // namespace lockstep::exec::test
