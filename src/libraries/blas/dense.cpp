#include "libraries/blas/dense.hpp"

#include <algorithm>

namespace lockstep::libraries::blas {
namespace {

constexpr std::int64_t kBlock = 32;  // unknowns that one kernel solves for
constexpr std::int64_t kMaxGridY = 65535;

/// The base of solve_triangular(): at most kBlock unknowns.
void solve_block(const Context& context, const Solution& s) {
  SolveArguments g{};
  g.a = s.a.base(), g.b = s.b.base();
  g.lda = s.a.ld, g.ldb = s.b.ld, g.stride_a = s.a.step(), g.stride_b = s.b.step();
  g.batches = s.batches, g.by_pointers = s.a.by_pointers;
  g.size = static_cast<int>(s.right ? s.n : s.m), g.vectors = static_cast<int>(s.right ? s.m : s.n);
  g.along_rows = s.right, g.unit = s.unit;
  g.across = s.right == (s.op == kOpN), g.conjugated = s.op == kOpC;
  g.lower = (s.triangle == kLowerTriangle) != (g.across != 0);
  g.alpha = s.alpha;
  const Dim3 grid{blocks_of(g.vectors, kBlock), static_cast<unsigned>(std::min(s.batches, kMaxGridY))};
  launch_typed(context, "matrix", "solve", s.type, grid, g);
}

/// B := 0, where alpha is zero: A is not read.
void clear(const Context& context, const Solution& s) {
  Product p{.type = s.type, .m = s.m, .n = s.n};
  p.a = p.b = p.c = s.b, p.batches = s.batches;
  multiply(context, p);
}

/// B's other part without what the solved part contributes.
void subtract_solved(const Context& context, const Solution& s, std::int64_t solved, std::int64_t other,
                     std::int64_t solved_size, std::int64_t other_size) {
  const bool plain = s.op == kOpN;
  // Of op(A): rows `other`, columns `solved` on the left; the other way round on the right.
  const std::int64_t row = s.right ? solved : other, column = s.right ? other : solved;
  const MatrixRef a = plain ? s.a.at(row, column) : s.a.at(column, row);
  Product p{.type = s.type, .alpha = scalar_of(-1.0), .beta = s.alpha, .batches = s.batches};
  p.k = solved_size;
  if (s.right) {
    p.m = s.m, p.n = other_size;
    p.op_a = kOpN, p.a = s.b.at(0, solved);
    p.op_b = s.op, p.b = a;
    p.c = s.b.at(0, other);
  } else {
    p.m = other_size, p.n = s.n;
    p.op_a = s.op, p.a = a;
    p.op_b = kOpN, p.b = s.b.at(solved, 0);
    p.c = s.b.at(other, 0);
  }
  multiply(context, p);
}

}  // namespace

const char* suffix_of(DataType type) {
  switch (type) {
    case kReal32:
      return "f32";
    case kReal64:
      return "f64";
    case kComplex32:
      return "c32";
    default:
      return "c64";
  }
}
std::size_t bytes_of(DataType type) { return type == kReal32 ? 4 : type == kComplex64 ? 16 : 8; }

void multiply(const Context& context, const Product& p) {
  GemmArguments g{};
  g.a = p.a.base(), g.b = p.b.base(), g.c = g.d = p.c.base();
  g.lda = p.a.ld, g.ldb = p.b.ld, g.ldc = g.ldd = p.c.ld;
  g.stride_a = p.a.step(), g.stride_b = p.b.step(), g.stride_c = g.stride_d = p.c.step();
  g.batches = p.batches, g.by_pointers = p.c.by_pointers;
  g.m = size_of(p.m), g.n = size_of(p.n), g.k = size_of(p.k);
  g.op_a = p.op_a, g.op_b = p.op_b;
  g.triangle = p.triangle, g.real_diagonal = p.real_diagonal;
  g.alpha = p.alpha, g.beta = p.beta;
  launch_gemm(context, *find_gemm(p.type, p.type, p.type, context.arch), g);
}

void solve_triangular(const Context& context, const Solution& s) {
  const std::int64_t size = s.right ? s.n : s.m;
  if (s.m == 0 || s.n == 0 || s.batches == 0) return;
  if (s.alpha.pointer == nullptr && s.alpha.real == 0 && s.alpha.imaginary == 0) return clear(context, s);
  if (size <= kBlock) return solve_block(context, s);
  // Half of the unknowns, then the other half: which is first depends on the triangle of op(A).
  const std::int64_t half = (size + 2 * kBlock - 1) / (2 * kBlock) * kBlock, rest = size - half;
  const bool lower = (s.triangle == kLowerTriangle) == (s.op == kOpN), forward = lower != s.right;
  const auto part = [&](std::int64_t first, std::int64_t count, Scalar alpha) {
    Solution one = s;
    (s.right ? one.n : one.m) = count;
    one.a = s.a.at(first, first);
    one.b = s.right ? s.b.at(0, first) : s.b.at(first, 0);
    one.alpha = alpha;
    solve_triangular(context, one);
  };
  part(forward ? 0 : half, forward ? half : rest, s.alpha);
  if (forward)
    subtract_solved(context, s, 0, half, half, rest);
  else
    subtract_solved(context, s, half, 0, rest, half);
  part(forward ? half : 0, forward ? rest : half, scalar_of(1.0));
}

void add_matrices(const Context& context, DataType type, const MatrixArguments& g) {
  launch_typed(context, "matrix", "geam", type, {blocks_of(g.m, kBlock) * blocks_of(g.n, kBlock)}, g);
}

}  // namespace lockstep::libraries::blas
