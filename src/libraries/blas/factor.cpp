#include "libraries/blas/factor.hpp"

#include <algorithm>

#include "libraries/blas/factor_arguments.hpp"

namespace lockstep::libraries::blas {
namespace {

constexpr std::int64_t kPanel = 32, kThreads = 256, kMaxGridY = 65535;

PanelArguments panel_of(const Factors& f, std::int64_t first, std::int64_t rows, std::int64_t columns) {
  const MatrixRef part = f.a.at(first, first);
  PanelArguments p{};
  p.a = part.base(), p.lda = part.ld, p.stride_a = part.step(), p.by_pointers = part.by_pointers;
  p.rows = size_of(rows), p.columns = size_of(columns), p.first = size_of(first);
  p.pivots = f.pivots, p.stride_pivots = f.stride_pivots, p.info = f.info;
  return p;
}

void swap_rows(const Context& context, const Factors& f, const MatrixRef& a, std::int64_t columns,
               std::int64_t first, std::int64_t count, bool backward) {
  if (f.pivots == nullptr || columns == 0) return;
  SwapArguments s{};
  s.a = a.base(), s.lda = a.ld, s.stride_a = a.step(), s.by_pointers = a.by_pointers;
  s.columns = size_of(columns), s.first = size_of(first), s.count = size_of(count), s.backward = backward;
  s.pivots = f.pivots, s.stride_pivots = f.stride_pivots, s.batches = f.batches;
  launch_typed(context, "factor", "swap_rows", f.type,
               {blocks_of(columns, kThreads), static_cast<unsigned>(std::min(f.batches, kMaxGridY))}, s);
}

/// What a solution with part of the factors has in common with all others.
Solution solution_of(const Factors& f, const MatrixRef& a, const MatrixRef& b, std::int64_t m,
                     std::int64_t n) {
  Solution s{.type = f.type};
  s.a = a, s.b = b, s.m = m, s.n = n, s.alpha = scalar_of(1.0), s.batches = f.batches;
  return s;
}

void clear_info(const Context& context, const Factors& f) {
  if (f.info == nullptr || f.batches == 0) return;
  check(
      runtime().cudaMemsetAsync(f.info, 0, static_cast<std::size_t>(f.batches) * sizeof(int), context.stream),
      "cudaMemsetAsync");
}

Operation adjoint(DataType type) { return type == kReal32 || type == kReal64 ? kOpT : kOpC; }

}  // namespace

void factor_lu(const Context& context, const Factors& f, std::int64_t m, std::int64_t n) {
  const std::int64_t all = std::min(m, n);
  clear_info(context, f);
  if (f.batches == 0) return;
  for (std::int64_t j = 0; j < all; j += kPanel) {
    const std::int64_t count = std::min(kPanel, all - j), next = j + count;
    launch_typed(context, "factor", "lu_panel", f.type, {static_cast<unsigned>(f.batches)},
                 panel_of(f, j, m - j, count));
    swap_rows(context, f, f.a, j, j, count, false);
    swap_rows(context, f, f.a.at(0, next), n - next, j, count, false);
    Solution upper = solution_of(f, f.a.at(j, j), f.a.at(j, next), count, n - next);
    upper.unit = true;
    solve_triangular(context, upper);
    Product rest{.type = f.type, .m = m - next, .n = n - next, .k = count};
    rest.a = f.a.at(next, j), rest.b = f.a.at(j, next), rest.c = f.a.at(next, next);
    rest.alpha = scalar_of(-1.0), rest.beta = scalar_of(1.0), rest.batches = f.batches;
    multiply(context, rest);
  }
}

void solve_lu(const Context& context, const Factors& f, Operation op, std::int64_t n, const MatrixRef& b,
              std::int64_t count) {
  Solution lower = solution_of(f, f.a, b, n, count), upper = lower;
  lower.unit = true, lower.op = upper.op = op;
  upper.triangle = kUpperTriangle;
  if (op == kOpN) {
    swap_rows(context, f, b, count, 0, n, false);
    solve_triangular(context, lower);
    solve_triangular(context, upper);
  } else {
    solve_triangular(context, upper);
    solve_triangular(context, lower);
    swap_rows(context, f, b, count, 0, n, true);
  }
}

void factor_cholesky(const Context& context, const Factors& f, int triangle, std::int64_t n) {
  const bool lower = triangle == kLowerTriangle;
  clear_info(context, f);
  if (f.batches == 0) return;
  for (std::int64_t j = 0; j < n; j += kPanel) {
    const std::int64_t count = std::min(kPanel, n - j), next = j + count, left = n - next;
    PanelArguments block = panel_of(f, j, count, count);
    block.lower = lower;
    launch_typed(context, "factor", "cholesky", f.type, {static_cast<unsigned>(f.batches)}, block);
    const MatrixRef side = lower ? f.a.at(next, j) : f.a.at(j, next);
    Solution s = solution_of(f, f.a.at(j, j), side, lower ? left : count, lower ? count : left);
    s.right = lower, s.triangle = triangle, s.op = adjoint(f.type);
    solve_triangular(context, s);
    Product rest{.type = f.type, .m = left, .n = left, .k = count};
    rest.a = rest.b = side, rest.c = f.a.at(next, next);
    (lower ? rest.op_b : rest.op_a) = adjoint(f.type);
    rest.triangle = triangle, rest.real_diagonal = true;
    rest.alpha = scalar_of(-1.0), rest.beta = scalar_of(1.0), rest.batches = f.batches;
    multiply(context, rest);
  }
}

void solve_cholesky(const Context& context, const Factors& f, int triangle, std::int64_t n,
                    const MatrixRef& b, std::int64_t count) {
  Solution s = solution_of(f, f.a, b, n, count);
  s.triangle = triangle;
  const Operation first = triangle == kLowerTriangle ? kOpN : adjoint(f.type);
  for (const Operation op : {first, first == kOpN ? adjoint(f.type) : kOpN}) {
    s.op = op;
    solve_triangular(context, s);
  }
}

void find_zeros(const Context& context, const Factors& f, std::int64_t n) {
  launch_typed(context, "factor", "find_zero", f.type, {static_cast<unsigned>(f.batches)},
               panel_of(f, 0, n, n));
}

void set_identity(const Context& context, DataType type, const MatrixRef& a, std::int64_t m, std::int64_t n,
                  std::int64_t batches) {
  FillArguments f{};
  f.to = a.base(), f.ld = a.ld, f.stride = a.step(), f.by_pointers = a.by_pointers;
  f.rows = size_of(m), f.columns = size_of(n), f.batches = batches;
  launch_typed(
      context, "factor", "identity", type,
      {blocks_of(m, kPanel) * blocks_of(n, kPanel), static_cast<unsigned>(std::min(batches, kMaxGridY))}, f);
}

}  // namespace lockstep::libraries::blas
