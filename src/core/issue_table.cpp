#include "core/issue_table.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "core/unit_class.hpp"
#include "trace/barrier_events.hpp"

namespace lockstep::core {
namespace {

using trace::OpClass;
using trace::RegSpace;

unsigned register_number(RegSpace space, unsigned index) {
  switch (space) {
    case RegSpace::kVector:
      return index % 256;
    case RegSpace::kUniform:
      return 256 + index % 64;
    case RegSpace::kPredicate:
      return 320 + index % 8;
    case RegSpace::kUniformPredicate:
      return 328 + index % 8;
  }
  return 0;
}

bool accesses_memory(OpClass c) {
  switch (c) {
    case OpClass::kLoad:
    case OpClass::kStore:
    case OpClass::kAtomic:
    case OpClass::kReduction:
    case OpClass::kAsyncCopy:
    case OpClass::kBulkCopy:
    case OpClass::kMbarrier:
      return true;
    default:
      return false;
  }
}

IssueKind kind_of(OpClass c) {
  if (accesses_memory(c)) return IssueKind::kMio;
  switch (c) {
    case OpClass::kSpecialReg:
    case OpClass::kShuffle:
    case OpClass::kConstLoad:
    case OpClass::kTexture:
    case OpClass::kSurface:
      return IssueKind::kMio;
    case OpClass::kBarrier:
      return IssueKind::kBarrier;
    case OpClass::kMemBar:
      return IssueKind::kFence;
    case OpClass::kDepBar:
      return IssueKind::kDepBar;
    case OpClass::kSleep:
      return IssueKind::kSleep;
    case OpClass::kWarpgroupMma:
      return IssueKind::kProduct;
    default:
      return IssueKind::kFixed;
  }
}

bool result_from_memory(const trace::StaticInst& inst) {
  if (inst.op_class == OpClass::kTexture || inst.op_class == OpClass::kSurface) return true;
  return inst.space == trace::MemSpace::kGlobal || inst.space == trace::MemSpace::kLocal ||
         inst.space == trace::MemSpace::kGeneric || inst.space == trace::MemSpace::kTexture;
}

std::uint16_t clamp16(std::uint64_t v) {
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(v, std::numeric_limits<std::uint16_t>::max()));
}

}  // namespace

IssueTable::IssueTable(const config::GpuConfig& config) : config_(config), chunks_(kMaxChunks) {}

void IssueTable::extend(const trace::StaticTable& instructions) {
  for (; size_ < instructions.size(); ++size_) {
    if (!chunks_[size_ / kChunk]) chunks_[size_ / kChunk] = std::make_unique<IssueInst[]>(kChunk);
    const trace::StaticInst* before = size_ > 0 ? &instructions[size_ - 1] : nullptr;
    chunks_[size_ / kChunk][size_ % kChunk] = resolve(instructions[size_], before);
  }
}

std::uint32_t IssueTable::index_of(const IssueInst& inst) const {
  for (std::uint32_t c = 0; c < chunks_.size(); ++c) {
    const IssueInst* first = chunks_[c].get();
    if (first && !std::less<>()(&inst, first) && std::less<>()(&inst, first + kChunk))
      return c * kChunk + static_cast<std::uint32_t>(&inst - first);
  }
  throw std::logic_error("an instruction of another table");
}

IssueInst IssueTable::resolve(const trace::StaticInst& inst, const trace::StaticInst* before) {
  IssueInst out;
  out.pc = inst.pc;
  out.bytes = static_cast<std::uint8_t>(inst.bytes);
  out.kind = kind_of(inst.op_class);
  out.op_class = inst.op_class;
  out.unit_class = unit_class(inst);
  out.space = inst.space;
  out.access_bytes = inst.prefetch ? 1 : inst.access_bytes;
  out.barrier = inst.barrier;
  out.barrier_id = inst.barrier_id;
  out.fence = inst.fence;
  out.may_branch = inst.may_branch;
  out.bypass_l1 = inst.bypass_l1;
  out.l2_policy = inst.l2_policy;
  out.known = inst.known;
  out.immediate = inst.immediate;
  out.prefetch = inst.prefetch;
  out.bulk = inst.bulk;
  out.signal = inst.signal;
  out.synchronises = inst.op_class == OpClass::kMbarrier || inst.op_class == OpClass::kBulkCopy ||
                     inst.signal == trace::SignalOp::kAwaits;
  out.long_result = result_from_memory(inst);
  const std::string_view mnemonic(inst.mnemonic.data());
  out.closes_group = mnemonic == "LDGDEPBAR" || mnemonic == "UTMACMDFLUSH" || inst.closes_group;
  const bool takes_turn = inst.op_class == OpClass::kBranch || inst.op_class == OpClass::kConvergence;
  if (takes_turn && config_.branch_shared) out.kind = IssueKind::kBranch;
  if (mnemonic == "CS2R") out.kind = IssueKind::kClock;
  if (mnemonic == "UCGABAR_ARV" || mnemonic == "UCGABAR_WAIT") {
    out.kind = IssueKind::kClusterBarrier;
    out.barrier = mnemonic == "UCGABAR_ARV" ? trace::BarrierOp::kArrive : trace::BarrierOp::kSync;
  }
  if (mnemonic == "WARPGROUP")
    out.kind = inst.op_class == OpClass::kDepBar ? IssueKind::kProductWait : IssueKind::kFixed;
  out.needs_addresses = accesses_memory(inst.op_class);
  out.matrix = mnemonic == "LDSM" || mnemonic == "STSM";
  named_barriers_ |= inst.barrier != trace::BarrierOp::kNone && inst.barrier_id != 0 &&
                     inst.barrier_id != trace::kCountedBarrier;
  set_pipe(out, inst);
  set_registers(out, inst);
  set_bank_reads(out, inst, before);
  return out;
}

