// Static instructions as the issue stage reads them: by hand, with published rates.
#include "core/issue_table.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace lockstep::core {
namespace {

using trace::OpClass;
using trace::RegSpace;
using trace::TensorType;

trace::StaticInst named(const std::string& mnemonic, OpClass op_class) {
  trace::StaticInst inst;
  inst.op_class = op_class;
  std::copy(mnemonic.begin(), mnemonic.end(), inst.mnemonic.begin());
  return inst;
}

IssueInst resolved(const config::GpuConfig& config, const std::vector<trace::StaticInst>& instructions) {
  trace::StaticTable table;
  for (const auto& inst : instructions) (void)table.push(inst);
  IssueTable issue(config);
  issue.extend(table);
  return issue[issue.size() - 1];
}

config::PipeSpec& pipe(config::GpuConfig& config, OpClass c) { return config.pipe[static_cast<unsigned>(c)]; }

/// Cycles for which a tensor unit is busy.
unsigned tensor_cycles(const config::GpuConfig& config, TensorType type, std::uint32_t macs,
                       OpClass op_class = OpClass::kTensor, bool sparse = false) {
  trace::StaticInst inst = named("HMMA", op_class);
  inst.tensor_type = type;
  inst.macs = macs;
  inst.tensor_sparse = sparse;
  return resolved(config, {inst}).interval;
}

TEST_CASE("issue table: a tensor unit is busy for the work over its published rate") {
  config::GpuConfig c;
  // V100: 8 tensor cores an SM of 64 FMA a clock, two a sub-core: m8n8k4 of a warp is 4 * 256.
  c.tensor.f16 = c.tensor.f16_f32 = 128;
  CHECK(tensor_cycles(c, TensorType::kF16F32, 4 * 8 * 8 * 4) == 8);
  // A100: a sub-core's tensor core does 256 FP16 FMA a clock (whitepaper, table 1), twice that sparse.
  c.tensor.f16 = c.tensor.f16_f32 = c.tensor.bf16 = 256;
  c.tensor.tf32 = 128;
  c.tensor.f64 = 16;
  c.tensor.int8 = 512;
  c.tensor.int4 = 1024;
  c.tensor.binary = 4096;
  c.tensor.sparse_factor = 2;
  CHECK(tensor_cycles(c, TensorType::kF16F32, 16 * 8 * 16) == 8);
  CHECK(tensor_cycles(c, TensorType::kBf16, 16 * 8 * 16) == 8);
  CHECK(tensor_cycles(c, TensorType::kTf32, 16 * 8 * 8) == 8);
  CHECK(tensor_cycles(c, TensorType::kF64, 8 * 8 * 4) == 16);
  CHECK(tensor_cycles(c, TensorType::kInt8, 16 * 8 * 32) == 8);
  CHECK(tensor_cycles(c, TensorType::kInt4, 16 * 8 * 64) == 8);
  CHECK(tensor_cycles(c, TensorType::kBinary, 16 * 8 * 256) == 8);
  CHECK(tensor_cycles(c, TensorType::kF16, 16 * 8 * 32, OpClass::kTensor, true) == 8);
  // H100: wgmma m64n256k16 takes 128 cycles (Luo et al. 2024, "Benchmarking and Dissecting the NVIDIA Hopper
  // GPU Architecture via Microbenchmarking").
  c.tensor.f16 = c.tensor.f16_f32 = 512;
  c.tensor.fp8 = 1024;
  CHECK(tensor_cycles(c, TensorType::kF16, 64 * 256 * 16, OpClass::kWarpgroupMma) == 128);
  CHECK(tensor_cycles(c, TensorType::kFp8, 64 * 256 * 32, OpClass::kWarpgroupMma) == 128);
}

TEST_CASE("issue table: a type without a rate runs at that of f16, part of a cycle counts, latency follows") {
  config::GpuConfig c;
  c.tensor.f16 = 100;
  c.tensor.fp8 = 0;
  pipe(c, OpClass::kTensor).latency = 30;
  CHECK(tensor_cycles(c, TensorType::kFp8, 201) == 3);
  CHECK(tensor_cycles(c, TensorType::kFp8, 0) == 1);
  trace::StaticInst inst = named("QMMA", OpClass::kTensor);
  inst.tensor_type = TensorType::kFp8;
  inst.macs = 700;
  CHECK(resolved(c, {inst}).latency == 30 + 7 - 1);
  inst.macs = ~0u;  // of a trace that is not to be trusted
  c.tensor.f16 = 1;
  CHECK(resolved(c, {inst}).latency == 0xffff);
}

TEST_CASE("issue table: registers have scoreboard entries in the order in which they first occur") {
  config::GpuConfig c;
  trace::StaticInst a = named("FFMA", OpClass::kFp32), b = a;
  a.destinations.push({RegSpace::kVector, 8, 1, 0});
  a.sources.push({RegSpace::kVector, 4, 2, 0});
  a.sources.push({RegSpace::kUniform, 4, 1, 1});
  b.destinations.push({RegSpace::kPredicate, 4, 1, 0});
  b.destinations.push({RegSpace::kUniformPredicate, 4, 1, 0});
  b.sources.push({RegSpace::kVector, 5, 1, 0});
  b.sources.push({RegSpace::kVector, 8, 4, 1});
  trace::StaticTable table;
  (void)table.push(a);
  IssueTable issue(c);
  issue.extend(table);
  const IssueInst* first = &issue[0];
  (void)table.push(b);
  issue.extend(table);
  REQUIRE(issue.size() == 2);
  CHECK(&issue[0] == first);
  const auto all = [](const IssueInst& i) {
    return std::vector<std::uint16_t>(i.registers, i.registers + i.destinations + i.sources);
  };
  CHECK(all(issue[0]) == std::vector<std::uint16_t>{1, 2, 3, 4});           // R8, R4, R5, UR4
  CHECK(all(issue[1]) == std::vector<std::uint16_t>{5, 6, 3, 1, 7, 8, 9});  // P4, UP4, R5, R8 to R11
  CHECK((issue[0].destinations == 1 && issue[0].sources == 3));
  CHECK((issue[1].destinations == 2 && issue[1].sources == 5));
  CHECK(issue[0].first_registers == std::array<std::uint16_t, 4>{1, 2, 3, 4});
  CHECK(issue[1].first_registers == std::array<std::uint16_t, 4>{5, 6, 3, 1});
  CHECK(issue.scoreboard_entries() == 10);  // with the one of no register
  CHECK(resolved(c, {named("NOP", OpClass::kNop)}).first_registers == std::array<std::uint16_t, 4>{});
}

/// An instruction at `pc` that reads these registers, by operand.
trace::StaticInst reader(std::uint32_t pc, const std::vector<unsigned>& registers, unsigned wide = 1) {
  trace::StaticInst inst = named("IADD3", OpClass::kAlu);
  inst.pc = pc;
  std::uint8_t position = 0;
  for (const unsigned r : registers)
    inst.sources.push(
        {RegSpace::kVector, static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(wide), position++});
  return inst;
}

TEST_CASE("issue table: reads by bank, without those that the register-file cache has") {
  config::GpuConfig c;
  c.rf.banks = 2;
  c.rf.read_ports = 1;
  c.rf.cache = true;
  using Banks = std::array<std::uint8_t, 2>;
  const IssueInst same = resolved(c, {reader(0, {2, 6, 9}), reader(16, {2, 4, 9})});
  CHECK(same.reads.count == 3);
  CHECK(same.reads.bank_cycles == Banks{2, 1});
  CHECK(same.reads_reused.count == 1);
  CHECK(same.reads_reused.bank_cycles == Banks{1, 0});
  CHECK(same.reused == 2);
  // The cache is by operand position, of the instruction just before.
  CHECK(resolved(c, {reader(0, {2, 6}), reader(16, {6, 2})}).reused == 0);
  CHECK(resolved(c, {reader(0, {2, 6}), reader(32, {2, 6})}).reused == 0);
  CHECK(resolved(c, {reader(0, {2}), reader(16, {3}), reader(32, {2})}).reused == 0);
  // A pair of registers is one in each bank; two ports take two reads of a bank at once.
  CHECK(resolved(c, {reader(0, {2, 4, 6}, 2)}).reads.bank_cycles == Banks{3, 3});
  c.rf.read_ports = 2;
  CHECK(resolved(c, {reader(0, {2, 4, 6}, 2)}).reads.bank_cycles == Banks{2, 2});
  c.rf.banks = 1;
  CHECK(resolved(c, {reader(0, {2, 4, 7})}).reads.bank_cycles == Banks{2, 0});
  c.rf.cache = false;
  CHECK(resolved(c, {reader(0, {2}), reader(16, {2})}).reused == 0);
  trace::StaticInst uniform = named("UIADD3", OpClass::kUniform);
  uniform.sources.push({RegSpace::kUniform, 2, 1, 0});
  CHECK(resolved(c, {uniform}).reads.count == 0);
}

TEST_CASE("issue table: the sums of a warpgroup's products are read beside what else the ports do") {
  config::GpuConfig c;
  trace::StaticInst product = reader(0, {8, 10, 12});
  CHECK(resolved(c, {product}).reads.bank_cycles[0] == 3);
  product.op_class = OpClass::kWarpgroupMma;
  const IssueInst inst = resolved(c, {product});
  CHECK(inst.reads.bank_cycles == std::array<std::uint8_t, 2>{});
  CHECK(inst.reads.count == 3);
  CHECK(inst.kind == IssueKind::kProduct);
}

TEST_CASE("issue table: the window in which operands are read is as long as the unit is busy") {
  config::GpuConfig c;
  c.rf.read_window = 3;
  for (const std::uint32_t interval : {1u, 2u, 3u, 8u}) {
    pipe(c, OpClass::kAlu).interval = interval;
    CHECK(resolved(c, {reader(0, {2})}).read_window == std::max(3u, interval));
  }
}

TEST_CASE("issue table: what leaves the sub-core needs its port for a cycle and sees results later") {
  config::GpuConfig c;
  c.mio.operand_delay = 4;
  for (const OpClass op : {OpClass::kLoad, OpClass::kStore, OpClass::kAtomic, OpClass::kReduction,
                           OpClass::kAsyncCopy, OpClass::kBulkCopy, OpClass::kMbarrier, OpClass::kTexture,
                           OpClass::kSurface, OpClass::kShuffle, OpClass::kSpecialReg, OpClass::kConstLoad}) {
    pipe(c, op).interval = 9;
    const IssueInst inst = resolved(c, {named("X", op)});
    CHECK(inst.kind == IssueKind::kMio);
    CHECK(inst.units == config::unit_bit(config::Unit::kMio));
    CHECK(inst.interval == 1);
    CHECK(inst.operand_delay == 4);
    const bool memory = op != OpClass::kTexture && op != OpClass::kSurface && op != OpClass::kShuffle &&
                        op != OpClass::kSpecialReg && op != OpClass::kConstLoad;
    CHECK(inst.needs_addresses == memory);
    CHECK(inst.long_result == (op == OpClass::kTexture || op == OpClass::kSurface));
  }
  const IssueInst fixed = resolved(c, {named("FFMA", OpClass::kFp32)});
  CHECK(fixed.kind == IssueKind::kFixed);
  CHECK(fixed.operand_delay == 0);
  CHECK_FALSE(fixed.needs_addresses);
  trace::StaticInst load = named("LDS", OpClass::kLoad);
  for (const auto& [space, from_memory] : {std::pair{trace::MemSpace::kShared, false},
                                           {trace::MemSpace::kGlobal, true},
                                           {trace::MemSpace::kLocal, true},
                                           {trace::MemSpace::kGeneric, true}}) {
    load.space = space;
    CHECK(resolved(c, {load}).long_result == from_memory);
  }
}

TEST_CASE("issue table: instructions that the opcode alone singles out") {
  config::GpuConfig c;
  const auto get = [&](const char* mnemonic, OpClass op) { return resolved(c, {named(mnemonic, op)}); };
  CHECK(get("CS2R", OpClass::kAlu).kind == IssueKind::kClock);
  CHECK(get("LDGDEPBAR", OpClass::kDepBar).closes_group);
  CHECK(get("UTMACMDFLUSH", OpClass::kDepBar).closes_group);
  CHECK_FALSE(get("DEPBAR", OpClass::kDepBar).closes_group);
  CHECK(get("DEPBAR", OpClass::kDepBar).kind == IssueKind::kDepBar);
  CHECK(get("WARPGROUP", OpClass::kDepBar).kind == IssueKind::kProductWait);
  CHECK(get("WARPGROUP", OpClass::kNop).kind == IssueKind::kFixed);
  CHECK(get("UCGABAR_ARV", OpClass::kBarrier).barrier == trace::BarrierOp::kArrive);
  CHECK(get("UCGABAR_WAIT", OpClass::kBarrier).barrier == trace::BarrierOp::kSync);
  CHECK(get("UCGABAR_WAIT", OpClass::kBarrier).kind == IssueKind::kClusterBarrier);
  CHECK(get("BAR", OpClass::kBarrier).kind == IssueKind::kBarrier);
  CHECK((get("LDSM", OpClass::kLoad).matrix && get("STSM", OpClass::kStore).matrix));
  CHECK_FALSE(get("LDS", OpClass::kLoad).matrix);
  trace::StaticInst waiting = named("AWAIT", OpClass::kLoad);
  CHECK_FALSE(resolved(c, {waiting}).synchronises);
  waiting.signal = trace::SignalOp::kAwaits;
  CHECK(resolved(c, {waiting}).synchronises);
  CHECK((get("SYNCS", OpClass::kMbarrier).synchronises && get("UBLKCP", OpClass::kBulkCopy).synchronises));
}

TEST_CASE("issue table: barriers other than 0 are named, unless their records count threads") {
  const auto names = [](trace::BarrierOp op, std::uint8_t id) {
    trace::StaticInst inst = named("BAR", OpClass::kBarrier);
    inst.barrier = op;
    inst.barrier_id = id;
    trace::StaticTable table;
    (void)table.push(inst);
    (void)table.push(named("NOP", OpClass::kNop));
    IssueTable issue{config::GpuConfig{}};
    issue.extend(table);
    return issue.named_barriers();
  };
  CHECK_FALSE(names(trace::BarrierOp::kSync, 0));
  CHECK(names(trace::BarrierOp::kSync, 1));
  CHECK(names(trace::BarrierOp::kArrive, 15));
  CHECK_FALSE(names(trace::BarrierOp::kSync, 16));
  CHECK_FALSE(names(trace::BarrierOp::kNone, 3));
}

TEST_CASE("issue table: elements stay where they are while the table grows, and know their number") {
  trace::StaticTable table;
  IssueTable issue{config::GpuConfig{}};
  std::vector<const IssueInst*> places;
  for (std::uint32_t i = 0; i < 1300; ++i) {
    trace::StaticInst inst = reader(16 * i, {i % 255, (i + 1) % 255});
    (void)table.push(inst);
    if (i % 100 == 99 || i > 1290) issue.extend(table);
    while (places.size() < issue.size()) places.push_back(&issue[static_cast<std::uint32_t>(places.size())]);
  }
  REQUIRE(issue.size() == 1300);
  for (std::uint32_t i = 0; i < 1300; ++i) {
    REQUIRE(&issue[i] == places[i]);
    REQUIRE(issue.index_of(issue[i]) == i);
    REQUIRE(issue[i].pc == 16 * i);
    REQUIRE(issue[i].sources == 2);
    REQUIRE(std::equal(issue[i].registers, issue[i].registers + 2, issue[i].first_registers.begin()));
  }
  const IssueInst other;
  CHECK_THROWS_AS(issue.index_of(other), std::logic_error);
}

}  // namespace
}  // namespace lockstep::core
