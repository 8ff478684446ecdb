#include "libraries/blas/gemm.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "libraries/blas/context.hpp"
#include "libraries/blas/half.hpp"

namespace lockstep::libraries::blas {
namespace {

constexpr GemmTile kFrom128[] = {{128, 128, 256}, {64, 64, 256}, {32, 32, 64}},
                   kFrom64[] = {{64, 64, 256}, {32, 32, 64}}, kComplex[] = {{64, 64, 256}, {32, 32, 256}},
                   kTensor[] = {{128, 128, 256}, {64, 64, 128}}, kMma[] = {{128, 128, 128}, {64, 64, 128}};

// Where there is a choice, the first that the device's architecture has.
constexpr GemmKind kKinds[] = {
    {"f32", "f32", kReal32, kReal32, kReal32, 0, kFrom128},
    {"f64", "f64", kReal64, kReal64, kReal64, 0, kFrom64},
    {"c32", "c32", kComplex32, kComplex32, kComplex32, 0, kComplex},
    {"c64", "c64", kComplex64, kComplex64, kComplex64, 0, kComplex},
    {"f16_sm80", "f16_sm80", kReal16, kReal16, kReal32, 80, kMma, true},
    {"f16_sm80", "f16_sm80", kReal16, kReal32, kReal32, 80, kMma, true},
    {"f16", "f16", kReal16, kReal16, kReal32, 0, kTensor, true},
    {"f16", "f16", kReal16, kReal32, kReal32, 0, kTensor, true},
    {"bf16_sm80", "bf16_sm80", kBfloat16, kBfloat16, kReal32, 80, kMma, true},
    {"bf16_sm80", "bf16_sm80", kBfloat16, kReal32, kReal32, 80, kMma, true},
    {"bf16", "bf16", kBfloat16, kBfloat16, kReal32, 0, kFrom64},
    {"bf16f32", "bf16", kBfloat16, kReal32, kReal32, 0, kFrom64},
    {"i8", "i8", kInt8, kInt32, kInt32, 0, kFrom64},
    {"i8f32", "i8", kInt8, kReal32, kReal32, 0, kFrom64},
};

std::int64_t blocks(std::int64_t size, std::int64_t block) { return (size + block - 1) / block; }

/// The largest tile that keeps every multiprocessor busy, and is not mostly empty.
const GemmTile& tile_for(std::span<const GemmTile> tiles, const GemmArguments& g, int multiprocessors) {
  for (const GemmTile& tile : tiles.first(tiles.size() - 1))
    if (blocks(g.m, tile.rows) * blocks(g.n, tile.columns) * g.batches >= multiprocessors &&
        2 * g.m > tile.rows && 2 * g.n > tile.columns)
      return tile;
  return tiles.back();
}

/// Whether columns of A and B, of elements of 2 bytes, begin at multiples of 16 bytes, as far as the host
/// knows.
bool has_aligned_halves(const GemmArguments& g) {
  constexpr std::int64_t kElements = 8, kBytes = 16;
  const auto aligned = [&](const void* matrix, std::int64_t ld, std::int64_t stride) {
    return ld % kElements == 0 &&
           (g.by_pointers != 0 || ((g.batches == 1 || stride % kElements == 0) &&
                                   reinterpret_cast<std::uintptr_t>(matrix) % kBytes == 0));
  };
  return aligned(g.a, g.lda, g.stride_a) && aligned(g.b, g.ldb, g.stride_b);
}

}  // namespace

const GemmKind* find_gemm(DataType a, DataType c, DataType accumulator, int arch) {
  for (const GemmKind& kind : kKinds)
    if (kind.a == a && kind.c == c && kind.accumulator == accumulator && kind.arch <= arch) return &kind;
  return nullptr;
}

void launch_gemm(Kernels& kernels, const std::string& prefix, std::span<const GemmTile> tiles,
                 const GemmArguments& arguments, int multiprocessors, Stream stream) {
  constexpr std::int64_t kMaxGridY = 65535;
  if (arguments.m == 0 || arguments.n == 0 || arguments.batches == 0) return;
  const GemmTile& tile = tile_for(tiles, arguments, multiprocessors);
  const std::int64_t count = blocks(arguments.m, tile.rows) * blocks(arguments.n, tile.columns);
  if (count > INT_MAX) refuse("a product of more than 2^31 - 1 tiles");
  const Dim3 grid{static_cast<unsigned>(count),
                  static_cast<unsigned>(std::min<std::int64_t>(arguments.batches, kMaxGridY)), 1};
  const std::string name = prefix + "_" + std::to_string(tile.rows);
  kernels.launch(name.c_str(), grid, {static_cast<unsigned>(tile.threads), 1, 1}, 0, stream, arguments);
}

int size_of(std::int64_t size) {
  require(size >= 0);
  if (size > INT_MAX) refuse("a size of more than 2^31 - 1");
  return static_cast<int>(size);
}

Scalar scalar_of(double real, double imaginary) { return {nullptr, real, imaginary, 0}; }

Scalar scalar_of(const Context& context, const void* value, DataType type, bool real_of_complex) {
  require(value != nullptr);
  const int kind = real_of_complex ? kScalarReal : type == kReal16 ? kScalarHalf : kScalarOfSums;
  if (context.on_device()) return {value, 0, 0, kind};
  const auto read = [&]<class T>(T number, std::size_t at = 0) {
    std::memcpy(&number, static_cast<const char*>(value) + at * sizeof number, sizeof number);
    return number;
  };
  switch (type) {
    case kReal16:
      return scalar_of(float_of(read(Half{})));
    case kReal32:
      return scalar_of(read(0.0f));
    case kReal64:
      return scalar_of(read(0.0));
    case kInt32:
      return scalar_of(read(std::int32_t{0}));
    case kComplex32:
      return scalar_of(read(0.0f), read(0.0f, 1));
    case kComplex64:
      return scalar_of(read(0.0), read(0.0, 1));
    default:
      refuse("alpha and beta of type " + std::to_string(type));
  }
}

void gemm(const Context& context, const GemmKind& kind, DataType scale, const GemmCall& call) {
  const auto fits = [](Operation op, std::int64_t ld, std::int64_t rows, std::int64_t columns) {
    require(op == kOpN || op == kOpT || op == kOpC);
    require(ld >= std::max<std::int64_t>(1, op == kOpN ? rows : columns));
  };
  GemmArguments g{};
  g.m = size_of(call.m), g.n = size_of(call.n), g.k = size_of(call.k);
  require(call.batches >= 0 && call.ldc >= std::max<std::int64_t>(1, call.m));
  fits(call.op_a, call.lda, call.m, call.k);
  fits(call.op_b, call.ldb, call.k, call.n);
  g.a = call.a, g.b = call.b, g.c = call.c, g.d = call.c;
  g.lda = call.lda, g.ldb = call.ldb, g.ldc = g.ldd = call.ldc;
  g.stride_a = call.stride_a, g.stride_b = call.stride_b, g.stride_c = g.stride_d = call.stride_c;
  g.batches = call.batches, g.by_pointers = call.by_pointers;
  g.op_a = call.op_a, g.op_b = call.op_b;
  g.triangle = call.triangle, g.real_diagonal = call.hermitian;
  g.alpha = scalar_of(context, call.alpha, scale, call.hermitian);
  g.beta = scalar_of(context, call.beta, scale, call.hermitian);
  launch_gemm(context, kind, g);
}

void launch_gemm(const Context& context, const GemmKind& kind, const GemmArguments& given) {
  GemmArguments arguments = given;
  arguments.float_result = kind.c == kReal32;
  // Elements that are loaded one by one take registers that large tiles need.
  const bool small = kind.tiles.data() == kMma && !has_aligned_halves(given);
  launch_gemm(kernels_of("gemm_" + std::string(kind.file)), "lockstep_blas_gemm_" + std::string(kind.name),
              small ? kind.tiles.last(1) : kind.tiles, arguments, context.multiprocessors, context.stream);
}

}  // namespace lockstep::libraries::blas
