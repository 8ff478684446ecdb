// cuBLAS: band and packed matrices of random sizes and increments against the whole matrices that they stand
// for.
#include "blas.hpp"

#define ALL(T, l)                                                                                           \
  int cublas##l##gbmv_v2(Handle, int, int, int, int, int, const T*, const T*, int, const T*, int, const T*, \
                         T*, int);                                                                          \
  int cublas##l##tbmv_v2(Handle, int, int, int, int, int, const T*, int, T*, int);                          \
  int cublas##l##tbsv_v2(Handle, int, int, int, int, int, const T*, int, T*, int);                          \
  int cublas##l##tpmv_v2(Handle, int, int, int, int, const T*, T*, int);                                    \
  int cublas##l##tpsv_v2(Handle, int, int, int, int, const T*, T*, int);                                    \
  int cublas##l##tpttr(Handle, int, int, const T*, T*, int);                                                \
  int cublas##l##trttp(Handle, int, int, const T*, int, T*);
#define SYMMETRIC(T, R, l, s)                                                                           \
  int cublas##l##s##bmv_v2(Handle, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, \
                           int);                                                                        \
  int cublas##l##s##pmv_v2(Handle, int, int, const T*, const T*, const T*, int, const T*, T*, int);     \
  int cublas##l##s##pr_v2(Handle, int, int, const R*, const T*, int, T*);                               \
  int cublas##l##s##pr2_v2(Handle, int, int, const T*, const T*, int, const T*, int, T*);
extern "C" {
ALL(float, S)
ALL(double, D)
ALL(Complex64, C)
ALL(Complex128, Z)
SYMMETRIC(float, float, S, s)
SYMMETRIC(double, double, D, s)
SYMMETRIC(Complex64, float, C, h)
SYMMETRIC(Complex128, double, Z, h)
int cublasDtbsv_v2_64(Handle, int, int, int, long, long, const double*, long, double*, long);
}

namespace {

template <class T, class R>
struct Entries {
  int (*gbmv)(Handle, int, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);
  int (*tbmv)(Handle, int, int, int, int, int, const T*, int, T*, int);
  int (*tbsv)(Handle, int, int, int, int, int, const T*, int, T*, int);
  int (*tpmv)(Handle, int, int, int, int, const T*, T*, int);
  int (*tpsv)(Handle, int, int, int, int, const T*, T*, int);
  int (*tpttr)(Handle, int, int, const T*, T*, int);
  int (*trttp)(Handle, int, int, const T*, int, T*);
  int (*sbmv)(Handle, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);
  int (*spmv)(Handle, int, int, const T*, const T*, const T*, int, const T*, T*, int);
  int (*spr)(Handle, int, int, const R*, const T*, int, T*);
  int (*spr2)(Handle, int, int, const T*, const T*, int, const T*, int, T*);
};

template <class T>
struct Vector {
  int n, inc;
  std::vector<T> values;
  explicit Vector(int count)
      : n(count),
        inc(random_int(0, 2) == 0 ? random_int(-2, -1) : random_int(1, 3)),
        values(random_values<T>(static_cast<std::size_t>(std::max(1, count * std::abs(inc))))) {}
  T& operator[](int i) { return values[static_cast<std::size_t>(inc > 0 ? i * inc : (i + 1 - n) * inc)]; }
};

/// A whole matrix with zeros outside of its `below` + 1 + `above` diagonals.
template <class T>
Matrix<T> diagonals(int m, int n, int below, int above) {
  Matrix<T> a(m, n, random_int(0, 2));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      if (i - j > below || j - i > above) a.at(i, j) = T{};
  return a;
}
/// As a band; places that stand for nothing are not numbers.
template <class T>
Matrix<T> as_band(const Matrix<T>& a, int below, int above) {
  Matrix<T> band(below + above + 1, a.columns, random_int(0, 2));
  std::fill(band.values.begin(), band.values.end(), T(NAN));
  for (int j = 0; j < a.columns; ++j)
    for (int i = std::max(0, j - above); i <= std::min(a.rows - 1, j + below); ++i)
      band.at(above + i - j, j) = a.at(i, j);
  return band;
}
template <class T>
std::vector<T> as_packed(const Matrix<T>& a, int mode) {
  std::vector<T> packed;
  for (int j = 0; j < a.columns; ++j)
    for (int i = mode == kLower ? j : 0; i <= (mode == kLower ? a.rows - 1 : j); ++i)
      packed.push_back(a.at(i, j));
  return packed;
}

/// alpha, beta, x and y of a product, on the host and on the device.
template <class T>
struct Operands {
  Factor<T> alpha, beta;
  Vector<T> x, y;
  Device<T> on_x, on_y;

