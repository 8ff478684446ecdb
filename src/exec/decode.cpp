#include "exec/decode.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exec/passes.hpp"
#include "util/error.hpp"

namespace lockstep::exec {

namespace {

/// Instructions that PTX documents with {!} or {-}: the others could read the operand as it is only.
bool takes_negated(ptx::Opcode op) {
  switch (op) {
    case ptx::Opcode::kBar:
    case ptx::Opcode::kBarrier:
    case ptx::Opcode::kLop3:
    case ptx::Opcode::kSet:
    case ptx::Opcode::kSetp:
    case ptx::Opcode::kVmad:
    case ptx::Opcode::kVote:
    case ptx::Opcode::kWgmma:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Decoder::run() {
  for (std::uint32_t i = 0; i < out_.functions.size(); ++i) decode_function(i);
  find_shared_accesses(out_);
}

void Decoder::decode_function(std::uint32_t index) {
  enter_function(index);
  flow_.emplace(*function_);
  mentions_.clear();
  for (std::uint32_t i = 0; i < code_->size; ++i) {
    inst_ = &function_->instructions[i];
    Operation& op = out_.operations[code_->first + i];
    if (inst_->guard) {
      op.guard = register_operand(inst_->guard->reg);
      op.guard_negated = inst_->guard->negated;
    }
    decode(*inst_, op);
  }
  find_fenced_polls(*code_, out_);
  find_signals(*code_, out_);
  find_spin_loops(*code_, out_);
  find_work_loops(*code_, out_);
  find_known_bases(*code_, *flow_, out_);
}

void Decoder::decode(const Inst& inst, Operation& op) {
  if (!takes_negated(inst.op()) && std::ranges::any_of(inst.operands, &Op::negated))
    fail("a negated predicate is not supported here");
  if (decode_memory_group(inst, op) || decode_async_group(inst, op) || decode_texture_group(inst, op) ||
      decode_control_group(inst, op))
    return;
  decode_lane(inst, op);
}

std::optional<LaneOp> Decoder::lane_op(const Inst& inst) const {
  const Op* first = inst.operands.empty() ? nullptr : &inst.operands.front();
  const bool named = first && first->kind == ptx::OperandKind::kRegister;
  try {
    return select_lane_op(inst, named ? ptx::bits(function_->registers[first->reg].type) : 0);
  } catch (const FormError& error) {
    throw InputError(program_.modules[function_->module].name, error.line(),
                     source_prefix() + error.message());
  }
}

void Decoder::decode_lane(const Inst& inst, Operation& op) {
  const auto lane = lane_op(inst);
  if (!lane) fail("this instruction is not supported");
  const unsigned written = ptx::destination_count(inst.form);
  std::vector<OperandRef> destinations, sources;
  for (std::size_t i = 0; i < inst.operands.size(); ++i)
    flatten(inst.operands[i], source_type(i), op, i < written ? destinations : sources);
  if (sources.size() < static_cast<std::size_t>(lane->sources)) fail("an operand is missing");
  destinations.resize(static_cast<std::size_t>(lane->destinations), OperandRef::none());
  sources.resize(static_cast<std::size_t>(lane->sources));
  set_operands(op, destinations, sources);
  op.handler = Handler::kLane;
  op.fn = lane->fn;
  op.slow_path = slow_path(inst.form);
  op.immediate = lane->immediate;
}

}  // namespace lockstep::exec
