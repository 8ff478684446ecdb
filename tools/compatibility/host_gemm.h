// Before a program's text: checks a product of matrices, stored by columns, against sums of the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>

/// C = op(A) * op(B): m x k by k x n; 'N' takes a matrix as it is, 'T' its transposed.
template <class A, class B, class C>
void check_product(char trans_a, char trans_b, int m, int n, int k, const A& a, int ld_a, const B& b, int ld_b,
                   const C& c, int ld_c, double most) {
  double worst = 0;
  for (int column = 0; column < n; ++column)
    for (int row = 0; row < m; ++row) {
      double sum = 0;
      for (int i = 0; i < k; ++i)
        sum += double(float(a[trans_a == 'N' ? row + i * ld_a : i + row * ld_a])) *
               double(float(b[trans_b == 'N' ? i + column * ld_b : column + i * ld_b]));
      worst = std::max(worst, std::abs(sum - double(float(c[row + column * ld_c]))));
    }
  std::printf("worst difference %g: %s\n", worst, worst <= most ? "passed" : "failed");
}
