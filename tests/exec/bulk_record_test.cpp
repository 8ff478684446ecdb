// What is recorded of bulk copies and mbarriers: rows against loops over coordinates, events against a
// pipeline whose events can be counted by hand.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "exec/tensor_map.hpp"
#include "tests/exec/support.hpp"
#include "tests/exec/tensor_bytes.hpp"
#include "trace/bulk_runs.hpp"

namespace lockstep::exec::test {
namespace {

using Bytes = std::map<Address, unsigned>;

struct Record {
  std::uint32_t operation = 0;
  LaneMask mask = 0;
  std::vector<std::uint64_t> words;  // of the lanes, expanded
};

/// The CTA's records of one warp.
std::vector<Record> recorded(Device& device, std::uint32_t threads, const Arguments& arguments,
                             unsigned warp) {
  const CtaRecord record = device.record("run", {1, 1, 1}, {threads, 1, 1}, arguments).front();
  std::vector<Record> out;
  std::size_t word = 0;
  for (const trace::Record& r : record.warps.at(warp).records) {
    Record each{r.inst(), r.mask, {}};
    if (r.form() != trace::AddressForm::kNone) {
      Address lanes[kWarpSize] = {};
      trace::expand_addresses(r.form(), r.mask, record.warps[warp].words.data() + word, lanes);
      each.words.assign(lanes, lanes + kWarpSize);
    }
    word += trace::address_words(r.form(), r.mask);
    out.push_back(each);
  }
  return out;
}

/// Adds the bytes of a bulk copy's record.
void add_bytes(Bytes& bytes, const Record& record) {
  const auto size = static_cast<unsigned>(std::popcount(record.mask));
  trace::each_bulk_run(record.words.data(), size, [&](const trace::BulkRun& run) {
    for (std::uint32_t row = 0; row < run.rows; ++row)
      for (std::uint32_t b = 0; b < run.bytes; ++b)
        ++bytes[run.first + static_cast<Address>(run.stride * row) + b];
  });
}

constexpr const char* kTileKernel = R"(
.visible .entry run(.param .align 64 .b8 map[128], .param .align 4 .b8 at[20], .param .u32 bytes) {{
  .shared .align 1024 .b8 tile[16384];
  .shared .align 8 .b64 full;
  .reg .b32 %r<12>, %c<5>; .reg .b64 %rd<10>;
  ld.param.u32 %r1, [bytes];
{1}
  mov.u32 %r3, tile; mov.u32 %r4, full;
  mov.b64 %rd3, map;
  cvta.param.u64 %rd3, %rd3;
  mbarrier.init.shared::cta.b64 [%r4], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], %r1;
  cp.async.bulk.tensor.{0}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd3, {{{2}}}], [%r4];
  ret;
}})";

}  // namespace

TEST_CASE("a bulk tensor copy's record has the bytes of the box that lie in the tensor, each once") {
  std::mt19937 random(11);
  const auto pick = [&](unsigned from, unsigned to) {
    return from + static_cast<unsigned>(random() % (to - from + 1));
  };
  for (unsigned rank = 1; rank <= 5; ++rank) {
    std::string list, loads;
    for (unsigned d = 0; d < rank; ++d) {
      list += fmt::format("{}%c{}", d ? ", " : "", d);
      loads += fmt::format("  ld.param.u32 %c{0}, [at+{1}];\n", d, 4 * d);
    }
    Device device(fmt::format(kTileKernel, rank, loads, list));
    for (unsigned turn = 0; turn < 20; ++turn) {
      TensorMap m;
      m.type = ptx::Type::kF32;
      m.rank = rank;
      m.stride[0] = 4;
      m.box[0] = 4 * pick(1, 8);
      m.dim[0] = pick(1, 2 * m.box[0]);
      std::uint64_t stride = (m.dim[0] * 4 + 15) / 16 * 16 + 16 * pick(0, 1);
      for (unsigned d = 1; d < rank; ++d) {
        m.stride[d] = stride;
        m.dim[d] = pick(1, 6);
        m.step[d] = pick(1, 2);
        m.box[d] = pick(1, d == 1 ? 6 : 3);
        stride *= m.dim[d];
      }
      m.address = device.zeros<std::uint8_t>(stride);
      REQUIRE(m.valid());
      At at{};
      for (unsigned d = 0; d < rank; ++d) at.c[d] = static_cast<std::int32_t>(random() % (m.dim[d] + 4)) - 3;
      const MapBytes map = packed(m);

      Bytes wanted, got;
      std::array<std::uint32_t, 5> i{};
      const auto next = [&] {  // the next element of the box; false: it was the last
        for (unsigned d = 0; d < rank; ++d) {
          if (++i[d] < m.count(d)) return true;
          i[d] = 0;
        }
        return false;
      };
      do {
        bool inside = true;
        std::uint64_t offset = 0;
        for (unsigned d = 0; d < rank; ++d) {
          const std::int64_t c = at.c[d] + std::int64_t{i[d]} * m.step[d];
          inside &= c >= 0 && c < static_cast<std::int64_t>(m.dim[d]);
          offset += static_cast<std::uint64_t>(c) * m.stride[d];
        }
        for (unsigned b = 0; inside && b < 4; ++b) ++wanted[m.address + offset + b];
      } while (next());

      unsigned told = 0;
      for (const Record& r : recorded(device, 1, Arguments(map, at, m.rows() * m.row_bytes()), 0)) {
        if (r.words.empty() || r.mask == 1) continue;  // the arrival is one lane's
        add_bytes(got, r);
        if (r.words[0] != 0) {
          ++told;
          CHECK(r.words[0] == 1);
          CHECK(r.words[1] == 1);
        }
      }
      CHECK(told == 1);
      CHECK(got == wanted);
      device.memory.release(m.address);
    }
  }
}

