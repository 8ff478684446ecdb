// cuBLAS: products whose types are arguments: half, bfloat16, bytes; and cublasHgemm.
#include "blas.hpp"
#include "encoded.hpp"

extern "C" {
int cublasHgemm(Handle, int, int, int, int, int, const std::uint16_t*, const std::uint16_t*, int,
                const std::uint16_t*, int, const std::uint16_t*, std::uint16_t*, int);
int cublasGemmEx(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                 const void*, void*, int, int, int, int);
int cublasGemmStridedBatchedEx(Handle, int, int, int, int, int, const void*, const void*, int, int, long long,
                               const void*, int, int, long long, const void*, void*, int, int, long long, int,
                               int, int);
int cublasGemmBatchedEx(Handle, int, int, int, int, int, const void*, const void* const*, int, int,
                        const void* const*, int, int, const void*, void* const*, int, int, int, int, int);
int cublasSgemmEx(Handle, int, int, int, int, int, const float*, const void*, int, int, const void*, int, int,
                  const float*, void*, int, int);
int cublasAxpyEx(Handle, int, const void*, int, const void*, int, int, void*, int, int, int);
int cublasScalEx(Handle, int, const void*, int, void*, int, int, int);
int cublasDotEx(Handle, int, const void*, int, int, const void*, int, int, void*, int, int);
int cublasNrm2Ex(Handle, int, const void*, int, int, void*, int, int);
}

namespace {

constexpr int k16F = 64, k32F = 68, k64F = 70, k32I = 72, kTf32 = 77;

struct Types {
  const char* name;
  int ab, c, compute, scale;
  double tolerance;  // of rounding to C
};

struct Shape {
  int op_a, op_b, m, n, k, lda = 4, ldb = 4, ldc = 4, count = 1;
};

double element(const Operand& x, int op, int ld, int i, int j, std::size_t offset) {
  return x.values[offset + static_cast<std::size_t>(op == kN ? i + j * ld : j + i * ld)];
}

std::vector<double> expected_of(const Shape& s, double alpha, const Operand& a, const Operand& b, double beta,
                                const Operand& c, std::size_t sa, std::size_t sb, std::size_t sc) {
  std::vector<double> all = c.values;
  for (std::size_t batch = 0; batch < static_cast<std::size_t>(s.count); ++batch)
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < s.n; ++j) {
        double sum = 0;
        for (int p = 0; p < s.k; ++p)
          sum += element(a, s.op_a, s.lda, i, p, batch * sa) * element(b, s.op_b, s.ldb, p, j, batch * sb);
        double& to = all[batch * sc + static_cast<std::size_t>(i + j * s.ldc)];
        to = alpha * sum + beta * to;
      }
  return all;
}

int call(Handle handle, const Types& t, const Shape& s, const void* alpha, const Operand& a, const Operand& b,
         const void* beta, const Operand& c, std::size_t sa, std::size_t sb, std::size_t sc,
         bool by_pointers) {
  if (by_pointers) {
    std::vector<unsigned char*> pa, pb, pc;
    for (std::size_t i = 0; i < static_cast<std::size_t>(s.count); ++i) {
      pa.push_back(a.device + i * sa * bytes_of(t.ab));
      pb.push_back(b.device + i * sb * bytes_of(t.ab));
      pc.push_back(c.device + i * sc * bytes_of(t.c));
    }
    const Device<unsigned char*> da(pa), db(pb), dc(pc);
    const auto in = [](const Device<unsigned char*>& x) {
      return reinterpret_cast<const void* const*>(static_cast<unsigned char**>(x));
    };
    const int status = cublasGemmBatchedEx(handle, s.op_a, s.op_b, s.m, s.n, s.k, alpha, in(da), t.ab, s.lda,
                                           in(db), t.ab, s.ldb, beta, const_cast<void* const*>(in(dc)), t.c,
                                           s.ldc, s.count, t.compute, -1);
    cudaDeviceSynchronize();
    return status;
  }
  if (s.count > 1)
    return cublasGemmStridedBatchedEx(handle, s.op_a, s.op_b, s.m, s.n, s.k, alpha, a.device, t.ab, s.lda,
                                      static_cast<long long>(sa), b.device, t.ab, s.ldb,
                                      static_cast<long long>(sb), beta, c.device, t.c, s.ldc,
                                      static_cast<long long>(sc), s.count, t.compute, 99);
  return cublasGemmEx(handle, s.op_a, s.op_b, s.m, s.n, s.k, alpha, a.device, t.ab, s.lda, b.device, t.ab,
                      s.ldb, beta, c.device, t.c, s.ldc, t.compute, -1);
}

