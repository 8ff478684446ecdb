// Runs of rows against the rows that were put in, and what opcodes say of them.
#include "trace/bulk_runs.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "trace/traced_instruction.hpp"

namespace lockstep::trace {
namespace {

using MoveCounts = std::map<Address, unsigned>;  // how often each is moved

void count(MoveCounts& bytes, Address row, std::uint64_t length) {
  for (std::uint64_t b = 0; b < length; ++b) ++bytes[row + b];
}

}  // namespace

TEST_CASE("runs move the bytes of the rows that were put in, each as often", "[long]") {
  std::mt19937 random(7);
  for (int turn = 0; turn < 200; ++turn) {
    BulkRuns runs;
    MoveCounts wanted, got;
    const Address base = 0x7f0000000000 + random() % 4096;
    const std::uint64_t length = random() % 300;
    const std::int64_t stride = static_cast<std::int64_t>(random() % 1024) - 512;
    Address row = base;
    for (unsigned r = 0; r < random() % 20; ++r) {
      const std::uint64_t bytes = random() % 8 == 0 ? random() % 70000 : length;
      count(wanted, row, bytes);
      runs.add(row, bytes);
      row += static_cast<Address>(random() % 8 == 0 ? 77 : stride);
    }
    for (const BulkRun& run : runs.runs()) {
      const BulkRun back = unpack(pack(run));
      REQUIRE(back == run);
      for (std::uint32_t i = 0; i < back.rows; ++i)
        count(got, back.first + static_cast<Address>(back.stride * i), back.bytes);
    }
    REQUIRE(got == wanted);
  }
}

TEST_CASE("a tile is one run, a copy of one row at most two, neighbouring rows one row") {
  BulkRuns tile, line, dense;
  for (unsigned r = 0; r < 64; ++r) tile.add(0x1000 + 512 * r, 128);
  CHECK(tile.runs() == std::vector<BulkRun>{{0x1000, 128, 64, 512}});
  line.add(0x1000, 100000);
  CHECK(line.runs() == std::vector<BulkRun>{{0x1000, 32768, 3, 32768}, {0x1000 + 98304, 1696, 1, 0}});
  BulkRuns large;  // runs of at most 256 KiB
  large.add(0x1000, 400000);
  CHECK(large.runs() == std::vector<BulkRun>{{0x1000, 32768, 8, 32768},
                                             {0x1000 + 262144, 32768, 4, 32768},
                                             {0x1000 + 393216, 6784, 1, 0}});
  for (unsigned r = 0; r < 8; ++r) dense.add(0x1000 + 64 * r, 64);
  CHECK(dense.runs() == std::vector<BulkRun>{{0x1000, 512, 1, 0}});
}

TEST_CASE("opcodes of recorded programs say what bulk copies and mbarriers do; those of NVBit do not") {
  const auto decode = [](const char* text) { return decode_traced({0, text, 0}, 90); };
  CHECK(decode("0 UTMALDG.RUNS 0 8").bulk == BulkCopy::kLoad);
  CHECK(decode("0 UBLKCP.S.G.RUNS 0 8").bulk == BulkCopy::kLoad);
  CHECK(decode("0 UBLKRED.S.G.RUNS 0 8").bulk == BulkCopy::kLoad);
  CHECK(decode("0 UTMAPF.RUNS 0 8").bulk == BulkCopy::kPrefetch);
  CHECK(decode("0 UBLKPF.RUNS 0 8").bulk == BulkCopy::kPrefetch);
  CHECK(decode("0 UTMASTG.RUNS 0 8").bulk == BulkCopy::kStore);
  CHECK(decode("0 UBLKCP.G.S.RUNS 0 8").bulk == BulkCopy::kStore);
  CHECK(decode("0 UTMAREDG.RUNS 0 8").bulk == BulkCopy::kReduction);
  CHECK(decode("0 UBLKRED.G.S.RUNS 0 8").bulk == BulkCopy::kReduction);
  CHECK(decode("1 R1 SYNCS.ARRIVE.TRANS64.EVENTS 1 R2 8").barrier == BarrierOp::kArrive);
  CHECK(decode("0 SYNCS.PHASECHK.TRANS64.TRYWAIT.EVENTS 1 R2 8").barrier == BarrierOp::kSync);
  for (const char* text : {"0 UTMALDG.2D 0 0", "0 UBLKCP.S.G 0 0", "0 UTMALDG.2D 0 8"}) {
    const StaticInst inst = decode(text);
    CHECK(inst.bulk == BulkCopy::kNone);
    CHECK(remark_for(inst) != nullptr);
  }
  const StaticInst traced = decode("0 SYNCS.PHASECHK.TRANS64.TRYWAIT 1 R2 8");
  CHECK(traced.barrier == BarrierOp::kNone);
  CHECK(remark_for(traced) != nullptr);
  CHECK(remark_for(decode("0 UTMALDG.RUNS 0 8")) == nullptr);
  CHECK(remark_for(decode("0 SYNCS.PHASECHK.TRANS64.TRYWAIT.EVENTS 1 R2 8")) == nullptr);
  CHECK(remark_for(decode("0 SYNCS.EXCH.64 1 R2 0")) == nullptr);
}

TEST_CASE("prefetches with addresses are loads of lines; those of NVBit's traces are not") {
  const auto decode = [](const char* text) { return decode_traced({0, text, 0}, 90); };
  for (const auto& [text, to_l2] :
       {std::pair{"0 CCTL.E.PF1 1 R2 4", false}, std::pair{"0 CCTL.E.PF2 1 R2 4", true}}) {
    const StaticInst inst = decode(text);
    CHECK(inst.prefetch);
    CHECK(inst.op_class == OpClass::kLoad);
    CHECK(inst.space == MemSpace::kGlobal);
    CHECK(inst.bypass_l1 == to_l2);
    CHECK(inst.access_bytes == 128);
    CHECK(inst.destinations.size == 0);
  }
  for (const char* text : {"0 CCTL.E.PF2 1 R2 0", "0 CCTL.IVALL 0 0", "0 CCTL.E.IV 1 R2 4"})
    CHECK_FALSE(decode(text).prefetch);
}

TEST_CASE("textures and surfaces without addresses are said to move no data") {
  const auto decode = [](const char* text) { return decode_traced({0, text, 0}, 90); };
  CHECK(remark_for(decode("1 R4 TEX.LL 2 R8 R9 0")) != nullptr);
  CHECK(remark_for(decode("1 R4 TLD4 2 R8 R9 0")) != nullptr);
  CHECK(remark_for(decode("1 R4 TEX 2 R8 R9 4")) == nullptr);
  CHECK(remark_for(decode("1 R4 TXQ 1 R8 0")) == nullptr);
  CHECK(remark_for(decode("0 SUST 2 R8 R9 0")) != nullptr);
  CHECK(remark_for(decode("1 R4 SUQ 1 R8 0")) == nullptr);
}

}  // namespace lockstep::trace