void IssueTable::set_pipe(IssueInst& out, const trace::StaticInst& inst) const {
  const config::PipeSpec& pipe = config_.pipe_of(inst.op_class);
  out.units = out.kind == IssueKind::kMio
                  ? static_cast<config::UnitMask>(1u << static_cast<unsigned>(config::Unit::kMio))
                  : pipe.units;
  if (out.kind == IssueKind::kMio) out.operand_delay = static_cast<std::uint8_t>(config_.mio.operand_delay);
  out.latency = clamp16(pipe.latency);
  out.interval = out.kind == IssueKind::kMio ? std::uint16_t{1} : clamp16(std::max(1u, pipe.interval));
  if (inst.op_class == OpClass::kTensor || inst.op_class == OpClass::kWarpgroupMma) {
    const std::uint32_t interval = tensor_interval(inst);
    out.interval = clamp16(interval);
    out.latency = clamp16(std::uint64_t{pipe.latency} + interval - 1);
  }
}

/// Core cycles for which one tensor unit works on the instruction: multiply-accumulates over the dense rate
/// of its type; a type without a rate of its own runs at that of f16.
std::uint32_t IssueTable::tensor_interval(const trace::StaticInst& inst) const {
  const config::TensorGroup& t = config_.tensor;
  const std::uint32_t rates[] = {t.f16,  t.f16,  t.bf16,   t.tf32, t.f64,
                                 t.int8, t.int4, t.binary, t.fp8,  t.f16_f32};
  std::uint32_t rate = rates[static_cast<unsigned>(inst.tensor_type)];
  if (rate == 0) rate = t.f16;
  if (inst.tensor_sparse) rate *= std::max(1u, t.sparse_factor);
  // A warpgroup's work is shared by the tensor units of its four warps; each warp's record carries all of it.
  const std::uint32_t macs = inst.op_class == OpClass::kWarpgroupMma ? inst.macs / 4 : inst.macs;
  return rate == 0 ? 1 : std::max(1u, (macs + rate - 1) / rate);
}

std::uint16_t IssueTable::entry_of(RegSpace space, unsigned index) {
  std::uint16_t& entry = entry_of_[register_number(space, index)];
  if (entry == 0) entry = static_cast<std::uint16_t>(scoreboard_entries_++);
  return entry;
}

void IssueTable::set_registers(IssueInst& out, const trace::StaticInst& inst) {
  std::vector<std::uint16_t> all;
  const auto append = [&](const trace::RegisterRange& r) {
    for (unsigned i = 0; i < r.count && all.size() < 255; ++i) all.push_back(entry_of(r.space, r.first + i));
  };
  for (const auto& r : inst.destinations) append(r);
  out.destinations = static_cast<std::uint8_t>(all.size());
  for (const auto& r : inst.sources) append(r);
  out.sources = static_cast<std::uint8_t>(all.size() - out.destinations);
  out.registers = keep(all);
  out.first_registers.fill(kNoRegister);
  std::copy_n(all.begin(), std::min(all.size(), out.first_registers.size()), out.first_registers.begin());
}

/// Reads of the register file by bank (register number modulo banks). A vector register that the instruction
/// just before names in the same operand position comes from the register-file cache instead: traces carry no
/// reuse bits, so the compiler is assumed to set one wherever it can.
void IssueTable::set_bank_reads(IssueInst& out, const trace::StaticInst& inst,
                                const trace::StaticInst* before) const {
  const unsigned banks = std::clamp(config_.rf.banks, 1u, 2u);
  std::array<unsigned, 2> all{}, reused{};
  const bool follows = config_.rf.cache && before && before->pc + before->bytes == inst.pc;
  for (const auto& r : inst.sources) {
    if (r.space != RegSpace::kVector) continue;
    const bool hit =
        follows && std::find(before->sources.begin(), before->sources.end(), r) != before->sources.end();
    for (unsigned i = 0; i < r.count; ++i) {
      ++all[(r.first + i) % banks];
      if (hit) ++reused[(r.first + i) % banks];
    }
  }
  const auto reads = [&](unsigned even, unsigned odd) {
    const auto cycles = [&](unsigned n) {
      return static_cast<std::uint8_t>(
          std::min((n + config_.rf.read_ports - 1) / config_.rf.read_ports, 255u));
    };
    return OperandReads{clamp16(even + odd), {cycles(even), cycles(odd)}};
  };
  out.reads = reads(all[0], all[1]);
  out.reads_reused = reads(all[0] - reused[0], all[1] - reused[1]);
  // Asynchronous products read their accumulators while they work, when the ports have nothing else to do.
  if (inst.op_class == OpClass::kWarpgroupMma) out.reads.bank_cycles = out.reads_reused.bank_cycles = {};
  out.read_window = clamp16(std::max<std::uint32_t>(config_.rf.read_window, out.interval));
  out.reused = static_cast<std::uint8_t>(std::min(reused[0] + reused[1], 255u));
}

const std::uint16_t* IssueTable::keep(const std::vector<std::uint16_t>& registers) {
  if (register_blocks_.empty() || block_used_ + registers.size() > block_size_) {
    block_size_ = 4096;
    block_used_ = 0;
    register_blocks_.push_back(std::make_unique<std::uint16_t[]>(block_size_));
  }
  std::uint16_t* place = register_blocks_.back().get() + block_used_;
  std::copy(registers.begin(), registers.end(), place);
  block_used_ += registers.size();
  return place;
}

}  // namespace lockstep::core