int rounded_up(int x, int multiple) { return (x + multiple - 1) / multiple * multiple; }

constexpr int kStep = 8;  // halves of 16 bytes

void check_product(Handle handle, const Types& t, const Shape& s);

void random_product(Handle handle, const Types& t, int smallest, int largest) {
  Shape s{random_int(0, 1), random_int(0, 1), random_int(smallest, largest), random_int(smallest, largest),
          random_int(0, 60)};
  s.lda = std::max(1, s.op_a == kN ? s.m : s.k) + random_int(0, 3);
  s.ldb = std::max(1, s.op_b == kN ? s.k : s.n) + random_int(0, 3);
  s.ldc = s.m + random_int(0, 3);
  s.count = random_int(1, 2);
  check_product(handle, t, s);
}
/// One of the four ways in which A and B may lie, with more steps of k than are loaded ahead.
void aligned_product(Handle handle, const Types& t, int way, int smallest, int largest) {
  Shape s{way & 1, way >> 1 & 1, random_int(smallest, largest), random_int(smallest, largest),
          random_int(70, 150)};
  s.count = random_int(1, 2);
  if (random_int(0, 1) == 1)
    for (int* size : {&s.m, &s.n, &s.k}) *size = rounded_up(*size, kStep);
  s.lda = rounded_up(s.op_a == kN ? s.m : s.k, kStep) + random_int(0, 1) * kStep;
  s.ldb = rounded_up(s.op_b == kN ? s.k : s.n, kStep) + random_int(0, 1) * kStep;
  s.ldc = rounded_up(s.m, kStep);
  check_product(handle, t, s);
}

void check_product(Handle handle, const Types& t, const Shape& s) {
  const auto sa = static_cast<std::size_t>(s.lda * std::max(1, s.op_a == kN ? s.k : s.m));
  const auto sb = static_cast<std::size_t>(s.ldb * std::max(1, s.op_b == kN ? s.n : s.k));
  const auto sc = static_cast<std::size_t>(s.ldc * s.n), count = static_cast<std::size_t>(s.count);
  const Operand a(t.ab, sa * count), b(t.ab, sb * count), c(t.c, sc * count);
  const double alpha = random_int(0, 3), beta = random_int(0, 2);
  const bool on_device = random_int(0, 1) == 1;
  const std::uint64_t bits[2] = {encode(t.scale, alpha), encode(t.scale, beta)};
  const Device<std::uint64_t> factors(std::vector<std::uint64_t>{bits[0], bits[1]});
  cublasSetPointerMode_v2(handle, on_device);
  const int status = call(handle, t, s, on_device ? factors : bits, a, b, on_device ? factors + 1 : bits + 1,
                          c, sa, sb, sc, random_int(0, 1) == 1);
  check(status == 0 && close(c.get(), expected_of(s, alpha, a, b, beta, c, sa, sb, sc), t.tolerance),
        std::string(t.name) + ": " + std::to_string(s.m) + " x " + std::to_string(s.n) + " x " +
            std::to_string(s.k));
}

void others(Handle handle) {
  cublasSetPointerMode_v2(handle, 0);
  const Operand a(kHalf, 16), b(kHalf, 16), c(kHalf, 16), d(kBfloat, 16), e(kFloat, 16);
  const std::uint16_t two = 0x4000, none = 0;
  const float one = 1, zero = 0;
  const Shape s{kN, kT, 4, 4, 4};
  check(cublasHgemm(handle, kN, kT, 4, 4, 4, &two,
                    reinterpret_cast<std::uint16_t*>(static_cast<unsigned char*>(a.device)), 4,
                    reinterpret_cast<std::uint16_t*>(static_cast<unsigned char*>(b.device)), 4, &none,
                    reinterpret_cast<std::uint16_t*>(static_cast<unsigned char*>(c.device)), 4) == 0 &&
            close(c.get(), expected_of(s, 2, a, b, 0, c, 0, 0, 0), 1e-3),
        "cublasHgemm");
  check(cublasSgemmEx(handle, kN, kT, 4, 4, 4, &one, a.device, kHalf, 4, b.device, kHalf, 4, &zero, e.device,
                      kFloat, 4) == 0 &&
            close(e.get(), expected_of(s, 1, a, b, 0, e, 0, 0, 0), 0),
        "cublasSgemmEx");
  const auto refused = [&](int a_type, int b_type, int c_type, int compute, int algorithm) {
    return cublasGemmEx(handle, kN, kN, 4, 4, 4, &one, a.device, a_type, 4, d.device, b_type, 4, &zero,
                        e.device, c_type, 4, compute, algorithm);
  };
  check(refused(kHalf, kBfloat, kFloat, k32F, -1) == kNotSupported, "A and B of two types");
  check(refused(kHalf, kHalf, kDouble, k32F, -1) == kNotSupported, "C of another type");
  check(refused(kHalf, kHalf, kFloat, 99, -1) == kNotSupported, "a compute type that there is not");
  check(refused(kHalf, kHalf, kFloat, k32F, 50) == kInvalid, "an algorithm that there is not");
}