  Operands(int columns, int rows, bool on_device)
      : alpha(random_int(0, 5) == 0 ? T{} : random_values<T>(1)[0], on_device),
        beta(random_int(0, 1) == 0 ? T{} : random_values<T>(1)[0], on_device),
        x(columns),
        y(prepared(rows)),
        on_x(x.values),
        on_y(y.values) {}
  Vector<T> prepared(int rows) const {
    Vector<T> vector(rows);
    if (beta.exact() == Wide<T>{} && rows > 0) vector[rows / 2] = T(NAN);  // not to be read
    return vector;
  }
  /// y := alpha M x + beta y here, and whether it is as on the device.
  template <class Element>
  bool right(Element&& element) {
    for (int i = 0; i < y.n && x.n > 0; ++i) {
      Wide<T> sum{};
      for (int j = 0; j < x.n; ++j) sum += element(i, j) * wide(x[j]);
      y[i] = static_cast<T>(alpha.exact() * sum +
                            (beta.exact() == Wide<T>{} ? Wide<T>{} : beta.exact() * wide(y[i])));
    }
    // With nothing to multiply y stays what it is, also where it is not a number.
    if (x.n == 0) return true;
    return close(on_y.get(), y.values, 8 * kEpsilon<T> * (x.n + 8));
  }
};

template <class T, class R>
void band_product(const Entries<T, R>& e, Handle handle, bool on_device, const std::string& type) {
  const int m = random_int(0, 90), n = random_int(0, 90), op = random_int(0, 2);
  const int below = random_int(0, 40), above = random_int(0, 40);
  const Matrix<T> a = diagonals<T>(m, n, below, above), band = as_band(a, below, above);
  const Device<T> data(band.values);
  Operands<T> o(op == kN ? n : m, op == kN ? m : n, on_device);
  check(e.gbmv(handle, op, m, n, below, above, o.alpha, data, band.ld, o.on_x, o.x.inc, o.beta, o.on_y,
               o.y.inc) == 0 &&
            o.right([&](int i, int j) { return a.op(op, i, j); }),
        type + "gbmv, op " + std::to_string(op) + " of " + std::to_string(m) + " x " + std::to_string(n) +
            " with " + std::to_string(below) + " and " + std::to_string(above));
}

template <class T, class R>
void symmetric(const Entries<T, R>& e, Handle handle, bool on_device, const std::string& type) {
  const int n = random_int(0, 80), k = random_int(0, 50), mode = random_int(0, 1);
  const int below = mode == kLower ? k : 0, above = mode == kLower ? 0 : k;
  const std::string what =
      type + std::to_string(n) + " k " + std::to_string(k) + " mode " + std::to_string(mode);
  Matrix<T> a = diagonals<T>(n, n, below, above);
  const auto whole = [&](int i, int j) {
    if (i == j) return Wide<T>(std::real(wide(a.at(i, i))));
    return (mode == kLower) == (i > j) ? wide(a.at(i, j)) : conjugate(wide(a.at(j, i)));
  };
  const Matrix<T> band = as_band(a, below, above);
  const Device<T> data(band.values);
  Operands<T> first(n, n, on_device);
  check(e.sbmv(handle, mode, n, k, first.alpha, data, band.ld, first.on_x, first.x.inc, first.beta,
               first.on_y, first.y.inc) == 0 &&
            first.right(whole),
        "sbmv " + what);
  a = diagonals<T>(n, n, mode == kLower ? n : 0, mode == kLower ? 0 : n);
  const Device<T> packed(as_packed(a, mode));
  Operands<T> o(n, n, on_device);
  check(e.spmv(handle, mode, n, o.alpha, packed, o.on_x, o.x.inc, o.beta, o.on_y, o.y.inc) == 0 &&
            o.right(whole),
        "spmv " + what);
  Vector<T> y(n);
  const Device<T> on_y(y.values);
  const Factor<R> real(static_cast<R>(random_real()), on_device);
  check(e.spr(handle, mode, n, real, o.on_x, o.x.inc, packed) == 0 &&
            e.spr2(handle, mode, n, o.alpha, o.on_x, o.x.inc, on_y, y.inc, packed) == 0,
        "statuses of updates " + what);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const Wide<T> value = wide(a.at(i, j)) +
                            Wide<T>(real.exact()) * wide(o.x[i]) * conjugate(wide(o.x[j])) +
                            o.alpha.exact() * wide(o.x[i]) * conjugate(wide(y[j])) +
                            conjugate(o.alpha.exact()) * wide(y[i]) * conjugate(wide(o.x[j]));
      const bool touched = real.exact() != 0 || o.alpha.exact() != Wide<T>{};
      a.at(i, j) = static_cast<T>(i == j && touched ? Wide<T>(std::real(value)) : value);
    }
  check(close(packed.get(), as_packed(a, mode), 32 * kEpsilon<T>), "updates " + what);
}

