// Loads, stores, atomics and conversions of addresses.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "exec/created_policy.hpp"
#include "exec/decode.hpp"
#include "exec/lane_loop.hpp"

namespace lockstep::exec {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;

namespace {

void add_immediate(const LaneArgs& args, std::uint64_t immediate) {
  for_lanes(args.mask, [&](int l) { args.dst[0]->lane[l] = args.src[0]->lane[l] + immediate; });
}

void write_immediate(const LaneArgs& args, std::uint64_t immediate) {
  for_lanes(args.mask, [&](int l) { args.dst[0]->lane[l] = immediate; });
}

/// createpolicy.fractional: `immediate` is the descriptor for all of the lines.
void with_fraction(const LaneArgs& args, std::uint64_t immediate) {
  constexpr unsigned kFractionShift = 52;
  for_lanes(args.mask, [&](int l) {
    const float fraction = std::bit_cast<float>(static_cast<std::uint32_t>(args.src[0]->lane[l]));
    const float rest = std::floor((1 - std::clamp(fraction, 0.0f, 1.0f)) * trace::kL2Sixteenths);
    const auto less = std::min(static_cast<std::uint64_t>(rest), std::uint64_t{trace::kL2Sixteenths - 1});
    args.dst[0]->lane[l] = immediate - (less << kFractionShift);
  });
}

/// isspacep: `immediate` is the ptx::Space asked for.
void is_space(const LaneArgs& args, std::uint64_t immediate) {
  const auto asked = static_cast<ptx::Space>(immediate);
  for_lanes(args.mask, [&](int l) {
    const Address a = args.src[0]->lane[l];
    const Space space = space_of(a);
    bool is = false;
    if (asked == ptx::Space::kGlobal) is = space == Space::kGlobal;
    if (asked == ptx::Space::kLocal) is = space == Space::kLocal;
    if (asked == ptx::Space::kParam || asked == ptx::Space::kParamEntry) is = space == Space::kParam;
    if (asked == ptx::Space::kSharedCluster) is = space == Space::kShared;
    if (asked == ptx::Space::kShared || asked == ptx::Space::kSharedCta)
      is = space == Space::kShared && (a - kSharedWindow) >> kSharedRankShift == 0;
    args.dst[0]->lane[l] = is;
  });
}

/// mapa: the address of the same place in the CTA of a rank. `immediate`: the window of a generic address, or
/// 0.
void map_rank(const LaneArgs& args, std::uint64_t immediate) {
  for_lanes(args.mask, [&](int l) {
    const Address offset = args.src[0]->lane[l] & ((Address{1} << kSharedRankShift) - 1);
    args.dst[0]->lane[l] = immediate + ((args.src[1]->lane[l] + 1) << kSharedRankShift) + offset;
  });
}

/// getctarank; source 1 is the CTA's own rank.
void rank_of(const LaneArgs& args, std::uint64_t immediate) {
  for_lanes(args.mask, [&](int l) {
    const Address rank = (args.src[0]->lane[l] - immediate) >> kSharedRankShift;
    args.dst[0]->lane[l] = rank == 0 ? args.src[1]->lane[l] : rank - 1;
  });
}

/// Distance of a space's addresses from its generic ones.
std::uint64_t window_of(ptx::Space space) {
  switch (space) {
    case ptx::Space::kShared:
    case ptx::Space::kSharedCta:
    case ptx::Space::kSharedCluster:
      return kSharedWindow;
    case ptx::Space::kLocal:
      return kLocalWindow;
    case ptx::Space::kParam:
    case ptx::Space::kParamEntry:
      return kParamWindow;
    default:
      return 0;
  }
}

/// The first register of a destination, some of whose elements may be the sink; nullptr where there is none.
const ptx::Operand* first_register(const ptx::Operand& operand) {
  if (operand.kind == OperandKind::kRegister) return &operand;
  for (const ptx::Operand& element : operand.elements)
    if (const ptx::Operand* const found = first_register(element)) return found;
  return nullptr;
}

bool polls(const ptx::Form& form) {
  return form.has(Mod::kVolatile) || form.has(Mod::kRelaxed) || form.has(Mod::kAcquire) ||
         form.has(Mod::kMmio) || form.has(Mod::kCv);
}

}  // namespace

bool Decoder::decode_memory_group(const Inst& inst, Operation& op) {
  switch (inst.op()) {
    case Opcode::kLd:
    case Opcode::kLdu:
      return decode_load(inst, op), true;
    case Opcode::kSt:
      return decode_store(inst, op), true;
    case Opcode::kAtom:
    case Opcode::kRed:
      return decode_atomic(inst, op), true;
    case Opcode::kMultimem:
      return decode_multimem(inst, op), true;
    case Opcode::kAlloca:
    case Opcode::kStacksave:
    case Opcode::kStackrestore:
      return decode_stack(inst, op), true;
    case Opcode::kCvta:
    case Opcode::kIsspacep:
    case Opcode::kMapa:
    case Opcode::kGetctarank:
      return decode_convert_address(inst, op), true;
    case Opcode::kCreatepolicy:
      return decode_policy(inst, op), true;
    case Opcode::kPrefetch:
    case Opcode::kPrefetchu:
      return decode_prefetch(inst, op), true;
    case Opcode::kApplypriority:
    case Opcode::kDiscard:
    case Opcode::kMembar:
    case Opcode::kFence:
      op.handler = Handler::kNothing;
      return true;
    default:
      return false;
  }
}

void Decoder::decode_load(const Inst& inst, Operation& op) {
  if (inst.operands.size() < 2) fail("an operand is missing");
  MemoryForm form = address_form(inst.operands[1], inst.form.space());
  const ptx::Type type = inst.form.last_type();
  std::vector<OperandRef> destinations;
  flatten(inst.operands[0], type, op, destinations);
  const Op* const first = first_register(inst.operands[0]);
  set_elements(form, type, destinations.size());
  form.polls = polls(inst.form);
  if (ptx::is_signed(type) && first != nullptr) {
    form.extend = static_cast<std::uint8_t>(ptx::bits(type));
    form.width = static_cast<std::uint8_t>(ptx::bits(function_->registers[first->reg].type));
    if (form.extend >= form.width) form.extend = 0;
  }
  op.handler = Handler::kLoad;
  op.detail = add_memory(form);
  set_operands(op, destinations, {});
}

/// The mbarrier that st.async and red.async signal: a MemoryForm, ~0 for the other forms.
std::uint32_t Decoder::completion_mbarrier(const Inst& inst) {
  if (!inst.has(Mod::kMbarrierCompleteTxBytes)) return ~0u;
  if (inst.operands.size() < 3) fail("the mbarrier is missing");
  MemoryForm place = address_form(inst.operands[2], ptx::Space::kSharedCluster);
  place.bytes = 8;
  return add_memory(place);
}

void Decoder::decode_store(const Inst& inst, Operation& op) {
  if (inst.operands.size() < 2) fail("an operand is missing");
  if (inst.has(Mod::kBulk)) fail("needs a GPU later than sm_90");
  op.second = completion_mbarrier(inst);
  MemoryForm form = address_form(inst.operands[0], inst.form.space());
  const ptx::Type type = inst.form.last_type();
  std::vector<OperandRef> sources;
  flatten(inst.operands[1], type, op, sources);
  for (const OperandRef operand : sources)
    if (!operand.exists()) fail("the sink `_` is not a value to store");
  set_elements(form, type, sources.size());
  op.handler = Handler::kStore;
  op.detail = add_memory(form);
  set_operands(op, {}, sources);
}

/// A register that its function names nowhere else, or the sink.
bool Decoder::unread_result(const Op& result) {
  if (result.kind != OperandKind::kRegister) return result.kind == OperandKind::kSink;
  if (mentions_.empty()) {
    mentions_.resize(function_->registers.size());
    const auto count = [&](const auto& self, const Op& operand) -> void {
      const bool names =
          operand.kind == OperandKind::kRegister ||
          (operand.kind == OperandKind::kAddress && operand.base == ptx::AddressBase::kRegister);
      if (names) ++mentions_[operand.reg];
      for (const Op& element : operand.elements) self(self, element);
    };
    for (const Inst& inst : function_->instructions) {
      if (inst.guard) ++mentions_[inst.guard->reg];
      for (const Op& operand : inst.operands) count(count, operand);
    }
    for (const auto* places : {&function_->parameters, &function_->results})
      for (const ptx::Parameter& one : *places)
        if (one.in_register) ++mentions_[one.reg];
  }
  return mentions_[result.reg] == 1;
}

void Decoder::decode_atomic(const Inst& inst, Operation& op) {
  const bool returns = inst.op() == Opcode::kAtom;
  const std::size_t at = returns ? 1 : 0;
  const bool compare = inst.has(Mod::kCas);
  if (inst.operands.size() < at + (compare ? 3u : 2u)) fail("an operand is missing");
  MemoryForm form = address_form(inst.operands[at], inst.form.space());
  const ptx::Type type = inst.form.last_type();
  std::vector<OperandRef> destinations, sources;
  if (returns) flatten(inst.operands[0], type, op, destinations);
  for (std::size_t i = at + 1; i <= at + (compare ? 2u : 1u); ++i)
    flatten(inst.operands[i], type, op, sources);
  set_elements(form, type, compare ? sources.size() / 2 : sources.size());
  if (returns && destinations.size() == 1) destinations.resize(form.count, OperandRef::none());
  form.polls = returns;
  const auto fn = atomic_function(inst.form, false), global = atomic_function(inst.form, true);
  if (!fn || !global) fail("this atomic operation is not supported");
  if (!*fn && form.count != 1) fail("vectors of 128-bit values are not supported");
  op.handler = Handler::kAtomic;
  op.detail = add_memory(form);
  op.second = static_cast<std::uint32_t>(out_.atomics.size());
  const bool unread = !returns || unread_result(inst.operands[0]);
  const std::uint32_t mbarrier = returns ? ~0u : completion_mbarrier(inst);
  const bool commutes = unread && mbarrier == ~0u && !compare && atomic_commutes(inst.form);
  const bool takes = !unread && (inst.has(Mod::kAdd) || inst.has(Mod::kInc) || inst.has(Mod::kDec));
  out_.atomics.push_back({*fn, *global, compare, returns, commutes, mbarrier, takes});
  set_operands(op, destinations, sources);
}

void Decoder::decode_multimem(const Inst& inst, Operation& op) {
  if (inst.has(Mod::kCp)) return decode_bulk_copy(inst, op);
  const bool loads = inst.has(Mod::kLdReduce), reduces = loads || inst.has(Mod::kRed);
  const Op &address = inst.operands[loads ? 1 : 0], &data = inst.operands[loads ? 0 : 1];
  const ptx::Space space = inst.form.space();
  if (space != ptx::Space::kGlobal && space != ptx::Space::kGeneric)
    fail("expected .global or no state space");
  MemoryForm form = address_form(address, space);
  std::vector<OperandRef> operands;
  flatten(data, inst.form.last_type(), op, operands);
  set_elements(form, inst.form.last_type(), operands.size());
  if (form.bytes > 8) fail("values of 128 bits are not supported");
  form.polls = loads && polls(inst.form);
  MultimemForm what;
  what.kind = loads     ? MultimemForm::Kind::kLoadReduce
              : reduces ? MultimemForm::Kind::kReduce
                        : MultimemForm::Kind::kStore;
  if (reduces) {
    const auto reduction = multimem_reduction(inst.form);
    if (!reduction) fail("this reduction is not supported");
    what.reduction = *reduction;
  }
  op.handler = Handler::kMultimem;
  op.detail = add_memory(form);
  op.second = static_cast<std::uint32_t>(out_.multimems.size());
  out_.multimems.push_back(what);
  loads ? set_operands(op, operands, {}) : set_operands(op, {}, operands);
}

void Decoder::decode_stack(const Inst& inst, Operation& op) {
  constexpr std::uint64_t kDefaultAlign = 8;
  op.handler = Handler::kStack;
  const StackAction action = inst.op() == Opcode::kAlloca      ? StackAction::kAllocate
                             : inst.op() == Opcode::kStacksave ? StackAction::kSave
                                                               : StackAction::kRestore;
  op.detail = static_cast<std::uint32_t>(action);
  op.immediate = kDefaultAlign;
  if (inst.operands.size() < (action == StackAction::kAllocate ? 2u : 1u)) fail("an operand is missing");
  if (action == StackAction::kAllocate && inst.operands.size() > 2) {
    op.immediate = inst.operands[2].bits;
    if (inst.operands[2].kind != OperandKind::kImmediate || !std::has_single_bit(op.immediate))
      fail("the alignment must be a power of two");
  }
  std::vector<OperandRef> destinations, sources;
  if (action != StackAction::kRestore)
    destinations.push_back(operand_of(inst.operands[0], ptx::Type::kU64, op));
  if (action != StackAction::kSave)
    sources.push_back(
        operand_of(inst.operands[action == StackAction::kAllocate ? 1 : 0], ptx::Type::kU64, op));
  out_.allocates = true;
  set_operands(op, destinations, sources);
}

void Decoder::decode_convert_address(const Inst& inst, Operation& op) {
  if (inst.operands[0].kind == OperandKind::kSink) return void(op.handler = Handler::kNothing);
  std::vector<OperandRef> sources;
  for (std::size_t i = 1; i < inst.operands.size(); ++i)
    sources.push_back(operand_of(inst.operands[i], ptx::Type::kU64, op));
  const ptx::Space space = inst.form.space();
  op.handler = Handler::kLane;
  switch (inst.op()) {
    case Opcode::kCvta:
      op.fn = add_immediate;
      op.immediate = inst.has(Mod::kTo) ? 0 - window_of(space) : window_of(space);
      break;
    case Opcode::kIsspacep:
      op.fn = is_space;
      op.immediate = static_cast<std::uint64_t>(space);
      break;
    case Opcode::kMapa:
      op.fn = map_rank;
      op.immediate = space == ptx::Space::kGeneric ? kSharedWindow : 0;
      break;
    default: {  // getctarank
      Op rank;
      rank.kind = OperandKind::kSpecial;
      rank.special = ptx::Special::kClusterCtarank;
      sources.push_back(special_operand(rank, op));
      op.fn = rank_of;
      op.immediate = space == ptx::Space::kGeneric ? kSharedWindow : 0;
      break;
    }
  }
  set_operands(op, {operand_of(inst.operands[0], ptx::Type::kU64, op)}, sources);
}

/// The value is a descriptor in libcu++'s layout (trace/l2_policy.hpp). One of .range asks for nothing.
void Decoder::decode_policy(const Inst& inst, Operation& op) {
  if (inst.operands[0].kind == OperandKind::kSink) return void(op.handler = Handler::kNothing);
  op.handler = Handler::kLane;
  op.fn = write_immediate;
  std::vector<OperandRef> sources;
  if (inst.has(Mod::kCvt)) {
    op.fn = add_immediate;
    sources.push_back(operand_of(inst.operands[1], ptx::Type::kU64, op));
  } else if (inst.has(Mod::kFractional)) {
    op.immediate = trace::l2_descriptor(fractional_policy(inst.form, 1));
    if (inst.operands.size() > 1) {
      op.fn = with_fraction;
      sources.push_back(operand_of(inst.operands[1], ptx::Type::kF32, op));
    }
  }
  set_operands(op, {operand_of(inst.operands[0], ptx::Type::kU64, op)}, sources);
}

}  // namespace lockstep::exec
