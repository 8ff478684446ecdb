// cuBLAS: rotations by what they do to the numbers that they were found for; products in groups; and rank-k
// updates whose types are arguments.
#include <memory>

#include "blas.hpp"

#define REAL(T, l)                                                                                      \
  int cublas##l##rotg_v2(Handle, T*, T*, T*, T*);                                                       \
  int cublas##l##rotmg_v2(Handle, T*, T*, T*, const T*, T*);                                            \
  int cublas##l##rotm_v2(Handle, int, T*, int, T*, int, const T*);                                      \
  int cublas##l##gemmGroupedBatched(Handle, const int*, const int*, const int*, const int*, const int*, \
                                    const T*, const T* const*, const int*, const T* const*, const int*, \
                                    const T*, T* const*, const int*, int, const int*);
extern "C" {
REAL(float, S)
REAL(double, D)
int cublasCrotg_v2(Handle, Complex64*, Complex64*, float*, Complex64*);
int cublasZrotg_v2(Handle, Complex128*, Complex128*, double*, Complex128*);
int cublasDrotm_v2_64(Handle, long, double*, long, double*, long, const double*);
int cublasRotEx(Handle, int, void*, int, int, void*, int, int, const void*, const void*, int, int);
int cublasGemmGroupedBatchedEx(Handle, const int*, const int*, const int*, const int*, const int*,
                               const void*, const void* const*, int, const int*, const void* const*, int,
                               const int*, const void*, void* const*, int, const int*, int, const int*, int);
#define RANK_K(S, name) \
  int name(Handle, int, int, int, int, const S*, const void*, int, int, const S*, void*, int, int);
RANK_K(Complex64, cublasCsyrkEx)
RANK_K(Complex64, cublasCsyrk3mEx)
RANK_K(float, cublasCherkEx)
RANK_K(float, cublasCherk3mEx)
}