template <class T, class R>
void triangles(const Entries<T, R>& e, Handle handle, const std::string& type) {
  const int n = random_int(0, 70), k = random_int(0, 30), mode = random_int(0, 1), op = random_int(0, 2),
            unit = random_int(0, 1);
  const std::string what = type + std::to_string(n) + " k " + std::to_string(k) + " mode " +
                           std::to_string(mode) + " op " + std::to_string(op) + " unit " +
                           std::to_string(unit);
  for (const bool packed : {false, true}) {
    const int reach = packed ? n : k, below = mode == kLower ? reach : 0, above = mode == kLower ? 0 : reach;
    Matrix<T> a = diagonals<T>(n, n, below, above);
    for (T& value : a.values) value = static_cast<T>(wide(value) / 16.0);  // far from singular
    for (int i = 0; i < n; ++i) a.at(i, i) = unit ? T(NAN) : static_cast<T>(wide(a.at(i, i)) + 1.5);
    const Matrix<T> band = as_band(a, packed ? 0 : below, packed ? 0 : above);
    const Device<T> data(packed ? as_packed(a, mode) : band.values);
    for (int i = 0; i < n && unit; ++i) a.at(i, i) = T(1);
    Vector<T> x(n), product = x;
    const Device<T> on_x(x.values);
    for (int i = 0; i < n; ++i) {
      Wide<T> sum{};
      for (int j = 0; j < n; ++j) sum += a.op(op, i, j) * wide(x[j]);
      product[i] = static_cast<T>(sum);
    }
    check((packed ? e.tpmv(handle, mode, op, unit, n, data, on_x, x.inc)
                  : e.tbmv(handle, mode, op, unit, n, k, data, band.ld, on_x, x.inc)) == 0 &&
              close(on_x.get(), product.values, 8 * kEpsilon<T> * (n + 8)),
          (packed ? "tpmv " : "tbmv ") + what);
    check((packed ? e.tpsv(handle, mode, op, unit, n, data, on_x, x.inc)
                  : e.tbsv(handle, mode, op, unit, n, k, data, band.ld, on_x, x.inc)) == 0 &&
              close(on_x.get(), x.values, 64 * kEpsilon<T> * (n + 8)),
          (packed ? "tpsv " : "tbsv ") + what);
  }
}

