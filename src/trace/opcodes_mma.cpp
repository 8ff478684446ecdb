// Shapes and fragments of the matrix instructions. Source: PTX ISA, "Matrix multiply-accumulate operation"
// (mma.sync, mma.sp, wgmma): every operand is spread evenly over the lanes of the warp or warpgroup.
#include <algorithm>
#include <charconv>

#include "trace/opcodes_modifiers.hpp"

namespace lockstep::trace {
namespace {

constexpr unsigned kWarpgroupLanes = 4 * kWarpSize;

struct Format {
  std::string_view modifier;
  TensorType type;
  unsigned bits;
};
/// What an input format modifier says. F16 and F32 are not here: they may name the accumulator only.
constexpr Format kFormats[] = {
    {"BF16", TensorType::kBf16, 16}, {"TF32", TensorType::kTf32, 32}, {"S8", TensorType::kInt8, 8},
    {"U8", TensorType::kInt8, 8},    {"S4", TensorType::kInt4, 4},    {"U4", TensorType::kInt4, 4},
    {"E4M3", TensorType::kFp8, 8},   {"E5M2", TensorType::kFp8, 8},
};

struct Family {
  std::string_view base;
  TensorType type;
  unsigned bits, accumulator_bits;  // of the form without format modifiers
};
/// OMMA multiplies 4-bit floating point, for which there is no type of its own: it counts as FP8, in twice
/// the time of the hardware.
constexpr Family kFamilies[] = {
    {"BMMA", TensorType::kBinary, 1, 32},  {"DMMA", TensorType::kF64, 64, 64},
    {"HMMA", TensorType::kF16, 16, 32},    {"IMMA", TensorType::kInt8, 8, 32},
    {"QMMA", TensorType::kFp8, 8, 32},     {"OMMA", TensorType::kFp8, 4, 32},
    {"BGMMA", TensorType::kBinary, 1, 32}, {"HGMMA", TensorType::kF16, 16, 32},
    {"IGMMA", TensorType::kInt8, 8, 32},   {"QGMMA", TensorType::kFp8, 8, 32},
};

struct MmaOperands {
  TensorType type = TensorType::kF16;
  unsigned bits = 16, accumulator_bits = 32;
  bool sparse = false;
};

MmaOperands operands_of(const Opcode& opcode) {
  MmaOperands out;
  for (const Family& family : kFamilies)
    if (family.base == opcode.base()) out = {family.type, family.bits, family.accumulator_bits, false};
  for (const std::string_view modifier : opcode)
    for (const Format& format : kFormats)
      if (format.modifier == modifier) {
        out.type = format.type;
        out.bits = format.bits;
      }
  out.sparse = opcode.has("SP");
  const bool half_accumulator = opcode.has("F16") && !opcode.has("F32");
  if (half_accumulator && out.type != TensorType::kF64) out.accumulator_bits = 16;
  if (out.type == TensorType::kF16 && out.accumulator_bits == 32) out.type = TensorType::kF16F32;
  return out;
}

std::uint8_t registers(std::uint64_t elements, unsigned bits, unsigned lanes) {
  const std::uint64_t per_lane = (elements * bits + 32ull * lanes - 1) / (32ull * lanes);
  return static_cast<std::uint8_t>(std::clamp<std::uint64_t>(per_lane, 1, 255));
}

MmaShape shape_of(const MmaOperands& o, std::uint64_t m, std::uint64_t n, std::uint64_t k, unsigned lanes) {
  MmaShape out;
  out.macs = static_cast<std::uint32_t>(m * n * k);
  out.type = o.type;
  out.sparse = o.sparse;
  out.a = registers(o.sparse ? m * k / 2 : m * k, o.bits, lanes);
  out.b = registers(n * k, o.bits, lanes);
  out.c = registers(m * n, o.accumulator_bits, lanes);
  return out;
}

/// "16816" is m16 n8 k16, "884" m8 n8 k4: m is 16 or 8, n is 8, k the rest. Returns k and sets m.
std::optional<std::uint32_t> split(std::string_view digits, std::uint32_t& m) {
  if (digits.starts_with("168")) {
    m = 16;
    digits.remove_prefix(3);
  } else if (digits.starts_with("88")) {
    m = 8;
    digits.remove_prefix(2);
  } else {
    return std::nullopt;
  }
  std::uint32_t k = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), k);
  if (error != std::errc{} || end != digits.data() + digits.size() || k == 0 || k > 1024) return std::nullopt;
  return k;
}

/// Volta's mma.sync.m8n8k4 multiplies four 8x8x4 tiles, one a quad pair: HMMA.884 does it in 4 steps with
/// FP32 accumulators and in 2 with FP16 ones, each writing two registers (Raihan et al., "Modeling deep
/// learning accelerator enabled GPUs", ISPASS 2019).
std::optional<MmaShape> volta_step(const Opcode& opcode) {
  const bool step = std::any_of(opcode.begin(), opcode.end(), [](auto m) { return m.starts_with("STEP"); });
  if (!step || opcode.base() != "HMMA") return std::nullopt;
  MmaShape out;
  out.macs = 8 * 8 * 4 * 4 / (opcode.has("F32") ? 4 : 2);
  out.type = opcode.has("F32") ? TensorType::kF16F32 : TensorType::kF16;
  out.a = out.b = out.c = 2;
  return out;
}

}  // namespace

std::optional<MmaShape> mma_shape(const Opcode& opcode) {
  if (const auto step = volta_step(opcode)) return step;
  for (const std::string_view modifier : opcode) {
    std::uint32_t m = 0;
    if (const auto k = split(modifier, m)) return shape_of(operands_of(opcode), m, 8, *k, kWarpSize);
  }
  return std::nullopt;
}

std::optional<MmaShape> warpgroup_shape(const Opcode& opcode) {
  for (const std::string_view modifier : opcode) {
    std::uint32_t dims[3] = {};
    std::size_t count = 0;
    const char* at = modifier.data();
    const char* const end = at + modifier.size();
    while (count < 3) {
      const auto [next, error] = std::from_chars(at, end, dims[count]);
      if (error != std::errc{} || dims[count] == 0 || dims[count] > 1024) break;
      ++count;
      if (next == end || *next != 'x') {
        at = next;
        break;
      }
      at = next + 1;
    }
    if (count != 3 || at != end) continue;
    return shape_of(operands_of(opcode), dims[0], dims[1], dims[2], kWarpgroupLanes);
  }
  return std::nullopt;
}

}  // namespace lockstep::trace
