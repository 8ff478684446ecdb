// Bulk tensor copies and reductions, and the objects that describe tensors.
#include <fmt/format.h>

#include "exec/decode.hpp"

namespace lockstep::exec {

using ptx::Mod;
using ptx::OperandKind;

namespace {

constexpr Mod kReductions[] = {Mod::kAdd, Mod::kMin, Mod::kMax, Mod::kInc,
                               Mod::kDec, Mod::kAnd, Mod::kOr,  Mod::kXor};

unsigned rank_of(const ptx::Form& form) {
  constexpr Mod kRanks[] = {Mod::k1d, Mod::k2d, Mod::k3d, Mod::k4d, Mod::k5d};
  for (unsigned r = 0; r < std::size(kRanks); ++r)
    if (form.has(kRanks[r])) return r + 1;
  return 0;
}

struct FieldName {
  Mod mod;
  TensorField field;
  bool numbered;
};
constexpr FieldName kFields[] = {
    {Mod::kGlobalAddress, TensorField::kAddress, false},
    {Mod::kRank, TensorField::kRank, false},
    {Mod::kBoxDim, TensorField::kBox, true},
    {Mod::kGlobalDim, TensorField::kDim, true},
    {Mod::kGlobalStride, TensorField::kStride, true},
    {Mod::kElementStride, TensorField::kStep, true},
    {Mod::kElemtype, TensorField::kType, false},
    {Mod::kInterleaveLayout, TensorField::kInterleave, false},
    {Mod::kSwizzleMode, TensorField::kSwizzle, false},
    {Mod::kFillMode, TensorField::kFill, false},
};

}  // namespace

AtomicFn TensorForm::function(ptx::Type type) const {
  ptx::Form form;
  form.types.push_back(type);
  for (const Mod mod : reduction) form.mods.push_back(mod);
  return atomic_function(form, true).value_or(nullptr);
}

void Decoder::decode_tensor_copy(const Inst& inst, Operation& op) {
  for (const Mod later : {Mod::kTileGather4, Mod::kTileScatter4, Mod::kCtaGroup1, Mod::kCtaGroup2,
                          Mod::kIm2colW, Mod::kIm2colW128})
    if (inst.has(later)) fail("needs a GPU later than sm_90");
  TensorForm form;
  form.prefetch = inst.has(Mod::kPrefetch);
  const std::size_t places = form.prefetch ? 1 : 2;
  if (inst.operands.size() < places || inst.form.spaces.size() < places)
    fail("an operand or state space is missing");
  form.store = !form.prefetch && inst.form.spaces[0] == ptx::Space::kGlobal;
  form.reduces = inst.has(Mod::kReduce);
  form.rank = static_cast<std::uint8_t>(rank_of(inst.form));
  form.im2col = inst.has(Mod::kIm2col) || inst.has(Mod::kIm2colNoOffs);
  if (form.im2col && form.rank < 3) fail("im2col needs at least three dimensions");
  const Op& tensor = inst.operands[form.store || form.prefetch ? 0 : 1];
  const bool place = tensor.kind == OperandKind::kCoordinates && tensor.elements.size() == 2;
  if (!place) fail("expected [tensor map, {coordinates}]");
  const MemoryForm map = address_form(tensor.elements[0], ptx::Space::kGeneric);
  std::vector<OperandRef> coordinates;
  flatten(tensor.elements[1], ptx::Type::kS32, op, coordinates);
  if (form.rank == 0 || coordinates.size() != form.rank)
    fail("another number of coordinates than dimensions");
  form.map = add_memory(map);
  if (!form.prefetch) {
    const std::size_t number = form.store ? 1 : 0;
    MemoryForm shared = address_form(inst.operands[number], inst.form.spaces[number]);
    shared.bytes = 16;
    form.shared = add_memory(shared);
  }
  std::size_t next = places;
  if (inst.has(Mod::kMbarrierCompleteTxBytes)) {
    if (inst.operands.size() <= next) fail("the mbarrier is missing");
    form.mbarrier = add_memory(address_form(inst.operands[next++], inst.form.spaces[0]));
  }
  if (inst.has(Mod::kIm2col)) {
    if (inst.operands.size() <= next) fail("the filter's offsets are missing");
    form.offsets = static_cast<std::uint8_t>(form.rank - 2);
    flatten(inst.operands[next++], ptx::Type::kU16, op, coordinates);
    if (coordinates.size() != form.rank + form.offsets) fail("another number of offsets than W, H and D");
  }
  if (inst.has(Mod::kMulticastCluster)) {
    if (inst.operands.size() <= next) fail("the mask of CTAs is missing");
    form.multicast = operand_of(inst.operands[next++], ptx::Type::kU16, op);
  }
  if (form.reduces)
    for (const Mod mod : kReductions)
      if (inst.has(mod)) form.reduction.push_back(mod);
  op.handler = Handler::kTensorCopy;
  op.detail = static_cast<std::uint32_t>(out_.tensors.size());
  out_.tensors.push_back(form);
  set_operands(op, {}, coordinates);
}

/// tensormap.replace and tensormap.cp_fenceproxy.
void Decoder::decode_tensor_map(const Inst& inst, Operation& op) {
  if (inst.operands.size() < 2) fail("an operand is missing");
  op.handler = Handler::kTensorMap;
  TensorMapForm form;
  if (inst.has(Mod::kCpFenceproxy)) {
    form.copies = true;
    form.object = add_memory(address_form(inst.operands[0], ptx::Space::kGlobal));
    form.from = add_memory(address_form(inst.operands[1], ptx::Space::kShared));
  } else {
    const FieldName* found = nullptr;
    for (const FieldName& f : kFields)
      if (inst.has(f.mod)) found = &f;
    if (!found) fail("this field is not supported");
    form.field = found->field;
    form.object = add_memory(address_form(inst.operands[0], inst.form.space()));
    const std::size_t value = found->numbered ? 2 : 1;
    if (inst.operands.size() <= value) fail("an operand is missing");
    if (found->numbered) form.number = static_cast<std::uint8_t>(inst.operands[1].bits);
    form.value = operand_of(inst.operands[value], ptx::Type::kB64, op);
    form.value_bytes = static_cast<std::uint8_t>(ptx::bytes(inst.form.last_type()));
  }
  op.detail = static_cast<std::uint32_t>(out_.tensor_maps.size());
  out_.tensor_maps.push_back(form);
}

}  // namespace lockstep::exec
