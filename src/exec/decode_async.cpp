// Asynchronous copies, mbarriers and moves of matrices.
#include <fmt/format.h>

#include <bit>

#include "exec/decode.hpp"

namespace lockstep::exec {

using ptx::Mod;
using ptx::Opcode;

namespace {

template <class T>
std::uint32_t push(std::vector<T>& to, T value) {
  to.push_back(value);
  return static_cast<std::uint32_t>(to.size() - 1);
}

/// cp.async.bulk and its relatives that only order: every copy is complete when its instruction is.
bool only_orders(const ptx::Instruction& inst) {
  return inst.has(Mod::kCommitGroup) || inst.has(Mod::kWaitGroup) || inst.has(Mod::kWaitAll);
}

/// Where the elements of a wmma fragment lie in memory.
void place_pieces(MatrixForm& form, bool by_columns) {
  const Fragment& fragment = form.fragment;
  const int each = fragment.per_register();
  const MatrixPlace first = fragment_place(fragment, 0, 0), last = fragment_place(fragment, 0, each - 1);
  const bool together = by_columns ? first.column == last.column : first.row == last.row;
  form.pieces = static_cast<std::uint8_t>(together ? 1 : each);
  form.lines = static_cast<std::uint16_t>(by_columns ? fragment.columns : fragment.rows);
  form.line_bytes =
      static_cast<unsigned>((by_columns ? fragment.rows : fragment.columns) * fragment.bits) / 8;
  for (int number = 0; number < fragment.elements(); number += each / form.pieces)
    for (int lane = 0; lane < kLanes; ++lane) {
      const MatrixPlace at = fragment_place(fragment, lane, number);
      const int line = by_columns ? at.column : at.row, along = by_columns ? at.row : at.column;
      form.places.push_back(static_cast<std::uint16_t>(static_cast<unsigned>(line) * form.line_bytes +
                                                       static_cast<unsigned>(along * fragment.bits) / 8));
    }
}

}  // namespace

bool Decoder::decode_async_group(const Inst& inst, Operation& op) {
  switch (inst.op()) {
    case Opcode::kCp:
      if (only_orders(inst)) return op.handler = Handler::kNothing, true;
      if (inst.has(Mod::kMbarrier)) return decode_mbarrier(inst, op), true;
      if (inst.has(Mod::kTensor)) return decode_tensor_copy(inst, op), true;
      if (inst.has(Mod::kBulk)) return decode_bulk_copy(inst, op), true;
      return decode_copy(inst, op), true;
    case Opcode::kMbarrier:
      return decode_mbarrier(inst, op), true;
    case Opcode::kTensormap:
      return decode_tensor_map(inst, op), true;
    case Opcode::kWgmma:
      return decode_warpgroup(inst, op), true;
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix:
      return decode_matrix_move(inst, op), true;
    case Opcode::kWmma:
      if (!inst.has(Mod::kLoad) && !inst.has(Mod::kStore)) return false;
      return decode_wmma_move(inst, op), true;
    default:
      return false;
  }
}

void Decoder::decode_copy(const Inst& inst, Operation& op) {
  if (inst.operands.size() < 3 || inst.form.spaces.size() < 2) fail("an operand or state space is missing");
  CopyForm form;
  MemoryForm to = address_form(inst.operands[0], inst.form.spaces[0]);
  MemoryForm from = address_form(inst.operands[1], inst.form.spaces[1]);
  if (inst.operands[2].kind != ptx::OperandKind::kImmediate) fail("the size must be a constant");
  form.bytes = static_cast<std::uint32_t>(inst.operands[2].bits);
  if (form.bytes != 4 && form.bytes != 8 && form.bytes != 16) fail("the size must be 4, 8 or 16");
  to.bytes = from.bytes = static_cast<std::uint8_t>(form.bytes);
  const std::size_t policy = inst.has(Mod::kL2CacheHint);
  if (inst.operands.size() > 3 + policy) {
    const Op& extra = inst.operands[3];
    const bool predicate =
        extra.kind == ptx::OperandKind::kRegister && function_->registers[extra.reg].type == ptx::Type::kPred;
    (predicate ? form.ignore : form.size) =
        operand_of(extra, predicate ? ptx::Type::kPred : ptx::Type::kU32, op);
  }
  form.to = add_memory(to);
  form.from = add_memory(from);
  op.handler = Handler::kCopyAsync;
  op.detail = push(out_.copies, form);
}

/// Without a state space the address is generic.
void Decoder::decode_prefetch(const Inst& inst, Operation& op) {
  if (inst.has(Mod::kTensormap)) return void(op.handler = Handler::kNothing);
  if (inst.operands.empty()) fail("an operand is missing");
  CopyForm form;
  form.prefetch = true;
  form.from = add_memory(address_form(inst.operands[0], inst.form.space()));
  op.handler = Handler::kCopyAsync;
  op.detail = push(out_.copies, form);
}

void Decoder::decode_bulk_prefetch(const Inst& inst, Operation& op) {
  if (inst.operands.size() < 2 || inst.form.spaces.empty()) fail("an operand or state space is missing");
  CopyForm form;
  form.prefetch = true;
  form.from = add_memory(address_form(inst.operands[0], inst.form.spaces[0]));
  form.size = operand_of(inst.operands[1], ptx::Type::kU32, op);
  op.handler = Handler::kCopyBulk;
  op.detail = push(out_.copies, form);
}

void Decoder::decode_bulk_copy(const Inst& inst, Operation& op) {
  if (inst.has(Mod::kPrefetch)) return decode_bulk_prefetch(inst, op);
  if (inst.has(Mod::kCpMask) || inst.has(Mod::kIgnoreOob)) fail("needs a GPU later than sm_90");
  if (inst.operands.size() < 3 || inst.form.spaces.size() < 2) fail("an operand or state space is missing");
  CopyForm form;
  form.multimem = inst.op() == Opcode::kMultimem;
  MemoryForm to = address_form(inst.operands[0], inst.form.spaces[0]);
  MemoryForm from = address_form(inst.operands[1], inst.form.spaces[1]);
  to.bytes = from.bytes = 16;
  form.to = add_memory(to);
  form.from = add_memory(from);
  form.size = operand_of(inst.operands[2], ptx::Type::kU32, op);
  std::size_t next = 3;
  if (inst.has(Mod::kMbarrierCompleteTxBytes)) {
    if (inst.operands.size() <= next) fail("the mbarrier is missing");
    MemoryForm mbarrier = address_form(inst.operands[next++], inst.form.spaces[0]);
    mbarrier.bytes = 8;
    form.mbarrier = add_memory(mbarrier);
  }
  if (inst.has(Mod::kMulticastCluster)) {
    if (inst.operands.size() <= next) fail("the mask of CTAs is missing");
    form.multicast = operand_of(inst.operands[next], ptx::Type::kU16, op);
  }
  if (inst.has(Mod::kReduce)) {
    const auto fn = atomic_function(inst.form, true);
    if (!fn || !*fn) fail("this reduction is not supported");
    form.reduction = *fn;
    form.element = static_cast<std::uint8_t>(ptx::bytes(inst.form.last_type()));
  }
  op.handler = Handler::kCopyBulk;
  op.detail = push(out_.copies, form);
}

void Decoder::decode_mbarrier(const Inst& inst, Operation& op) {
  using Kind = MbarrierForm::Kind;
  MbarrierForm form;
  std::vector<OperandRef> destinations;
  std::size_t next = 0;
  const bool arrive = inst.has(Mod::kArrive) || inst.has(Mod::kArriveDrop);
  if (inst.op() == Opcode::kCp) {  // cp.async.mbarrier.arrive: the copies are complete, so it is an arrival
    form.kind = inst.has(Mod::kNoinc) ? Kind::kArrive : Kind::kCopied;
  } else if (inst.has(Mod::kInit) || inst.has(Mod::kInval)) {
    form.kind = inst.has(Mod::kInit) ? Kind::kInit : Kind::kInval;
  } else if (arrive || inst.has(Mod::kTestWait) || inst.has(Mod::kTryWait) || inst.has(Mod::kPendingCount)) {
    form.kind = arrive ? Kind::kArrive : inst.has(Mod::kPendingCount) ? Kind::kPending : Kind::kTest;
    form.drop = inst.has(Mod::kArriveDrop);
    form.expects = arrive && inst.has(Mod::kExpectTx);
    form.suspends = inst.has(Mod::kTryWait);
    form.parity = inst.has(Mod::kParity);
    destinations.push_back(operand_of(inst.operands.at(next++), ptx::Type::kB64, op));
  } else {
    form.kind = inst.has(Mod::kExpectTx) ? Kind::kExpect : Kind::kComplete;
  }
  MemoryForm place;
  if (form.kind != Kind::kPending) {
    if (inst.operands.size() <= next) fail("the mbarrier is missing");
    const ptx::Space space = inst.form.space();
    place = address_form(inst.operands[next++], space);
    place.bytes = 8;
    place.polls = form.kind == Kind::kTest;
  }
  if (inst.operands.size() > next) form.value = operand_of(inst.operands[next], ptx::Type::kB64, op);
  const bool needs = form.kind == Kind::kTest || form.kind == Kind::kExpect || form.kind == Kind::kComplete ||
                     form.kind == Kind::kPending || form.expects;
  if (needs && !form.value.exists()) fail("an operand is missing");
  op.handler = Handler::kMbarrier;
  op.detail = add_memory(place);
  op.second = push(out_.mbarriers, form);
  set_operands(op, destinations, {});
}

void Decoder::decode_matrix_move(const Inst& inst, Operation& op) {
  if (inst.form.last_type() != ptx::Type::kB16) fail("only elements of .b16 are supported");
  MatrixForm form;
  form.store = inst.op() == Opcode::kStmatrix;
  form.matrices = inst.has(Mod::kX4) ? 4 : inst.has(Mod::kX2) ? 2 : 1;
  form.transposed = inst.has(Mod::kTrans);
  std::vector<OperandRef> parts;
  flatten(inst.operands.at(form.store ? 1 : 0), ptx::Type::kB32, op, parts);
  if (parts.size() != form.matrices) fail("another number of registers than matrices");
  MemoryForm place = address_form(inst.operands.at(form.store ? 0 : 1), inst.form.space());
  place.bytes = 16;
  op.handler = Handler::kMatrixMove;
  op.detail = add_memory(place);
  op.second = push(out_.matrices, form);
  if (form.store)
    set_operands(op, {}, parts);
  else
    set_operands(op, parts, {});
}

void Decoder::decode_wmma_move(const Inst& inst, Operation& op) {
  MatrixForm form;
  form.store = inst.has(Mod::kStore);
  const bool by_columns = inst.has(Mod::kCol);
  const MatrixRole role = inst.has(Mod::kA)   ? MatrixRole::kA
                          : inst.has(Mod::kB) ? MatrixRole::kB
                                              : MatrixRole::kAccumulator;
  const auto fragment = wmma_fragment(role, inst.form.shape, inst.form.last_type());
  if (!fragment) fail("no such matrix");
  const bool along_k = role == MatrixRole::kA ? !by_columns : by_columns;
  if (fragment->bits < 8 && !along_k) fail("elements below 8 bits must be neighbours along k");
  form.fragment = *fragment;
  place_pieces(form, by_columns);
  if (form.lines * form.line_bytes > kMatrixBytes || !std::has_single_bit(form.line_bytes))
    fail("no such matrix");
  std::vector<OperandRef> parts;
  if (inst.operands.size() < 2) fail("an operand is missing");
  flatten(inst.operands[form.store ? 1 : 0], inst.form.last_type(), op, parts);
  if (parts.size() != static_cast<std::size_t>(fragment->registers))
    fail(fmt::format("{} registers are given, {} expected", parts.size(), fragment->registers));
  const MemoryForm place = address_form(inst.operands[form.store ? 0 : 1], inst.form.space());
  if (inst.operands.size() > 2) form.stride = operand_of(inst.operands[2], ptx::Type::kU32, op);
  op.handler = Handler::kMatrixMove;
  op.detail = add_memory(place);
  op.second = push(out_.matrices, form);
  if (form.store)
    set_operands(op, {}, parts);
  else
    set_operands(op, parts, {});
}

}  // namespace lockstep::exec
