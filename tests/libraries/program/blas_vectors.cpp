// cuBLAS, level 1: vectors with any increments against what the functions' definitions say; and transfers.
#include "blas.hpp"

#define LEVEL_1(T, R, letter, small, norm)                                    \
  int cublas##letter##axpy_v2(Handle, int, const T*, const T*, int, T*, int); \
  int cublas##letter##scal_v2(Handle, int, const T*, T*, int);                \
  int cublas##letter##copy_v2(Handle, int, const T*, int, T*, int);           \
  int cublas##letter##swap_v2(Handle, int, T*, int, T*, int);                 \
  int cublas##norm##nrm2_v2(Handle, int, const T*, int, R*);                  \
  int cublas##norm##asum_v2(Handle, int, const T*, int, R*);                  \
  int cublasI##small##amax_v2(Handle, int, const T*, int, int*);              \
  int cublasI##small##amin_v2(Handle, int, const T*, int, int*);              \
  int cublasI##small##amax_v2_64(Handle, std::int64_t, const T*, std::int64_t, std::int64_t*);
#define DOT(T, name) int name(Handle, int, const T*, int, const T*, int, T*);
#define ROT(T, C, S, name) int name(Handle, int, T*, int, T*, int, const C*, const S*);
extern "C" {
LEVEL_1(float, float, S, s, S)
LEVEL_1(double, double, D, d, D)
LEVEL_1(Complex64, float, C, c, Sc)
LEVEL_1(Complex128, double, Z, z, Dz)
DOT(float, cublasSdot_v2)
DOT(double, cublasDdot_v2)
DOT(Complex64, cublasCdotu_v2)
DOT(Complex64, cublasCdotc_v2)
DOT(Complex128, cublasZdotu_v2)
DOT(Complex128, cublasZdotc_v2)
ROT(float, float, float, cublasSrot_v2)
ROT(double, double, double, cublasDrot_v2)
ROT(Complex64, float, Complex64, cublasCrot_v2)
ROT(Complex128, double, Complex128, cublasZrot_v2)
int cublasCsscal_v2(Handle, int, const float*, Complex64*, int);
int cublasSetMatrix(int, int, int, const void*, int, void*, int);
int cublasGetMatrix(int, int, int, const void*, int, void*, int);
int cublasSetVectorAsync(int, int, const void*, int, void*, int, void*);
int cublasGetVector(int, int, const void*, int, void*, int);
}

namespace {

template <class T, class R>
struct Entries {
  int (*axpy)(Handle, int, const T*, const T*, int, T*, int);
  int (*scal)(Handle, int, const T*, T*, int);
  int (*copy)(Handle, int, const T*, int, T*, int);
  int (*swap)(Handle, int, T*, int, T*, int);
  int (*dot)(Handle, int, const T*, int, const T*, int, T*);
  int (*dotc)(Handle, int, const T*, int, const T*, int, T*);
  int (*nrm2)(Handle, int, const T*, int, R*);
  int (*asum)(Handle, int, const T*, int, R*);
  int (*amax)(Handle, int, const T*, int, int*);
  int (*amin)(Handle, int, const T*, int, int*);
  int (*amax64)(Handle, std::int64_t, const T*, std::int64_t, std::int64_t*);
  int (*rot)(Handle, int, T*, int, T*, int, const R*, const T*);
};

/// A vector with an increment, and what is between its elements.
template <class T>
struct Vector {
  int n, inc;
  std::vector<T> values;
  Vector(int count, int increment)
      : n(count),
        inc(increment),
        values(random_values<T>(static_cast<std::size_t>(std::max(1, count * std::abs(increment))))) {}
  T& operator[](int i) { return values[static_cast<std::size_t>(inc > 0 ? i * inc : (i + 1 - n) * inc)]; }
};

/// Where a result is to be: on the host or on the device.
template <class T>
class Place {
 public:
  explicit Place(bool on_device) : on_device_(on_device), device_(1) {}
  operator T*() { return on_device_ ? static_cast<T*>(device_) : &host_; }
  T get() { return on_device_ ? device_.get()[0] : host_; }

