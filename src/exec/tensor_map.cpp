#include "exec/tensor_map.hpp"

#include <cstring>

namespace lockstep::exec {

using ptx::Type;

namespace {

constexpr std::uint64_t kMagic = 0x70616d726f736e74;  // "tnsormap"

/// The object in memory. Its second word has no meaning: CUTLASS clears bit 21 of it
/// (copy_traits_sm90_tma.hpp of CUTLASS 4: for drivers up to 13.1, of maps of tensors below 128 KiB), where
/// NVIDIA's drivers keep no address.
struct Packed {
  std::uint64_t magic = kMagic;
  std::uint64_t unused = 0;
  std::uint64_t address = 0;
  std::uint64_t strides[kMaxTensorRank - 1] = {};
  std::uint64_t dims[kMaxTensorRank] = {};
  std::uint16_t box[kMaxTensorRank] = {};
  std::uint8_t step[kMaxTensorRank] = {};
  std::uint8_t type = 0, rank = 0, swizzle = 0;
  std::uint16_t pixels = 0;
  std::int16_t lower[kMaxTensorRank - 2] = {}, upper[kMaxTensorRank - 2] = {};
};
static_assert(sizeof(Packed) <= kTensorMapBytes);

constexpr std::uint64_t kMaxDim = std::uint64_t{1} << 32, kMaxStride = std::uint64_t{1} << 40;
constexpr std::uint32_t kMaxBox = 256, kMaxStep = 8, kUnit = 16, kMaxPixels = 1024;
constexpr std::int32_t kMaxCorner[] = {32768, 128, 16};  // with one, two, three dimensions

// CUtensorMapDataType of cuda.h.
constexpr Type kTypes[] = {Type::kU8,  Type::kU16,  Type::kU32, Type::kS32, Type::kU64,
                           Type::kS64, Type::kF16,  Type::kF32, Type::kF64, Type::kBf16,
                           Type::kF32, Type::kTf32, Type::kTf32};
// "PTX ISA 9.0", 9.7.9.28 tensormap.replace: values of .elemtype.
constexpr Type kReplacedTypes[] = {Type::kU8,   Type::kU16,  Type::kU32, Type::kS32, Type::kU64,
                                   Type::kS64,  Type::kF16,  Type::kF32, Type::kF32, Type::kF64,
                                   Type::kBf16, Type::kTf32, Type::kTf32};

}  // namespace

std::optional<Type> tensor_type(unsigned number) {
  if (number >= std::size(kTypes)) return std::nullopt;
  return kTypes[number];
}

/// Corners within their limits, and a position between them. cuda.h, cuTensorMapEncodeIm2col.
bool TensorMap::valid_im2col() const {
  if (rank < 3 || pixels > kMaxPixels) return false;
  const std::int32_t most = kMaxCorner[rank - 3];
  for (unsigned d = 1; d + 1 < rank; ++d) {
    if (lower[d] < -most || lower[d] >= most || upper[d] < -most || upper[d] >= most) return false;
    if (static_cast<std::int64_t>(dim[d]) - 1 + upper[d] < lower[d]) return false;
  }
  return true;
}

bool TensorMap::valid() const {
  if (is_im2col() && !valid_im2col()) return false;
  if (rank == 0 || rank > kMaxTensorRank || swizzle_bits > 3 || address % kUnit != 0) return false;
  if (row_bytes() % kUnit != 0 || step[0] != 1) return false;
  if (swizzle_bits != 0 && row_bytes() > kUnit << swizzle_bits) return false;
  for (unsigned d = 0; d < rank; ++d) {
    const bool fits = dim[d] != 0 && dim[d] <= kMaxDim && box[d] != 0 && box[d] <= kMaxBox && step[d] != 0 &&
                      step[d] <= kMaxStep;
    if (!fits || (d > 0 && (stride[d] % kUnit != 0 || stride[d] >= kMaxStride))) return false;
  }
  return true;
}

void TensorMap::pack(std::byte* to) const {
  Packed p;
  p.address = address;
  for (unsigned d = 0; d < kMaxTensorRank; ++d) {
    if (d > 0) p.strides[d - 1] = stride[d];
    p.dims[d] = dim[d];
    p.box[d] = static_cast<std::uint16_t>(box[d]);
    p.step[d] = static_cast<std::uint8_t>(step[d]);
  }
  p.type = static_cast<std::uint8_t>(type);
  p.rank = static_cast<std::uint8_t>(rank);
  p.swizzle = static_cast<std::uint8_t>(swizzle_bits);
  p.pixels = static_cast<std::uint16_t>(pixels);
  for (unsigned d = 1; d + 1 < kMaxTensorRank; ++d) {
    p.lower[d - 1] = static_cast<std::int16_t>(lower[d]);
    p.upper[d - 1] = static_cast<std::int16_t>(upper[d]);
  }
  std::memset(to, 0, kTensorMapBytes);
  std::memcpy(to, &p, sizeof p);
}

std::optional<TensorMap> TensorMap::unpack(const std::byte* from) {
  Packed p;
  std::memcpy(&p, from, sizeof p);
  if (p.magic != kMagic || p.rank == 0 || p.rank > kMaxTensorRank) return std::nullopt;
  bool known = false;
  for (const Type t : kTypes) known |= p.type == static_cast<std::uint8_t>(t);
  if (!known) return std::nullopt;
  TensorMap map;
  map.type = static_cast<Type>(p.type);
  map.rank = p.rank;
  map.swizzle_bits = p.swizzle;
  map.address = p.address;
  map.stride[0] = map.element_bytes();
  for (unsigned d = 0; d < p.rank; ++d) {  // the others keep one element
    if (d > 0) map.stride[d] = p.strides[d - 1];
    map.dim[d] = p.dims[d];
    map.box[d] = p.box[d];
    map.step[d] = d == 0 ? 1 : p.step[d];
  }
  map.pixels = p.pixels;
  for (unsigned d = 1; map.is_spatial(d); ++d) {
    map.lower[d] = p.lower[d - 1];
    map.upper[d] = p.upper[d - 1];
  }
  if (!map.valid()) return std::nullopt;
  return map;
}

bool replace_tensor_field(std::byte* object, TensorField field, unsigned number, std::uint64_t value) {
  Packed p;
  std::memcpy(&p, object, sizeof p);
  if (p.magic != kMagic || number >= kMaxTensorRank) return false;
  switch (field) {
    case TensorField::kAddress:
      p.address = value;
      break;
    case TensorField::kRank:
      if (value >= kMaxTensorRank) return false;
      p.rank = static_cast<std::uint8_t>(value + 1);
      break;
    case TensorField::kBox:
      if (value > kMaxBox || p.pixels != 0) return false;
      p.box[number] = static_cast<std::uint16_t>(value);
      break;
    case TensorField::kDim:
      p.dims[number] = value;
      break;
    case TensorField::kStride:
      if (number + 1 >= kMaxTensorRank) return false;
      p.strides[number] = value;
      break;
    case TensorField::kStep:
      if (value > kMaxStep) return false;
      p.step[number] = static_cast<std::uint8_t>(value);
      break;
    case TensorField::kType:
      if (value >= std::size(kReplacedTypes)) return false;
      p.type = static_cast<std::uint8_t>(kReplacedTypes[value]);
      break;
    case TensorField::kSwizzle:
      if (value > 3) return false;
      p.swizzle = static_cast<std::uint8_t>(value);
      break;
    case TensorField::kInterleave:
    case TensorField::kFill:
      return value == 0;
  }
  std::memcpy(object, &p, sizeof p);
  return true;
}

}  // namespace lockstep::exec