namespace {

/// Calls with the values on the host, or on the device, and gives them back.
template <class T, class Call>
void call(Handle handle, bool on_device, std::vector<T>& values, Call&& entry, const std::string& what) {
  cublasSetPointerMode_v2(handle, on_device);
  const Device<T> there(values);
  check(entry(on_device ? static_cast<T*>(there) : values.data()) == 0, what + "'s status");
  if (on_device) values = there.get();
}

template <class T>
void rotg(int (*entry)(Handle, T*, T*, T*, T*), Handle handle, bool on_device) {
  for (const auto& [a, b] : std::vector<std::pair<double, double>>{
           {3, 4}, {-3, 4}, {4, -3}, {-4, -3}, {0, 2}, {-2, 0}, {0, 0}, {1e30, 1e30}, {1, 1}, {1, -1}}) {
    const std::string what = "rotg of " + std::to_string(a) + " and " + std::to_string(b);
    std::vector<T> v = {static_cast<T>(a), static_cast<T>(b), 7, 7};
    call(
        handle, on_device, v, [&](T* p) { return entry(handle, p, p + 1, p + 2, p + 3); }, what);
    const double r = v[0], z = v[1], c = v[2], s = v[3], size = std::hypot(a, b), e = 4 * kEpsilon<T>;
    check(std::abs(c * a + s * b - r) <= e * size && std::abs(c * b - s * a) <= e * size &&
              std::abs(c * c + s * s - 1) <= e,
          what);
    check(r == 0 || (r < 0) == ((std::abs(a) > std::abs(b) ? a : b) < 0), what + ": the sign of r");
    // c and s again from z.
    const double from_c = z == 1 ? 0 : std::abs(z) < 1 ? std::sqrt(1 - z * z) : 1 / z;
    const double from_s = z == 1 ? 1 : std::abs(z) < 1 ? z : std::sqrt(1 - 1 / (z * z));
    check(std::abs(from_c - c) <= 4 * e && std::abs(from_s - s) <= 4 * e, what + ": z");
  }
}

template <class T, class R>
void complex_rotg(int (*entry)(Handle, T*, T*, R*, T*), Handle handle, bool on_device) {
  for (int i = 0; i < 6; ++i) {
    const T a = i == 0 ? T{} : random_values<T>(1)[0], b = i == 1 ? T{} : random_values<T>(1)[0];
    std::vector<T> v = {a, b, T(7, 7), T(7, 7)};
    call(
        handle, on_device, v,
        [&](T* p) { return entry(handle, p, p + 1, reinterpret_cast<R*>(p + 2), p + 3); }, "complex rotg");
    const Complex128 c = std::real(wide(v[2])), s = wide(v[3]), r = wide(v[0]);
    const double e = 8 * kEpsilon<T>;
    check(std::abs(c * wide(a) + s * wide(b) - r) < e && std::abs(c * wide(b) - std::conj(s) * wide(a)) < e &&
              std::abs(std::norm(c) + std::norm(s) - 1) < e &&
              std::abs(std::abs(r) - std::hypot(std::abs(a), std::abs(b))) < e && std::imag(v[2]) == 7 &&
              v[1] == b,
          "complex rotg " + std::to_string(i));
  }
}

struct Modified {
  double h[4];  // by rows
  explicit Modified(const std::vector<double>& param)
      : h{param[0] == 0 ? 1 : param[1], param[0] == 1 ? 1 : param[3], param[0] == 1 ? -1 : param[2],
          param[0] == 0 ? 1 : param[4]} {
    if (param[0] == -2) h[0] = h[3] = 1, h[1] = h[2] = 0;
  }
};

/// H (x1, y1) = (x1', 0), and H turns lengths by D into those by D': H^T D' H = D.
template <class T>
void rotmg(int (*entry)(Handle, T*, T*, T*, const T*, T*), Handle handle, bool on_device) {
  const double cases[][4] = {{1, 1, 3, 4},   {2, 3, 4, 1},      {2, 3, 1, 4},         {1e-9, 1, 3, 1},
                             {1e9, 3, 1, 5}, {1e-9, 1e9, 2, 1}, {1, 1e-10, 1, 1},     {1, 1e10, 1, 2},
                             {1, 1, 3, 0},   {1, 0, 3, 1},      {1e-20, 1e-18, 1, 1}, {0, 2, 3, 4},
                             {1, -0.1, 2, 1}};
  for (const auto& [d1, d2, x1, y1] : cases) {
    const std::string what = "rotmg of " + std::to_string(d1) + " " + std::to_string(d2) + " " +
                             std::to_string(x1) + " " + std::to_string(y1);
    std::vector<T> v = {
        static_cast<T>(d1), static_cast<T>(d2), static_cast<T>(x1), static_cast<T>(y1), 5, 5, 5, 5, 5};
    call(
        handle, on_device, v, [&](T* p) { return entry(handle, p, p + 1, p + 2, p + 3, p + 4); }, what);
    const std::vector<double> param(v.begin() + 4, v.end());
    const Modified m(param);
    const double n1 = v[0], n2 = v[1], e = 16 * kEpsilon<T>;
    check(v[3] == static_cast<T>(y1) && (param[0] == -2 || param[0] == -1 || param[0] == 0 || param[0] == 1),
          what + ": y1 and the flag");
    check(std::abs(m.h[0] * x1 + m.h[1] * y1 - v[2]) <= e * std::abs(v[2]), what + ": x1");
    if (param[0] != -2)
      check(std::abs(m.h[2] * x1 + m.h[3] * y1) <= e * (std::abs(m.h[2] * x1) + std::abs(m.h[3] * y1)),
            what + ": the second component");
    const double p = m.h[0] * m.h[0] * n1 + m.h[2] * m.h[2] * n2,
                 q = m.h[1] * m.h[1] * n1 + m.h[3] * m.h[3] * n2,
                 mixed = m.h[0] * m.h[1] * n1 + m.h[2] * m.h[3] * n2;
    check(std::abs(p - d1) <= e * std::abs(d1) && std::abs(q - d2) <= e * std::abs(d2) &&
              std::abs(mixed) <= e * std::sqrt(std::abs(d1 * d2)),
          what + ": lengths");
    for (const double d : {n1, std::abs(n2)})
      check(param[0] == -2 || d == 0 || (d >= 1 / 16777217.0 && d <= 16777217.0), what + ": size");
  }
  std::vector<T> negative = {-1, 2, 3, 4, 5, 5, 5, 5, 5};
  call(
      handle, on_device, negative, [&](T* p) { return entry(handle, p, p + 1, p + 2, p + 3, p + 4); },
      "rotmg");
  check(negative == std::vector<T>{0, 0, 0, 4, -1, 0, 0, 0, 0}, "rotmg of a negative weight");
}

template <class T>
void rotm(int (*entry)(Handle, int, T*, int, T*, int, const T*), Handle handle, bool on_device) {
  cublasSetPointerMode_v2(handle, on_device);
  for (const double flag : {-2., -1., 0., 1.})
    for (const int inc : {1, -2}) {
      constexpr int kCount = 1500;
      auto x = random_values<T>(kCount), y = random_values<T>(2 * kCount);
      std::vector<double> param = {flag, 0.5, 2, -3, 0.25};
      const Modified m(param);
      const std::vector<T> values(param.begin(), param.end());
      const Device<T> on_x(x), on_y(y), on_param(values);
      check(entry(handle, kCount, on_x, 1, on_y, inc,
                  on_device ? static_cast<T*>(on_param) : values.data()) == 0,
            "rotm's status");
      for (int i = 0; i < kCount; ++i) {
        T& other = y[static_cast<std::size_t>(inc > 0 ? i * inc : (i + 1 - kCount) * inc)];
        T& one = x[static_cast<std::size_t>(i)];
        const double a = one, b = other;
        one = static_cast<T>(m.h[0] * a + m.h[1] * b), other = static_cast<T>(m.h[2] * a + m.h[3] * b);
      }
      check(close(on_x.get(), x, 16 * kEpsilon<T>) && close(on_y.get(), y, 16 * kEpsilon<T>),
            "rotm with flag " + std::to_string(flag));
    }
}

template <class T, class C, class S>
void rot_ex(Handle handle, bool on_device, int type, int factors) {
  cublasSetPointerMode_v2(handle, on_device);
  auto x = random_values<T>(50), y = random_values<T>(50);
  const Factor<C> c(C(0.75), on_device);
  const Factor<S> s(random_values<S>(1)[0], on_device);
  const Device<T> on_x(x), on_y(y);
  const C* const pc = c;
  const S* const ps = s;
  check(cublasRotEx(handle, 25, on_x, type, -2, on_y, type, 1, pc, ps, factors, type) == 0, "RotEx's status");
  for (std::size_t i = 0; i < 25; ++i) {
    T &one = x[48 - 2 * i], &other = y[i];
    const auto a = wide(one), b = wide(other);
    one = static_cast<T>(c.exact() * a + s.exact() * b);
    other = static_cast<T>(c.exact() * b - conjugate(s.exact()) * a);
  }
  check(close(on_x.get(), x, 8 * kEpsilon<T>) && close(on_y.get(), y, 8 * kEpsilon<T>), "RotEx");
}

constexpr int kFloat = 0, kDouble = 1, kHalf = 2, kComplexFloat = 4, kComplexDouble = 5, kCompute32 = 68,
              kCompute64 = 70;

template <class T, class Call>
void groups(Handle handle, Call&& entry, const std::string& what) {
  constexpr int kGroups = 4;
  const std::vector<int> op_a = {kN, kT, kN, kC}, op_b = {kT, kN, kN, kN}, m = {5, 40, 3, 1},
                         n = {7, 33, 3, 2}, k = {3, 50, 0, 4}, size = {2, 3, 1, 0};
  const std::vector<T> alpha = {1, T(0.5), 1, 1}, beta = {0, 2, T(0.25), 0};
  std::vector<int> lda, ldb, ldc;
  std::vector<Matrix<T>> a, b, c;
  std::vector<int> group;
  for (int g = 0; g < kGroups; ++g) {
    const auto i = static_cast<std::size_t>(g);
    for (int j = 0; j < std::max(1, size[i]); ++j) {
      Matrix<T> one(op_a[i] == kN ? m[i] : k[i], op_a[i] == kN ? k[i] : m[i], 1),
          two(op_b[i] == kN ? k[i] : n[i], op_b[i] == kN ? n[i] : k[i], 2), to(m[i], n[i], g);
      if (j == 0) lda.push_back(one.ld), ldb.push_back(two.ld), ldc.push_back(to.ld);
      if (j < size[i]) a.push_back(one), b.push_back(two), c.push_back(to), group.push_back(g);
    }
  }
  std::vector<std::unique_ptr<Device<T>>> memory;
  std::vector<T*> pointers[3];
  for (std::size_t i = 0; i < a.size(); ++i)
    for (int which = 0; which < 3; ++which) {
      memory.push_back(std::make_unique<Device<T>>((which == 0 ? a : which == 1 ? b : c)[i].values));
      pointers[which].push_back(*memory.back());
    }
  const Device<T*> pa(pointers[0]), pb(pointers[1]), pc(pointers[2]);
  cublasSetPointerMode_v2(handle, 0);
  T **const first = pa, **const second = pb, **const third = pc;
  check(entry(op_a.data(), op_b.data(), m.data(), n.data(), k.data(), alpha.data(), first, lda.data(), second,
              ldb.data(), beta.data(), third, ldc.data(), kGroups, size.data()) == 0,
        what + "'s status");
  // With a group that is wrong nothing is done, also not for the group before, whose results are added to.
  auto wrong = ldc;
  wrong[2] = 1;
  const auto done = memory[8]->get();
  check(entry(op_a.data(), op_b.data(), m.data(), n.data(), k.data(), alpha.data(), first, lda.data(), second,
              ldb.data(), beta.data(), third, wrong.data(), kGroups, size.data()) == kInvalid &&
            memory[8]->get() == done,
        what + " with a leading dimension that is too small");
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto g = static_cast<std::size_t>(group[i]);
    const auto before = c[i];
    for (int row = 0; row < m[g]; ++row)
      for (int column = 0; column < n[g]; ++column) {
        double sum = 0;
        for (int p = 0; p < k[g]; ++p) sum += a[i].op(op_a[g], row, p) * b[i].op(op_b[g], p, column);
        c[i].at(row, column) = static_cast<T>(alpha[g] * sum + beta[g] * before.at(row, column));
      }
    check(close(memory[3 * i + 2]->get(), c[i].values, 8 * kEpsilon<T> * 64), what + " " + std::to_string(i));
  }
}

