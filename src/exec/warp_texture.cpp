// Texture fetches and surface accesses of a warp.
#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/warp_instructions.hpp"

namespace lockstep::exec {

namespace {

float low_float(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

Fetch fetch_of(const WarpState& warp, const TextureForm& form, const OperandRef* sources, std::uint32_t l,
               const Texture& texture) {
  Fetch f;
  f.geometry = form.geometry;
  f.layered = form.layered;
  f.integer = form.integer;
  std::size_t next = 1;  // behind the handle
  const auto value = [&] { return warp.at(sources[next++])->lane[l]; };
  if (form.layered) f.layer = static_cast<std::uint32_t>(value());
  const unsigned count = form.coordinates();
  for (unsigned d = 0; d < count; ++d) {
    const std::uint64_t bits = value();
    if (form.integer)
      f.texel[d] = static_cast<std::int32_t>(bits);
    else
      f.at[d] = low_float(bits);
  }
  if (form.kind == TextureForm::Kind::kLevel) f.level = low_float(value());
  if (form.kind == TextureForm::Kind::kGradient) {
    float gradients[2][3] = {};
    for (auto& gradient : gradients)
      for (unsigned d = 0; d < count; ++d) gradient[d] = low_float(value());
    f.level = level_of(texture, count, gradients[0], gradients[1]);
  }
  return f;
}

/// The texture unit works on four lanes at once. What these read goes into their record sector by sector, one
/// to a lane, so that a quad's lanes are not counted twice for what they share: as many sectors as the quad
/// has active lanes at most.
void note_quad(const std::array<ReadTexels, kLanes>& read, LaneMask active, unsigned first,
               Addresses& where) {
  std::array<Address, 4 * ReadTexels::kMax> sectors{};
  unsigned count = 0;
  for_lanes<std::uint32_t>(active & 0xfu << first, [&](std::uint32_t l) {
    for (unsigned i = 0; i < read[l].count; ++i) {
      const Address sector = read[l].at[i] & ~Address{kSectorBytes - 1};
      if (std::find(sectors.begin(), sectors.begin() + count, sector) == sectors.begin() + count)
        sectors[count++] = sector;
    }
  });
  unsigned next = 0;
  if (count > 0)
    for_lanes<std::uint32_t>(active & 0xfu << first,
                             [&](std::uint32_t l) { where.lane[l] = sectors[next++ % count]; });
}

/// Lanes that read a texel each have its address; what several lanes filter, note_quad() shares out. A quad
/// that reads nothing (outside, in the border) has the image's first byte.
void note_texels(WarpState& warp, const std::array<ReadTexels, kLanes>& read, LaneMask active,
                 const Addresses& image) {
  Addresses where = image;
  bool single = true;
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) { single &= read[l].count == 1; });
  if (single) {
    for_lanes<std::uint32_t>(active, [&](std::uint32_t l) { where.lane[l] = read[l].at[0]; });
  } else {
    for (unsigned first = 0; first < kLanes; first += 4) note_quad(read, active, first, where);
  }
  warp.note(active, where);
}

void fetch_texels(WarpState& warp, const TextureForm& form, const Operation& op, LaneMask active) {
  const OperandRef* const results = warp.operands + op.operands;
  const OperandRef* const sources = results + op.destinations;
  Addresses images{};
  std::array<ReadTexels, kLanes> read;
  LaneValues values[4];
  const Texture* texture = nullptr;
  std::uint64_t last = 0;  // the handle that `texture` belongs to
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    const std::uint64_t handle = warp.at(sources[0])->lane[l];
    if (!texture || handle != last)
      texture = warp.machine->options.textures ? warp.machine->options.textures->texture(handle) : nullptr;
    last = handle;
    if (!texture)
      warp.fault(FaultKind::kIllegalInstruction, LaneMask{1} << l, handle, "no such texture object");
    const Fetch f = fetch_of(warp, form, sources, l, *texture);
    Address bad = 0;
    const auto texels = form.kind == TextureForm::Kind::kGather
                            ? gather(*texture, f, form.channel, warp.machine->view, bad, &read[l])
                            : fetch(*texture, f, warp.machine->view, bad, &read[l]);
    if (bad != 0) warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, bad, "a texel");
    images.lane[l] = texture->levels[0].data;
    for (unsigned c = 0; c < 4; ++c) values[c].lane[l] = texels[c];
  });
  if (warp.record) note_texels(warp, read, active, images);
  for (unsigned c = 0; c < std::min<unsigned>(op.destinations, 4); ++c)
    if (results[c].exists())
      for_lanes<std::uint32_t>(active,
                               [&](std::uint32_t l) { warp.at(results[c])->lane[l] = values[c].lane[l]; });
}

