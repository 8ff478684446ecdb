// Factorisations of dense matrices, alone or in batches, and solutions with their factors.
#pragma once

#include "libraries/blas/dense.hpp"

namespace lockstep::libraries::blas {

/// A in place of its factors, with one array for each of a batch of matrices one behind the other.
struct Factors {
  DataType type;
  MatrixRef a{};
  std::int64_t batches = 1;
  int* pivots = nullptr;  // from 1; nullptr: rows are not exchanged
  std::int64_t stride_pivots = 0;
  int* info = nullptr;  // 0, or the first pivot or leading minor that is not good, from 1
};

/// P A = L U of m x n.
void factor_lu(const Context& context, const Factors& factors, std::int64_t m, std::int64_t n);
/// B := X of op(A) X = B with n x n factors, for `count` right-hand sides.
void solve_lu(const Context& context, const Factors& factors, Operation op, std::int64_t n,
              const MatrixRef& b, std::int64_t count);
/// A = L L^H or U^H U of n x n.
void factor_cholesky(const Context& context, const Factors& factors, int triangle, std::int64_t n);
void solve_cholesky(const Context& context, const Factors& factors, int triangle, std::int64_t n,
                    const MatrixRef& b, std::int64_t count);
/// info := where the factors' diagonal is zero.
void find_zeros(const Context& context, const Factors& factors, std::int64_t n);
/// A := the identity, of m x n.
void set_identity(const Context& context, DataType type, const MatrixRef& a, std::int64_t m, std::int64_t n,
                  std::int64_t batches);

}  // namespace lockstep::libraries::blas
