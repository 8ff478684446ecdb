#include "exec/alu_fragment.hpp"

#include <span>

namespace lockstep::exec {
namespace {

using ptx::Type;

/// Shapes by the types of the multiplicands.
struct ShapeRow {
  Type type;
  ptx::Shape shape;
};
constexpr ptx::Shape kM16n16k16{16, 16, 16}, kM32n8k16{32, 8, 16}, kM8n32k16{8, 32, 16};
constexpr ShapeRow kWmma[] = {
    {Type::kF16, kM16n16k16},   {Type::kF16, kM32n8k16},  {Type::kF16, kM8n32k16}, {Type::kBf16, kM16n16k16},
    {Type::kBf16, kM32n8k16},   {Type::kBf16, kM8n32k16}, {Type::kS8, kM16n16k16}, {Type::kS8, kM32n8k16},
    {Type::kS8, kM8n32k16},     {Type::kU8, kM16n16k16},  {Type::kU8, kM32n8k16},  {Type::kU8, kM8n32k16},
    {Type::kTf32, {16, 16, 8}}, {Type::kF64, {8, 8, 4}},  {Type::kS4, {8, 8, 32}}, {Type::kU4, {8, 8, 32}},
    {Type::kB1, {8, 8, 128}},
};
constexpr ShapeRow kMma[] = {
    {Type::kF16, {16, 8, 8}},   {Type::kF16, {16, 8, 16}},  {Type::kBf16, {16, 8, 8}},
    {Type::kBf16, {16, 8, 16}}, {Type::kTf32, {16, 8, 4}},  {Type::kTf32, {16, 8, 8}},
    {Type::kF64, {8, 8, 4}},    {Type::kF64, {16, 8, 4}},   {Type::kF64, {16, 8, 8}},
    {Type::kF64, {16, 8, 16}},  {Type::kS8, {8, 8, 16}},    {Type::kS8, {16, 8, 16}},
    {Type::kS8, {16, 8, 32}},   {Type::kU8, {8, 8, 16}},    {Type::kU8, {16, 8, 16}},
    {Type::kU8, {16, 8, 32}},   {Type::kS4, {8, 8, 32}},    {Type::kS4, {16, 8, 32}},
    {Type::kS4, {16, 8, 64}},   {Type::kU4, {8, 8, 32}},    {Type::kU4, {16, 8, 32}},
    {Type::kU4, {16, 8, 64}},   {Type::kB1, {8, 8, 128}},   {Type::kB1, {16, 8, 128}},
    {Type::kB1, {16, 8, 256}},  {Type::kE4m3, {16, 8, 16}}, {Type::kE4m3, {16, 8, 32}},
    {Type::kE5m2, {16, 8, 16}}, {Type::kE5m2, {16, 8, 32}},
};

constexpr ShapeRow kSparse[] = {
    {Type::kF16, {16, 8, 16}},  {Type::kF16, {16, 8, 32}}, {Type::kBf16, {16, 8, 16}},
    {Type::kBf16, {16, 8, 32}}, {Type::kTf32, {16, 8, 8}}, {Type::kTf32, {16, 8, 16}},
    {Type::kS8, {16, 8, 32}},   {Type::kS8, {16, 8, 64}},  {Type::kU8, {16, 8, 32}},
    {Type::kU8, {16, 8, 64}},   {Type::kS4, {16, 8, 64}},  {Type::kS4, {16, 8, 128}},
    {Type::kU4, {16, 8, 64}},   {Type::kU4, {16, 8, 128}}, {Type::kE4m3, {16, 8, 64}},
    {Type::kE5m2, {16, 8, 64}},
};

bool has_shape(std::span<const ShapeRow> rows, ptx::Shape shape, MatrixRole role, Type type) {
  for (const ShapeRow& row : rows)
    if (row.shape == shape && (role == MatrixRole::kAccumulator || row.type == type)) return true;
  return false;
}

std::optional<Fragment> fragment(std::span<const ShapeRow> rows, MatrixRole role, ptx::Shape shape,
                                 Type type) {
  if (!has_shape(rows, shape, role, type)) return std::nullopt;
  Fragment out{role, shape.m, shape.n, static_cast<int>(ptx::bits(type)), 0};
  if (role == MatrixRole::kA) out.columns = shape.k;
  if (role == MatrixRole::kB) out.rows = shape.k;
  const bool sum = type == Type::kF16 || type == Type::kF32 || type == Type::kS32 || type == Type::kF64;
  if (role == MatrixRole::kAccumulator && !sum) return std::nullopt;
  out.registers = out.distinct();
  return out;
}

}  // namespace

std::optional<Fragment> wmma_fragment(MatrixRole role, ptx::Shape shape, Type type) {
  std::optional<Fragment> out = fragment(kWmma, role, shape, type);
  // PTX gives f16 multiplicands eight registers in every shape.
  if (out && role != MatrixRole::kAccumulator && type == Type::kF16) out->registers = 8;
  return out;
}

std::optional<Fragment> mma_fragment(MatrixRole role, ptx::Shape shape, Type type) {
  return fragment(kMma, role, shape, type);
}

std::optional<Fragment> sparse_fragment(MatrixRole role, ptx::Shape shape, Type type) {
  std::optional<Fragment> out = fragment(kSparse, role, shape, type);
  if (out && role == MatrixRole::kA) {
    out->columns /= 2;
    out->registers = out->distinct();
  }
  return out;
}

}  // namespace lockstep::exec