template <class S, class Entry>
void rank_k(Entry entry, Handle handle, bool hermitian) {
  for (int i = 0; i < 8; ++i) {
    const bool on_device = i % 2 == 1;
    cublasSetPointerMode_v2(handle, on_device);
    const int n = random_int(1, 40), k = random_int(0, 40), mode = random_int(0, 1),
              op = random_int(0, 1) == 0 ? kN
                   : hermitian           ? kC
                                         : kT;
    const Matrix<Complex64> a(op == kN ? n : k, op == kN ? k : n, 1);
    Matrix<Complex64> c(n, n, 2);
    const Factor<S> alpha(random_values<S>(1)[0], on_device), beta(random_values<S>(1)[0], on_device);
    const Device<Complex64> da(a.values), dc(c.values);
    check(entry(handle, mode, op, n, k, alpha, da, kComplexFloat, a.ld, beta, dc, kComplexFloat, c.ld) == 0,
          "the status of a rank-k update");
    for (int row = 0; row < n; ++row)
      for (int column = 0; column < n; ++column) {
        if (mode == kLower ? row < column : row > column) continue;
        Complex128 sum = 0;
        for (int p = 0; p < k; ++p) {
          const Complex128 one = a.op(op, row, p), other = a.op(op, column, p);
          sum += one * (hermitian ? std::conj(other) : other);
        }
        Complex128 value = wide(alpha.exact()) * sum + wide(beta.exact()) * wide(c.at(row, column));
        if (hermitian && row == column) value = value.real();
        c.at(row, column) = static_cast<Complex64>(value);
      }
    check(close(dc.get(), c.values, 8 * 1.2e-7 * (k + 8)), "a rank-k update");
  }
  cublasSetPointerMode_v2(handle, 0);
  const S one{1};
  const Device<Complex64> data(1);
  check(entry(handle, kLower, kN, 1, 1, &one, data, 3, 1, &one, data, kComplexFloat, 1) == kNotSupported,
        "a type that there is not");
}

}  // namespace

