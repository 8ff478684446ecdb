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
std::vector<Record> recorded(Device& device, std::uint32_t threads, const Arguments& arguments, unsigned warp,
                             const char* name = "run") {
  const CtaRecord record = device.record(name, {1, 1, 1}, {threads, 1, 1}, arguments).front();
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
}}
.visible .entry ahead(.param .align 64 .b8 map[128], .param .align 4 .b8 at[20]) {{
  .reg .b32 %c<5>; .reg .b64 %rd<4>;
{1}
  mov.b64 %rd3, map;
  cvta.param.u64 %rd3, %rd3;
  cp.async.bulk.prefetch.tensor.{0}d.L2.global.tile [%rd3, {{{2}}}];
  ret;
}})";

constexpr const char* kLinearPrefetch = R"(
.visible .entry run(.param .u64 at, .param .u32 bytes) {
  .reg .b32 %r1; .reg .b64 %rd1;
  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [bytes];
  cp.async.bulk.prefetch.L2.global [%rd1], %r1;
  ret;
})";

/// The bytes that the only warp's records name; no mbarrier is signalled.
Bytes prefetched(Device& device, const Arguments& arguments, const char* name = "run") {
  Bytes bytes;
  for (const Record& r : recorded(device, 1, arguments, 0, name)) {
    if (r.words.empty() || r.mask == 1) continue;  // others are of one lane
    CHECK(r.words[0] == 0);
    CHECK(r.words[1] == 0);
    add_bytes(bytes, r);
  }
  return bytes;
}

}  // namespace

TEST_CASE("records of tensor copies and prefetches have the bytes of the box in the tensor, each once") {
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
      CHECK(prefetched(device, Arguments(map, at), "ahead") == wanted);
      device.memory.release(m.address);
    }
  }
}

TEST_CASE("a bulk prefetch's record has its bytes, however many, and none that are not there") {
  Device device(kLinearPrefetch);
  constexpr std::uint64_t kLong = 300 * 1024;  // more than a CTA's shared memory
  const Address in = device.zeros<std::uint8_t>(kLong);
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{16}, std::uint64_t{4112}, kLong}) {
    const Bytes got = prefetched(device, Arguments(in, static_cast<std::uint32_t>(bytes)));
    CHECK(got.size() == bytes);
    for (const auto& [address, times] : got) {
      if (address < in || address >= in + bytes || times != 1) FAIL("byte " << address - in);
    }
  }
  CHECK(prefetched(device, Arguments(Address{1} << 40, 4096u)).empty());
  for (const auto& [at, bytes] : {std::pair{in + 8, 16u}, {in, 8u}}) {
    const Arguments arguments(at, bytes);
    CHECK_THROWS_WITH(device.record("run", {1, 1, 1}, {1, 1, 1}, arguments),
                      Catch::Contains("multiples of 16"));
  }
}

TEST_CASE("a prefetch's record has the lines of the lanes whose address is one of global memory") {
  Device device(R"(
.visible .entry run(.param .u64 in, .param .u64 far) {
  .shared .align 8 .b32 cell;
  .reg .pred %p<4>; .reg .b32 %r<3>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [far];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 200; add.u64 %rd1, %rd1, %rd3;
  setp.eq.u32 %p1, %r1, 3; setp.eq.u32 %p2, %r1, 5; setp.ne.u32 %p3, %r1, 7;
  mov.u32 %r2, cell; cvt.u64.u32 %rd4, %r2; cvta.shared.u64 %rd4, %rd4;
  @%p1 mov.u64 %rd1, %rd2;
  @%p2 mov.u64 %rd1, %rd4;
  @%p3 prefetch.L2 [%rd1];
  ret;
})");
  const Address in = device.zeros<std::uint8_t>(32 * 200);
  std::map<unsigned, Address> wanted, got;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (lane != 3 && lane != 5 && lane != 7) wanted[lane] = (in + 200 * lane) / 128 * 128;
  const auto kernel = device.kernel("run");
  for (const Record& r : recorded(device, 32, Arguments(in, Address{1} << 40), 0)) {
    if (kernel->instruction(r.operation).op() != ptx::Opcode::kPrefetch) continue;
    for (unsigned lane = 0; lane < 32; ++lane)
      if (r.mask >> lane & 1) got[lane] = r.words.at(lane);
  }
  CHECK(got == wanted);
}

TEST_CASE("an im2col prefetch's record has the pixels that its taps read inside the image") {
  Device device(R"(
.visible .entry run(.param .align 64 .b8 map[128]) {
  .reg .b16 %h<3>; .reg .b32 %r1, %r2; .reg .b64 %rd1;
  mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1;
  mov.b16 %h1, 1; mov.b16 %h2, 2; mov.b32 %r1, -1; mov.b32 %r2, 0;
  cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%rd1, {%r2, %r1, %r1, %r2}], {%h1, %h2};
  ret;
})");
  constexpr unsigned kChannels = 8, kW = 5, kH = 4, kImages = 2, kPixelBytes = 4 * kChannels, kTaken = 23;
  TensorMap m;
  m.type = ptx::Type::kF32;
  m.rank = 4;
  m.dim = {kChannels, kW, kH, kImages, 1};
  m.stride = {4, kPixelBytes, kW * kPixelBytes, kH * kW * kPixelBytes};
  m.box[0] = kChannels;
  m.pixels = kTaken;
  m.lower = {0, -1, -1};
  m.upper = {0, -1, -1};
  m.address = device.zeros<std::uint8_t>(kImages * m.stride[3]);
  Bytes wanted;
  for (unsigned position = 0; position < kTaken; ++position) {
    const unsigned w = position % kW, h = position / kW % kH + 1, n = position / (kW * kH);  // with the taps
    for (unsigned b = 0; h < kH && b < kPixelBytes; ++b)
      ++wanted[m.address + n * m.stride[3] + h * m.stride[2] + w * m.stride[1] + b];
  }
  CHECK(prefetched(device, Arguments(packed(m))) == wanted);
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