 private:
  bool on_device_;
  T host_{};
  Device<T> device_;
};

double size(double x) { return std::abs(x); }
double size(Complex128 x) { return std::abs(x.real()) + std::abs(x.imag()); }

template <class T, class R>
void updates(const Entries<T, R>& e, Handle handle, int n, bool on_device, const std::string& what) {
  Vector<T> x(n, random_int(0, 1) == 1 ? 1 : random_int(1, 3)), y(n, random_int(0, 1) == 1 ? -2 : 1);
  const Device<T> dx(x.values), dy(y.values);
  const Factor<T> alpha(random_values<T>(1)[0], on_device);
  check(e.axpy(handle, n, alpha, dx, x.inc, dy, y.inc) == 0, what + "axpy's status");
  for (int i = 0; i < n; ++i) y[i] = static_cast<T>(alpha.exact() * wide(x[i]) + wide(y[i]));
  check(close(dy.get(), y.values, 4 * kEpsilon<T>), what + "axpy");
  check(e.scal(handle, n, alpha, dx, x.inc) == 0, what + "scal's status");
  for (int i = 0; i < n; ++i) x[i] = static_cast<T>(alpha.exact() * wide(x[i]));
  check(close(dx.get(), x.values, 4 * kEpsilon<T>), what + "scal");
  const Factor<R> c(R(0.6), on_device);
  const Factor<T> s(random_values<T>(1)[0], on_device);
  check(e.rot(handle, n, dx, x.inc, dy, y.inc, c, s) == 0, what + "rot's status");
  for (int i = 0; i < n; ++i) {
    const Wide<T> a = wide(x[i]), b = wide(y[i]);
    x[i] = static_cast<T>(c.exact() * a + s.exact() * b);
    y[i] = static_cast<T>(c.exact() * b - conjugate(s.exact()) * a);
  }
  check(close(dx.get(), x.values, 8 * kEpsilon<T>) && close(dy.get(), y.values, 8 * kEpsilon<T>),
        what + "rot");
  const auto kept_x = dx.get(), kept_y = dy.get();
  check(e.swap(handle, n, dx, x.inc, dy, y.inc) == 0, what + "swap's status");
  x.values = kept_x, y.values = kept_y;
  for (int i = 0; i < n; ++i) std::swap(x[i], y[i]);
  check(dx.get() == x.values && dy.get() == y.values, what + "swap");
  check(e.copy(handle, n, dx, x.inc, dy, y.inc) == 0, what + "copy's status");
  for (int i = 0; i < n; ++i) y[i] = x[i];
  check(dy.get() == y.values, what + "copy");
}

template <class T, class R>
void reductions(const Entries<T, R>& e, Handle handle, int n, bool on_device, const std::string& what) {
  Vector<T> x(n, random_int(1, 2)), y(n, random_int(0, 1) == 1 ? -1 : 3);
  if (n > 4) x[n - 1] = x[n / 2];  // the first of equals counts
  const Device<T> dx(x.values), dy(y.values);
  Wide<T> dot{}, dotc{};
  double squares = 0, sum = 0;
  int largest = 0, least = 0;
  for (int i = 0; i < n; ++i) {
    dot += wide(x[i]) * wide(y[i]);
    dotc += conjugate(wide(x[i])) * wide(y[i]);
    squares += std::norm(wide(x[i]));
    sum += size(wide(x[i]));
    if (size(wide(x[i])) > size(wide(x[largest]))) largest = i;
    if (size(wide(x[i])) < size(wide(x[least]))) least = i;
  }
  const double tolerance = kEpsilon<T> * (n + 8);
  Place<T> value(on_device);
  check(e.dot(handle, n, dx, x.inc, dy, y.inc, value) == 0 && close<T>({value.get()}, {T(dot)}, tolerance),
        what + "dot");
  check(e.dotc(handle, n, dx, x.inc, dy, y.inc, value) == 0 && close<T>({value.get()}, {T(dotc)}, tolerance),
        what + "dotc");
  Place<R> real(on_device);
  check(e.nrm2(handle, n, dx, x.inc, real) == 0 && close<R>({real.get()}, {R(std::sqrt(squares))}, tolerance),
        what + "nrm2");
  check(e.asum(handle, n, dx, x.inc, real) == 0 && close<R>({real.get()}, {R(sum)}, tolerance),
        what + "asum");
  Place<int> index(on_device);
  check(e.amax(handle, n, dx, x.inc, index) == 0 && index.get() == (n > 0 ? largest + 1 : 0), what + "amax");
  check(e.amin(handle, n, dx, x.inc, index) == 0 && index.get() == (n > 0 ? least + 1 : 0), what + "amin");
  Place<std::int64_t> long_index(on_device);
  check(e.amax64(handle, n, dx, x.inc, long_index) == 0 && long_index.get() == (n > 0 ? largest + 1 : 0),
        what + "amax64");
  check(e.nrm2(handle, n, dx, -1, real) == 0 && real.get() == 0, what + "nrm2 backwards");
}

template <class T, class R>
void all(const Entries<T, R>& e, Handle handle, const char* type) {
  for (const int n : {0, 1, 31, 300, 5000})
    for (const bool on_device : {false, true}) {
      cublasSetPointerMode_v2(handle, on_device);
      const std::string what = type + std::to_string(n) + (on_device ? " (device) " : " ");
      updates(e, handle, n, on_device, what);
      reductions(e, handle, n, on_device, what);
    }
}

void norms_at_the_limits(Handle handle) {
  cublasSetPointerMode_v2(handle, 0);
  const auto norm = [&](const std::vector<double>& values) {
    const Device<double> x(values);
    double found = -1;
    check(cublasDnrm2_v2(handle, static_cast<int>(values.size()), x, 1, &found) == 0, "nrm2's status");
    return found;
  };
  check(std::abs(norm({3e200, 4e200, 0}) / 5e200 - 1) < 1e-15, "a norm whose square is too large");
  check(std::abs(norm({0, 3e-200, 4e-200}) / 5e-200 - 1) < 1e-15, "a norm whose square is too small");
  check(std::isinf(norm({1, INFINITY, INFINITY})), "a norm that is infinite");
  check(std::isnan(norm({1, NAN, INFINITY, 2})), "a norm of NaN");
  check(norm({}) == 0, "a norm of nothing");
}

void transfers() {
  const std::vector<int> host = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const Device<int> device(std::vector<int>(20, 0));
  check(cublasSetMatrix(2, 3, 4, host.data(), 4, device, 5) == 0, "cublasSetMatrix");
  check(device.get() == std::vector<int>{1, 2, 0, 0, 0, 5, 6, 0, 0, 0, 9, 10, 0, 0, 0, 0, 0, 0, 0, 0},
        "the matrix");
  std::vector<int> back(9, -1);
  check(cublasGetMatrix(2, 3, 4, device, 5, back.data(), 3) == 0, "cublasGetMatrix");
  check(back == std::vector<int>{1, 2, -1, 5, 6, -1, 9, 10, -1}, "the matrix that is back");
  check(cublasSetVectorAsync(3, 4, host.data(), 2, device + 10, 3, nullptr) == 0, "cublasSetVectorAsync");
  std::vector<int> vector(3);
  check(cublasGetVector(3, 4, device + 10, 3, vector.data(), 1) == 0 && vector == std::vector<int>{1, 3, 5},
        "the vector");
  check(cublasSetMatrix(2, 3, 4, host.data(), 1, device, 5) == kInvalid,
        "a leading dimension that is too small");
  check(cublasSetMatrix(0, 3, 4, host.data(), 1, device, 5) == 0, "no rows");
}

}  // namespace

