// What the kernels of matrix products are called with; read by nvcc, too.
#pragma once

namespace lockstep::libraries::blas {

/// alpha or beta: in device memory, or by value. Integers and floats are exact as doubles.
struct Scalar {
  const void* pointer;  // nullptr: by value
  double real, imaginary;
  int kind;  // ScalarKind of what `pointer` points to
};
/// Of the sums' type; a half; the real type of complex sums; to be conjugated.
enum ScalarKind { kScalarOfSums = 0, kScalarHalf = 1, kScalarReal = 2, kScalarConjugate = 3 };

enum GemmOperation { kOpN = 0, kOpT = 1, kOpC = 2 };
enum GemmTriangle { kWholeMatrix = 0, kLowerTriangle = 1, kUpperTriangle = 2 };
enum GemmActivation { kNoActivation = 0, kRelu = 1, kGelu = 2 };
enum GemmBias { kNoBias = 0, kBiasByRow = 1, kBiasByColumn = 2 };
enum BiasType { kBiasFloat = 0, kBiasHalf = 1, kBiasBfloat = 2 };

/// D = activation(alpha op(A) op(B) + beta C + bias), column-major; op(A) is m x k.
struct GemmArguments {
  const void *a, *b, *c;
  void* d;
  long long lda, ldb, ldc, ldd;
  long long stride_a, stride_b, stride_c, stride_d;  // elements between matrices of a batch; with
                                                     // pointers, from where they point to the matrix
  long long batches;
  int m, n, k;
  int op_a, op_b;
  int by_pointers;    // a, b, c and d are arrays with a pointer for each matrix of the batch
  int triangle;       // the part of D that is written
  int real_diagonal;  // imaginary parts there are set to zero
  Scalar alpha, beta;
  int activation, bias_kind, bias_type;
  int float_result;  // with tensor cores: C and D are floats, not of A's and B's type
  const void* bias;
  long long stride_bias;
};

}  // namespace lockstep::libraries::blas