int main() {
  const Blas handle;
  for (const bool on_device : {false, true}) {
    rotg<float>(cublasSrotg_v2, handle, on_device);
    rotg<double>(cublasDrotg_v2, handle, on_device);
    complex_rotg<Complex64, float>(cublasCrotg_v2, handle, on_device);
    complex_rotg<Complex128, double>(cublasZrotg_v2, handle, on_device);
    rotmg<float>(cublasSrotmg_v2, handle, on_device);
    rotmg<double>(cublasDrotmg_v2, handle, on_device);
    rotm<float>(cublasSrotm_v2, handle, on_device);
    rotm<double>(cublasDrotm_v2, handle, on_device);
    rot_ex<float, float, float>(handle, on_device, kFloat, kFloat);
    rot_ex<double, double, double>(handle, on_device, kDouble, kDouble);
    rot_ex<Complex64, float, float>(handle, on_device, kComplexFloat, kFloat);
    rot_ex<Complex64, Complex64, Complex64>(handle, on_device, kComplexFloat, kComplexFloat);
    rot_ex<Complex128, double, double>(handle, on_device, kComplexDouble, kDouble);
    rot_ex<Complex128, Complex128, Complex128>(handle, on_device, kComplexDouble, kComplexDouble);
  }
  check(cublasRotEx(handle, 0, nullptr, kHalf, 1, nullptr, kHalf, 1, nullptr, nullptr, kHalf, kFloat) ==
            kNotSupported,
        "RotEx of halves");
  groups<float>(
      handle, [&](auto... arguments) { return cublasSgemmGroupedBatched(handle, arguments...); }, "S");
  groups<double>(
      handle, [&](auto... arguments) { return cublasDgemmGroupedBatched(handle, arguments...); }, "D");
  const auto extended = [&](int type, int compute) {
    return [&handle, type, compute](const int* op_a, const int* op_b, const int* m, const int* n,
                                    const int* k, const void* alpha, auto* a, const int* lda, auto* b,
                                    const int* ldb, const void* beta, auto* c, const int* ldc, int count,
                                    const int* size) {
      using Inputs = const void* const*;
      return cublasGemmGroupedBatchedEx(handle, op_a, op_b, m, n, k, alpha, reinterpret_cast<Inputs>(a), type,
                                        lda, reinterpret_cast<Inputs>(b), type, ldb, beta,
                                        reinterpret_cast<void* const*>(c), type, ldc, count, size, compute);
    };
  };
  groups<float>(handle, extended(kFloat, kCompute32), "Ex of floats");
  groups<double>(handle, extended(kDouble, kCompute64), "Ex of doubles");
  rank_k<Complex64>(cublasCsyrkEx, handle, false);
  rank_k<Complex64>(cublasCsyrk3mEx, handle, false);
  rank_k<float>(cublasCherkEx, handle, true);
  rank_k<float>(cublasCherk3mEx, handle, true);
  return result();
}