int main() {
  const Blas handle;
#define ENTRIES(letter, small, norm, u, c)                                            \
  {cublas##letter##axpy_v2, cublas##letter##scal_v2,     cublas##letter##copy_v2,     \
   cublas##letter##swap_v2, cublas##letter##dot##u##_v2, cublas##letter##dot##c##_v2, \
   cublas##norm##nrm2_v2,   cublas##norm##asum_v2,       cublasI##small##amax_v2,     \
   cublasI##small##amin_v2, cublasI##small##amax_v2_64,  cublas##letter##rot_v2}
  all<float, float>(ENTRIES(S, s, S, , ), handle, "S");
  all<double, double>(ENTRIES(D, d, D, , ), handle, "D");
  all<Complex64, float>(ENTRIES(C, c, Sc, u, c), handle, "C");
  all<Complex128, double>(ENTRIES(Z, z, Dz, u, c), handle, "Z");
  norms_at_the_limits(handle);
  transfers();
  const Device<Complex64> x(std::vector<Complex64>{{1, 2}, {3, 4}});
  const float half = 0.5f;
  cublasSetPointerMode_v2(handle, 0);
  check(cublasCsscal_v2(handle, 2, &half, x, 1) == 0 && x.get()[1] == Complex64{1.5f, 2}, "cublasCsscal");
  return result();
}