/// The address of a lane's element, or 0 if it is out of bounds and the form ignores that.
Address surface_address(WarpState& warp, const TextureForm& form, const OperandRef* sources,
                        std::uint32_t l) {
  const std::uint64_t handle = warp.at(sources[0])->lane[l];
  const Image* const image =
      warp.machine->options.textures ? warp.machine->options.textures->surface(handle) : nullptr;
  if (!image) warp.fault(FaultKind::kIllegalInstruction, LaneMask{1} << l, handle, "no such surface object");
  std::size_t next = 1;
  const auto value = [&] {
    return std::int64_t{static_cast<std::int32_t>(warp.at(sources[next++])->lane[l])};
  };
  const std::uint32_t size = std::uint32_t{form.bytes} * form.elements;
  const std::int64_t layer = form.layered ? value() : 0;
  std::int64_t at_coordinate[3] = {};
  for (unsigned d = 0; d < form.coordinates(); ++d) at_coordinate[d] = value();
  const bool cube = form.geometry == Geometry::kCube, volume = form.geometry == Geometry::k3D;
  const std::int64_t limit[4] = {std::int64_t{image->width} * image->format.bytes() - size + 1, image->height,
                                 cube     ? 6
                                 : volume ? image->depth
                                          : 1,
                                 image->layers / (cube ? 6 : 1)};
  std::int64_t place[4] = {at_coordinate[0], at_coordinate[1], at_coordinate[2], layer};
  for (unsigned d = 0; d < 4; ++d) {
    if (d == 3 && !form.layered) continue;
    if (place[d] >= 0 && place[d] < limit[d]) continue;
    if (form.outside == TextureForm::Outside::kTrap)
      warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, image->data, "outside the surface");
    if (form.outside == TextureForm::Outside::kZero) return 0;
    place[d] = std::clamp<std::int64_t>(place[d], 0, std::max<std::int64_t>(limit[d] - 1, 0));
  }
  if (place[0] % form.bytes != 0)
    warp.fault(FaultKind::kMisalignedAddress, LaneMask{1} << l, image->data, "x in bytes");
  const std::int64_t slice = place[2] + place[3] * (cube ? 6 : 1);
  const Address address = image->data + static_cast<std::uint64_t>(slice) * image->slice_pitch +
                          static_cast<std::uint64_t>(place[1]) * image->row_pitch +
                          static_cast<std::uint64_t>(place[0]);
  if (!warp.machine->view.accessible(address, size))
    warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, address, {});
  return address;
}

void access_surface(WarpState& warp, const TextureForm& form, const Operation& op, LaneMask active) {
  const OperandRef* const results = warp.operands + op.operands;
  const OperandRef* const sources = results + op.destinations;
  const OperandRef* const values =
      sources + op.sources - (form.kind == TextureForm::Kind::kLoad ? 0 : form.elements);
  Addresses where{};
  LaneMask inside = 0;
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    where.lane[l] = surface_address(warp, form, sources, l);
    if (where.lane[l] != 0) inside |= LaneMask{1} << l;
  });
  if (warp.record) warp.note(inside, where);
  if (warp.machine->check && form.kind != TextureForm::Kind::kLoad)
    for_lanes<std::uint32_t>(inside, [&](std::uint32_t l) {
      warp.machine->memory.wrote(where.lane[l], std::uint64_t{form.elements} * form.bytes);
    });
  for (unsigned i = 0; i < form.elements; ++i)
    for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
      auto* const element = reinterpret_cast<std::byte*>(where.lane[l]) + i * form.bytes;
      const bool in = (inside >> l & 1) != 0;
      std::uint64_t bits = 0;
      if (in) std::memcpy(&bits, element, form.bytes);
      if (form.kind == TextureForm::Kind::kLoad) {
        if (results[i].exists()) warp.at(results[i])->lane[l] = bits;
        return;
      }
      if (!in) return;
      const std::uint64_t given = warp.at(values[i])->lane[l];
      bits = form.kind == TextureForm::Kind::kStore ? given : form.fn(bits, given, given);
      std::memcpy(element, &bits, form.bytes);
    });
}

