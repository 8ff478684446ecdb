// Many systems with a few diagonals each, interleaved: a thread solves one, by elimination with row
// exchanges.
#include "numbers.cuh"

namespace lockstep::libraries::sparse {
namespace {

/// What a thread holds of its system while it eliminates column `first`: rows `first` to `first` + kSide,
/// from this column on. Indices are known when this is compiled, so that all of it is in registers.
template <class T, int kSide>
struct Window {
  static constexpr int kWidth = 2 * kSide + 1;
  T rows[kSide + 1][kWidth];
  T sides[kSide + 1];

  __device__ void load(const Diagonals<T>& a, int k, int row, int first, long long system) {
    const long long place = row * a.systems + system;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      const int diagonal = first + j - row + kSide;
      const bool there = row < a.size && first + j < a.size && diagonal >= 0 && diagonal < kWidth;
      rows[k][j] = there ? a.values[diagonal][place] : T(0);
    }
    sides[k] = row < a.size ? a.x[place] : T(0);
  }
  /// The row with the largest first entry comes first.
  __device__ void exchange() {
#pragma unroll
    for (int k = 1; k <= kSide; ++k) {
      const bool larger = fabs(rows[k][0]) > fabs(rows[0][0]);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) swap_if(larger, rows[0][j], rows[k][j]);
      swap_if(larger, sides[0], sides[k]);
    }
  }
  /// Takes the first row away from the others, which become rows 0 to kSide - 1 from the next column on.
  __device__ void eliminate() {
    T pivot[kWidth];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) pivot[j] = rows[0][j];
    const T side = sides[0];
#pragma unroll
    for (int k = 1; k <= kSide; ++k) {
      const T factor = rows[k][0] == T(0) ? T(0) : rows[k][0] / pivot[0];
#pragma unroll
      for (int j = 1; j < kWidth; ++j) rows[k - 1][j - 1] = rows[k][j] - factor * pivot[j];
      rows[k - 1][kWidth - 1] = T(0);
      sides[k - 1] = sides[k] - factor * side;
    }
  }
  static __device__ void swap_if(bool wanted, T& a, T& b) {
    const T first = wanted ? b : a;
    b = wanted ? a : b;
    a = first;
  }
};

/// The diagonals become those of the triangular factor, from its main diagonal upwards.
template <class T, int kSide>
__device__ void solve_banded(const Diagonals<T>& a) {
  constexpr int kWidth = Window<T, kSide>::kWidth;
  const long long system = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (system >= a.systems) return;
  Window<T, kSide> window;
#pragma unroll
  for (int k = 0; k <= kSide; ++k) window.load(a, k, k, 0, system);
  for (int i = 0; i < a.size; ++i) {
    const long long place = i * a.systems + system;
    window.exchange();
    a.x[place] = window.sides[0];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) a.values[j][place] = window.rows[0][j];
    window.eliminate();
    window.load(a, kSide, i + 1 + kSide, i + 1, system);
  }
  T later[kWidth] = {};
  for (int i = a.size - 1; i >= 0; --i) {
    const long long place = i * a.systems + system;
    T value = a.x[place];
#pragma unroll
    for (int j = 1; j < kWidth; ++j) value = value - a.values[j][place] * later[j];
    value = value / a.values[0][place];
    a.x[place] = value;
#pragma unroll
    for (int j = kWidth - 1; j > 1; --j) later[j] = later[j - 1];
    later[1] = value;
  }
}

}  // namespace

#define X(suffix, T)                                                                                         \
  extern "C" __global__ void lockstep_sparse_tridiagonal_##suffix(Diagonals<T> a) { solve_banded<T, 1>(a); } \
  extern "C" __global__ void lockstep_sparse_pentadiagonal_##suffix(Diagonals<T> a) { solve_banded<T, 2>(a); }
X(s, float) X(d, double)
#undef X

}  // namespace lockstep::libraries::sparse
