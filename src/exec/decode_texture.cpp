// Textures and surfaces.
#include <fmt/format.h>

#include "exec/decode.hpp"

namespace lockstep::exec {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;

bool Decoder::decode_texture_group(const Inst& inst, Operation& op) {
  TextureForm form;
  switch (inst.op()) {
    case Opcode::kTex:
    case Opcode::kTld4:
      decode_fetch(inst, op, form);
      break;
    case Opcode::kSuld:
    case Opcode::kSust:
    case Opcode::kSured:
      decode_surface(inst, op, form);
      break;
    case Opcode::kTxq:
    case Opcode::kSuq:
    case Opcode::kIstypep:
      decode_query(inst, op, form);
      break;
    default:
      return false;
  }
  op.handler = Handler::kTexture;
  op.detail = static_cast<std::uint32_t>(out_.textures.size());
  out_.textures.push_back(form);
  return true;
}

void Decoder::geometry_of(const Inst& inst, TextureForm& form) const {
  form.layered = inst.has(Mod::kA1d) || inst.has(Mod::kA2d) || inst.has(Mod::kAcube);
  if (inst.has(Mod::k1d) || inst.has(Mod::kA1d))
    form.geometry = Geometry::k1D;
  else if (inst.has(Mod::k2d) || inst.has(Mod::kA2d))
    form.geometry = Geometry::k2D;
  else if (inst.has(Mod::k3d))
    form.geometry = Geometry::k3D;
  else if (inst.has(Mod::kCube) || inst.has(Mod::kAcube))
    form.geometry = Geometry::kCube;
  else
    fail("this geometry is not supported");
}

/// [handle, {layer, x, y, z}]: the handle, the layer where there is one, the coordinates.
std::vector<OperandRef> Decoder::place_operands(const Op& operand, const TextureForm& form, Operation& op) {
  if (operand.kind != OperandKind::kCoordinates || operand.elements.size() != 2)
    fail("expected [object, {coordinates}]; separate samplers are not supported");
  const Op& object = operand.elements[0];
  if (object.base != ptx::AddressBase::kRegister) fail("expected a texture or surface object in a register");
  std::vector<OperandRef> operands{register_operand(object.reg)};
  std::vector<OperandRef> given;
  flatten(operand.elements[1], form.integer ? ptx::Type::kS32 : ptx::Type::kF32, op, given);
  const std::size_t needed = form.coordinates() + form.layered;
  if (given.size() < needed) fail("a coordinate is missing");
  operands.insert(operands.end(), given.begin(), given.begin() + static_cast<std::ptrdiff_t>(needed));
  return operands;
}

void Decoder::decode_fetch(const Inst& inst, Operation& op, TextureForm& form) {
  geometry_of(inst, form);
  const ptx::Type result = inst.form.type();
  if (inst.form.types.size() != 2) fail("expected the types of results and coordinates");
  if (result == ptx::Type::kF16x2 || ptx::bits(result) != 32)
    fail(fmt::format("results of .{} are not supported", ptx::name(result)));
  form.integer = inst.form.types[1] == ptx::Type::kS32;
  const bool gather = inst.op() == Opcode::kTld4;
  form.kind = gather                  ? TextureForm::Kind::kGather
              : inst.has(Mod::kLevel) ? TextureForm::Kind::kLevel
              : inst.has(Mod::kGrad)  ? TextureForm::Kind::kGradient
                                      : TextureForm::Kind::kFetch;
  if (gather) form.channel = inst.has(Mod::kG) ? 1 : inst.has(Mod::kB) ? 2 : inst.has(Mod::kA) ? 3 : 0;
  std::vector<OperandRef> destinations;
  if (inst.operands.size() < 2 || inst.operands[0].kind != OperandKind::kVector)
    fail("expected a vector of results");
  flatten(inst.operands[0], inst.form.type(), op, destinations);
  std::vector<OperandRef> sources = place_operands(inst.operands[1], form, op);
  const std::size_t extra = form.kind == TextureForm::Kind::kLevel      ? 1
                            : form.kind == TextureForm::Kind::kGradient ? 2
                                                                        : 0;
  if (inst.operands.size() != 2 + extra) fail("offsets and depth comparison are not supported");
  for (std::size_t i = 0; i < extra; ++i) {
    std::vector<OperandRef> given;
    flatten(inst.operands[2 + i], ptx::Type::kF32, op, given);
    const std::size_t keep = extra == 1 ? 1 : form.coordinates();
    if (given.size() < keep) fail("a gradient is missing");
    sources.insert(sources.end(), given.begin(), given.begin() + static_cast<std::ptrdiff_t>(keep));
  }
  set_operands(op, destinations, sources);
}

void Decoder::decode_surface(const Inst& inst, Operation& op, TextureForm& form) {
  geometry_of(inst, form);
  if (!inst.has(Mod::kB)) fail("only unformatted (.b) surface accesses are supported");
  form.integer = true;
  form.outside = inst.has(Mod::kZero)    ? TextureForm::Outside::kZero
                 : inst.has(Mod::kClamp) ? TextureForm::Outside::kClamp
                                         : TextureForm::Outside::kTrap;
  const bool load = inst.op() == Opcode::kSuld;
  const ptx::Type type = inst.form.type();
  if (ptx::bits(type) > 64) fail("only elements of up to 64 bits are supported");
  std::vector<OperandRef> destinations, values;
  if (inst.operands.size() < 2) fail("an operand is missing");
  if (load) flatten(inst.operands[0], type, op, destinations);
  std::vector<OperandRef> sources = place_operands(inst.operands[load ? 1 : 0], form, op);
  if (!load) flatten(inst.operands[1], type, op, values);
  form.kind = load                         ? TextureForm::Kind::kLoad
              : inst.op() == Opcode::kSust ? TextureForm::Kind::kStore
                                           : TextureForm::Kind::kReduce;
  form.bytes = static_cast<std::uint8_t>(ptx::bytes(type));
  form.elements = static_cast<std::uint8_t>(load ? destinations.size() : values.size());
  if (form.kind == TextureForm::Kind::kReduce) {
    const auto fn = atomic_function(inst.form, false);
    if (!fn || !*fn) fail("this reduction is not supported");
    form.fn = *fn;
  }
  sources.insert(sources.end(), values.begin(), values.end());
  set_operands(op, destinations, sources);
}

struct QueryWord {
  Mod mod;
  TextureForm::Query query;
  bool texture, surface;  // txq, suq
};
constexpr QueryWord kQueries[] = {
    {Mod::kWidth, TextureForm::Query::kWidth, true, true},
    {Mod::kHeight, TextureForm::Query::kHeight, true, true},
    {Mod::kDepth, TextureForm::Query::kDepth, true, true},
    {Mod::kArraySize, TextureForm::Query::kLayers, true, true},
    {Mod::kNumMipmapLevels, TextureForm::Query::kLevels, true, false},
    {Mod::kNormalizedCoords, TextureForm::Query::kNormalized, true, false},
    {Mod::kChannelDataType, TextureForm::Query::kChannelType, true, true},
    {Mod::kChannelOrder, TextureForm::Query::kChannelOrder, true, true},
    {Mod::kFilterMode, TextureForm::Query::kFilter, true, false},
    {Mod::kAddrMode0, TextureForm::Query::kAddress0, true, false},
    {Mod::kAddrMode1, TextureForm::Query::kAddress1, true, false},
    {Mod::kAddrMode2, TextureForm::Query::kAddress2, true, false},
    {Mod::kMemoryLayout, TextureForm::Query::kMemoryLayout, false, true},
};

/// txq, suq, and istypep, which asks what a handle is.
void Decoder::decode_query(const Inst& inst, Operation& op, TextureForm& form) {
  using Query = TextureForm::Query;
  form.kind = TextureForm::Kind::kQuery;
  form.surface = inst.op() == Opcode::kSuq;
  if (inst.op() == Opcode::kIstypep) {
    const ptx::Type type = inst.form.type();
    form.query = type == ptx::Type::kTexref    ? Query::kIsTexture
                 : type == ptx::Type::kSurfref ? Query::kIsSurface
                                               : Query::kIsSampler;
    const OperandRef handle = operand_of(inst.operands.at(1), ptx::Type::kB64, op);
    return set_operands(op, {operand_of(inst.operands[0], ptx::Type::kPred, op)}, {handle});
  }
  const QueryWord* found = nullptr;
  for (const QueryWord& word : kQueries)
    if (inst.has(word.mod) && (form.surface ? word.surface : word.texture)) found = &word;
  if (!found) fail("this query is not supported");
  form.query = found->query;
  form.of_level = inst.has(Mod::kLevel);
  const Op& object = inst.operands.at(1);
  if (object.kind != OperandKind::kAddress || object.base != ptx::AddressBase::kRegister)
    fail("expected a texture or surface object in a register");
  std::vector<OperandRef> sources{register_operand(object.reg)};
  if (form.of_level) sources.push_back(operand_of(inst.operands.at(2), ptx::Type::kB32, op));
  set_operands(op, {operand_of(inst.operands[0], ptx::Type::kB32, op)}, sources);
}

}  // namespace lockstep::exec