// Warp 0 fills two stages in turn, four times; warp 1 waits for them and gives them back.
constexpr const char* kPipeline = R"(
.visible .entry run(.param .u64 in) {
  .shared .align 128 .b8 stage[512];
  .shared .align 8 .b64 full[2];
  .shared .align 8 .b64 empty[2];
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, full; mov.u32 %r3, empty; mov.u32 %r4, stage;
  setp.eq.u32 %p1, %r1, 0;
  @!%p1 bra $READY;
  mbarrier.init.shared.b64 [%r2], 1;   mbarrier.init.shared.b64 [%r2+8], 1;
  mbarrier.init.shared.b64 [%r3], 32;  mbarrier.init.shared.b64 [%r3+8], 32;
$READY:
  bar.sync 0;
  mov.u32 %r5, 0;
$NEXT:
  and.b32 %r6, %r5, 1; shl.b32 %r7, %r6, 3; shr.u32 %r8, %r5, 1; and.b32 %r8, %r8, 1;
  add.u32 %r9, %r2, %r7; add.u32 %r10, %r3, %r7; shl.b32 %r11, %r6, 8; add.u32 %r11, %r11, %r4;
  setp.lt.u32 %p2, %r1, 32;
  @!%p2 bra $CONSUME;
  xor.b32 %r12, %r8, 1;
$EMPTY:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r10], %r12;
  @!%p3 bra $EMPTY;
  @!%p1 bra $DONE;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd1], 256, [%r9];
  bra $DONE;
$CONSUME:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], %r8;
  @!%p3 bra $CONSUME;
  mbarrier.arrive.shared::cta.b64 _, [%r10];
$DONE:
  add.u64 %rd1, %rd1, 256;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p3, %r5, 8;
  @%p3 bra $NEXT;
  ret;
})";

TEST_CASE("each successful wait has the events that completed its phase") {
  Device device(kPipeline);
  const Address in = device.zeros<std::uint8_t>(8 * 256);
  // Of each mbarrier, by the order of first use: events that successful waits of it had, without repetitions.
  std::map<std::uint64_t, std::vector<std::uint64_t>> waits[2];
  for (const unsigned warp : {0u, 1u}) {
    const auto kernel = device.kernel("run");
    for (const Record& r : recorded(device, 64, Arguments(in), warp)) {
      const ptx::Instruction& i = kernel->instruction(r.operation);
      if (!i.has(ptx::Mod::kTryWait) || r.mask == 0) continue;
      const unsigned first = static_cast<unsigned>(std::countr_zero(r.mask));
      const std::uint64_t mbarrier = r.words[first];
      const std::uint64_t events =
          (r.mask & (r.mask - 1)) == 0 ? ~std::uint64_t{0} : r.words[first + 1] - mbarrier;
      waits[warp][mbarrier].push_back(events);
    }
  }
  // No try_wait returned without success. The producer passes an empty stage at once, then after 32
  // arrivals for each round; the consumer after an arrival and a copy for each round.
  std::vector<std::vector<std::uint64_t>> produced, consumed;
  for (const auto& [mbarrier, events] : waits[0]) produced.push_back(events);
  for (const auto& [mbarrier, events] : waits[1]) consumed.push_back(events);
  CHECK(produced == std::vector<std::vector<std::uint64_t>>{{0, 32, 64, 96}, {0, 32, 64, 96}});
  CHECK(consumed == std::vector<std::vector<std::uint64_t>>{{2, 4, 6, 8}, {2, 4, 6, 8}});
}

}  // namespace lockstep::exec::test