template <class T, class R>
void copies(const Entries<T, R>& e, Handle handle, const std::string& type) {
  const int n = random_int(0, 70), mode = random_int(0, 1);
  const Matrix<T> a(n, n, 2);
  Matrix<T> expected = a;
  const Device<T> whole(a.values);
  const auto values = as_packed(Matrix<T>(n, n), mode);
  const Device<T> packed(values), back(values.size());
  check(
      e.tpttr(handle, mode, n, packed, whole, a.ld) == 0 && e.trttp(handle, mode, n, whole, a.ld, back) == 0,
      type + "copies' statuses");
  auto next = values.begin();
  for (int j = 0; j < n; ++j)
    for (int i = mode == kLower ? j : 0; i <= (mode == kLower ? n - 1 : j); ++i) expected.at(i, j) = *next++;
  check(whole.get() == expected.values && back.get() == values, type + "tpttr and trttp");
}

template <class T, class R>
void all(const Entries<T, R>& e, Handle handle, const char* type) {
  for (int i = 0; i < 16; ++i) {
    const bool on_device = i % 2 == 1;
    cublasSetPointerMode_v2(handle, on_device);
    const std::string name = type + std::string(" ");
    band_product(e, handle, on_device, name);
    symmetric(e, handle, on_device, name);
    triangles(e, handle, name);
    copies(e, handle, name);
  }
}

void refusals(Handle handle) {
  const Device<double> a(9), x(3);
  const double one = 1;
  cublasSetPointerMode_v2(handle, 0);
  check(cublasDgbmv_v2(handle, kN, 3, 3, 1, 1, &one, a, 2, x, 1, &one, x, 1) == kInvalid &&
            cublasDgbmv_v2(handle, kN, 3, 3, -1, 1, &one, a, 3, x, 1, &one, x, 1) == kInvalid &&
            cublasDsbmv_v2(handle, 2, 3, 1, &one, a, 3, x, 1, &one, x, 1) == kInvalid &&
            cublasDtpmv_v2(handle, kLower, 3, 0, 3, a, x, 1) == kInvalid &&
            cublasDtpmv_v2(handle, kLower, kN, 2, 3, a, x, 1) == kInvalid &&
            cublasDspr_v2(handle, kLower, -1, &one, x, 1, a) == kInvalid &&
            cublasDspr_v2(handle, kLower, 3, &one, x, 0, a) == kInvalid &&
            cublasDtpttr(handle, kLower, 3, a, a, 2) == kInvalid &&
            cublasDtpttr(nullptr, kLower, 3, a, a, 3) == kNotInitialized,
        "what is wrong");
  // (2 0; 1 4) x = (2; 9)
  const Device<double> band(std::vector<double>{2, 1, 4, NAN}), b(std::vector<double>{2, 9});
  check(cublasDtbsv_v2_64(handle, kLower, kN, 0, 2, 1, band, 2, b, 1) == 0 &&
            b.get() == std::vector<double>{1, 2},
        "sizes of 64 bits");
}

}  // namespace

int main() {
  const Blas handle;
#define ENTRIES(l, s)                                                                    \
  {cublas##l##gbmv_v2,   cublas##l##tbmv_v2,  cublas##l##tbsv_v2,  cublas##l##tpmv_v2,   \
   cublas##l##tpsv_v2,   cublas##l##tpttr,    cublas##l##trttp,    cublas##l##s##bmv_v2, \
   cublas##l##s##pmv_v2, cublas##l##s##pr_v2, cublas##l##s##pr2_v2}
  all<float, float>(ENTRIES(S, s), handle, "S");
  all<double, double>(ENTRIES(D, s), handle, "D");
  all<Complex64, float>(ENTRIES(C, h), handle, "C");
  all<Complex128, double>(ENTRIES(Z, h), handle, "Z");
  refusals(handle);
  return result();
}