// "PTX ISA 9.0", 5.3.2 channel data type and channel order fields.
constexpr std::uint64_t kSignedInt8 = 0x10d7, kUnsignedInt8 = 0x10da, kHalfFloat = 0x10dd, kFloat32 = 0x10de;
constexpr std::uint64_t kOrderR = 0x10b0, kOrderRg = 0x10b2, kOrderRgba = 0x10b5;

std::uint64_t channel_type(const TexelFormat& format) {
  if (format.kind == TexelKind::kFloat) return format.bits == 16 ? kHalfFloat : kFloat32;
  const std::uint64_t width = format.bits == 8 ? 0 : format.bits == 16 ? 1 : 2;
  return (format.kind == TexelKind::kSigned ? kSignedInt8 : kUnsignedInt8) + width;
}

/// "PTX ISA 9.0", 9.7.11.3 txq: wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border.
std::uint64_t address_mode(AddressMode mode) {
  switch (mode) {
    case AddressMode::kWrap:
      return 0;
    case AddressMode::kMirror:
      return 1;
    case AddressMode::kClamp:
      return 3;
    default:
      return 4;
  }
}

/// What both kinds of objects have.
std::uint64_t image_value(TextureForm::Query query, const Image& image) {
  using Query = TextureForm::Query;
  switch (query) {
    case Query::kWidth:
      return image.width;
    case Query::kHeight:
      return image.height;
    case Query::kDepth:
      return image.depth;
    case Query::kLayers:
      return image.layers;
    case Query::kChannelType:
      return channel_type(image.format);
    case Query::kChannelOrder:
      return image.format.channels == 1 ? kOrderR : image.format.channels == 2 ? kOrderRg : kOrderRgba;
    default:
      return 0;  // kMemoryLayout: surfaces are arrays, never linear memory
  }
}

std::uint64_t texture_value(TextureForm::Query query, const Texture& texture, const Image& image) {
  using Query = TextureForm::Query;
  switch (query) {
    case Query::kLevels:
      return texture.levels.size();
    case Query::kNormalized:
      return texture.normalized_coordinates;
    case Query::kFilter:
      return texture.linear_filter;
    case Query::kAddress0:
    case Query::kAddress1:
    case Query::kAddress2:
      return address_mode(
          texture.address[static_cast<unsigned>(query) - static_cast<unsigned>(Query::kAddress0)]);
    default:
      return image_value(query, image);
  }
}

void query_image(WarpState& warp, const TextureForm& form, const Operation& op, LaneMask active) {
  using Query = TextureForm::Query;
  const OperandRef* const result = warp.operands + op.operands;
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    const std::uint64_t handle = warp.at(result[1])->lane[l];
    const TextureTable* const table = warp.machine->options.textures;
    const Texture* const texture = table ? table->texture(handle) : nullptr;
    const Image* const surface = table ? table->surface(handle) : nullptr;
    std::uint64_t value = 0;
    if (form.query >= Query::kIsTexture) {
      value = form.query == Query::kIsTexture   ? texture != nullptr
              : form.query == Query::kIsSurface ? surface != nullptr
                                                : 0;
    } else if (form.surface ? surface == nullptr : texture == nullptr) {
      warp.fault(FaultKind::kIllegalInstruction, LaneMask{1} << l, handle,
                 "no such texture or surface object");
    } else if (form.surface) {
      value = image_value(form.query, *surface);
    } else {
      const std::uint64_t level = form.of_level ? static_cast<std::uint32_t>(warp.at(result[2])->lane[l]) : 0;
      if (level >= texture->levels.size())
        warp.fault(FaultKind::kIllegalInstruction, LaneMask{1} << l, handle, "no such level");
      value = texture_value(form.query, *texture, texture->levels[level]);
    }
    if (result[0].exists()) warp.at(result[0])->lane[l] = value;
  });
}

}  // namespace

void execute_texture(WarpState& warp, const Operation& op, LaneMask active) {
  const TextureForm& form = warp.machine->kernel.textures()[op.detail];
  switch (form.kind) {
    case TextureForm::Kind::kQuery:
      if (warp.record) warp.note(active);
      return query_image(warp, form, op, active);
    case TextureForm::Kind::kLoad:
    case TextureForm::Kind::kStore:
    case TextureForm::Kind::kReduce:
      return access_surface(warp, form, op, active);
    default:
      return fetch_texels(warp, form, op, active);
  }
}

}  // namespace lockstep::exec