/// Vectors of `type`, with every other element of x.
void vectors(Handle handle, int type, int execution, double tolerance) {
  constexpr int kCount = 50;
  const std::string what = "vectors of type " + std::to_string(type) + ": ";
  Operand x(type, 2 * kCount), y(type, kCount);
  const std::uint64_t half = encode(execution, 0.5);
  cublasSetPointerMode_v2(handle, 0);
  double dot = 0, squares = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    dot += x.values[2 * i] * y.values[i];
    squares += x.values[2 * i] * x.values[2 * i];
  }
  std::uint64_t result = 0;
  check(cublasDotEx(handle, kCount, x.device, type, 2, y.device, type, 1, &result, type, execution) == 0 &&
            std::abs(decode(type, result) - dot) <= tolerance * (1 + std::abs(dot)),
        what + "dot");
  check(cublasNrm2Ex(handle, kCount, x.device, type, 2, &result, type, execution) == 0 &&
            std::abs(decode(type, result) - std::sqrt(squares)) <= tolerance * (1 + std::sqrt(squares)),
        what + "nrm2");
  check(cublasAxpyEx(handle, kCount, &half, execution, x.device, type, 2, y.device, type, 1, execution) == 0,
        what + "axpy's status");
  for (std::size_t i = 0; i < kCount; ++i) y.values[i] += 0.5 * x.values[2 * i];
  check(close(y.get(), y.values, 0), what + "axpy");
  check(cublasScalEx(handle, kCount, &half, execution, x.device, type, 2, execution) == 0,
        what + "scal's status");
  for (std::size_t i = 0; i < kCount; ++i) x.values[2 * i] *= 0.5;
  check(close(x.get(), x.values, 0), what + "scal");
  check(cublasScalEx(handle, kCount, &half, kInt32, x.device, type, 2, execution) == kNotSupported,
        what + "another alpha");
}

}  // namespace

int main() {
  const Blas handle;
  const Types all[] = {{"half by half", kHalf, kHalf, k16F, kHalf, 1e-3},
                       {"half", kHalf, kHalf, k32F, kFloat, 1e-3},
                       {"half to float", kHalf, kFloat, k32F, kFloat, 0},
                       {"bfloat16", kBfloat, kBfloat, k32F, kFloat, 4e-3},
                       {"bfloat16 to float", kBfloat, kFloat, k32F, kFloat, 0},
                       {"float", kFloat, kFloat, k32F, kFloat, 0},
                       {"TF32", kFloat, kFloat, kTf32, kFloat, 0},
                       {"double", kDouble, kDouble, k64F, kDouble, 0},
                       {"bytes", kInt8, kInt32, k32I, kInt32, 0},
                       {"bytes to float", kInt8, kFloat, k32F, kFloat, 0}};
  int way = 0;
  for (const Types& types : all) {
    random_product(handle, types, 130, 200);
    for (int i = 0; i < 4; ++i) random_product(handle, types, 1, 50);
    if (types.ab != kHalf && types.ab != kBfloat) continue;
    aligned_product(handle, types, way++, 130, 160);
    for (int i = 0; i < 4; ++i) aligned_product(handle, types, i, 20, 90);
  }
  others(handle);
  vectors(handle, kFloat, kFloat, 1e-6);
  vectors(handle, kDouble, kDouble, 1e-15);
  vectors(handle, kHalf, kFloat, 1e-3);
  vectors(handle, kBfloat, kFloat, 8e-3);
  return result();
}
