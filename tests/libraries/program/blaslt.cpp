// cuBLASLt: products with epilogues, by rows and by columns, against products by definition.
#include "blas.hpp"
#include "encoded.hpp"

extern "C" {
int cublasLtCreate(Handle*);
int cublasLtDestroy(Handle);
int cublasLtMatrixLayoutCreate(void**, int, std::uint64_t, std::uint64_t, std::int64_t);
int cublasLtMatrixLayoutSetAttribute(void*, int, const void*, std::size_t);
int cublasLtMatrixLayoutGetAttribute(void*, int, void*, std::size_t, std::size_t*);
int cublasLtMatrixLayoutDestroy(void*);
int cublasLtMatrixLayoutInit_internal(void*, std::size_t, int, std::uint64_t, std::uint64_t, std::int64_t);
int cublasLtMatmulDescCreate(void**, int, int);
int cublasLtMatmulDescSetAttribute(void*, int, const void*, std::size_t);
int cublasLtMatmulDescDestroy(void*);
int cublasLtMatmulPreferenceCreate(void**);
int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, std::size_t);
int cublasLtMatmulPreferenceDestroy(void*);
int cublasLtMatmulAlgoGetHeuristic(Handle, void*, void*, void*, void*, void*, void*, int, void*, int*);
int cublasLtMatmul(Handle, void*, const void*, const void*, void*, const void*, void*, const void*,
                   const void*, void*, void*, void*, const void*, void*, std::size_t, void*);
}

namespace {

constexpr int k16F = 64, k32F = 68, k64F = 70, k32I = 72;
constexpr int kOrder = 1, kBatches = 5, kStride = 6;  // of a layout
constexpr int kPointerMode = 2, kOpA = 3, kOpB = 4, kOpC = 5, kFill = 6, kEpilogue = 7, kBias = 8,
              kBiasStride = 10, kBiasType = 26, kAux = 11;
constexpr std::uint32_t kDefault = 1, kRelu = 2, kWithBias = 4, kGelu = 32;

struct Heuristic {
  std::uint64_t algorithm[8];
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

/// A matrix of a batch on the device, with its layout.
struct Stored {
  int rows, columns, order, grain, ld, count;
  std::int64_t stride;
  Operand data;
  void* layout = nullptr;

  Stored(int type, int r, int c, int batches)
      : rows(r),
        columns(c),
        order(random_int(0, 1)),
        grain(random_int(0, 1) == 1 ? 8 : 1),
        ld(((order == 1 ? c : r) + random_int(0, 3) + grain - 1) / grain * grain),
        count(batches),
        stride(ld * (order == 1 ? r : c) + random_int(0, 2) * grain),
        data(type, static_cast<std::size_t>(stride * batches)) {
    const auto u = [](int x) { return static_cast<std::uint64_t>(x); };
    check(cublasLtMatrixLayoutCreate(&layout, type, u(r), u(c), ld) == 0, "a layout");
    check(cublasLtMatrixLayoutSetAttribute(layout, kOrder, &order, 4) == 0, "its order");
    check(cublasLtMatrixLayoutSetAttribute(layout, kBatches, &count, 4) == 0, "its batch");
    check(cublasLtMatrixLayoutSetAttribute(layout, kStride, &stride, 8) == 0, "its stride");
  }
  ~Stored() { check(cublasLtMatrixLayoutDestroy(layout) == 0, "the end of a layout"); }
  Stored(const Stored&) = delete;
  Stored& operator=(const Stored&) = delete;
  [[nodiscard]] std::size_t place(int batch, int i, int j) const {
    return static_cast<std::size_t>(batch * stride + (order == 1 ? i * ld + j : i + j * ld));
  }
  [[nodiscard]] double at(int batch, int i, int j) const { return data.values[place(batch, i, j)]; }
  [[nodiscard]] double op(int kind, int batch, int i, int j) const {
    return kind == kN ? at(batch, i, j) : at(batch, j, i);
  }
};

struct Types {
  int ab, cd, compute, scale;
  double tolerance;
  bool epilogues;
};

double activated(std::uint32_t epilogue, double x) {
  if ((epilogue & kRelu) != 0) return std::max(0.0, x);
  if ((epilogue & kGelu) != 0)
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
  return x;
}

class Description {
 public:
  Description(int compute, int scale) {
    check(cublasLtMatmulDescCreate(&description_, compute, scale) == 0, "a description");
  }
  ~Description() { check(cublasLtMatmulDescDestroy(description_) == 0, "the end of a description"); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  template <class T>
  void set(int attribute, T value) {
    check(cublasLtMatmulDescSetAttribute(description_, attribute, &value, sizeof value) == 0,
          "attribute " + std::to_string(attribute));
  }
  operator void*() const { return description_; }

 private:
  void* description_ = nullptr;
};

struct Shape {
  int m, n, k, op_a, op_b, count;
};

std::vector<double> expected_of(const Shape& s, const Stored& a, const Stored& b, const Stored& c,
                                const Stored& d, double alpha, double beta, std::uint32_t epilogue,
                                const Operand& bias, int bias_stride) {
  std::vector<double> all = d.data.values;
  for (int batch = 0; batch < s.count; ++batch)
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < s.n; ++j) {
        double sum = 0;
        for (int p = 0; p < s.k; ++p) sum += a.op(s.op_a, batch, i, p) * b.op(s.op_b, batch, p, j);
        sum = alpha * sum + beta * c.at(batch, i, j);
        if ((epilogue & kWithBias) != 0)
          sum += bias.values[static_cast<std::size_t>(batch * bias_stride + i)];
        all[d.place(batch, i, j)] = activated(epilogue, sum);
      }
  return all;
}

void random_product(Handle handle, const Types& t, int smallest, int largest, void* stream) {
  const Shape s{random_int(smallest, largest),
                random_int(smallest, largest),
                random_int(1, 60),
                random_int(0, 1),
                random_int(0, 1),
                random_int(1, 2)};
  const Stored a(t.ab, s.op_a == kN ? s.m : s.k, s.op_a == kN ? s.k : s.m, s.count);
  const Stored b(t.ab, s.op_b == kN ? s.k : s.n, s.op_b == kN ? s.n : s.k, s.count);
  Stored d(t.cd, s.m, s.n, s.count), c(t.cd, s.m, s.n, s.count);
  while (c.order != d.order) {
    c.~Stored();
    new (&c) Stored(t.cd, s.m, s.n, s.count);
  }
  constexpr std::uint32_t kAll[] = {kDefault, kRelu, kWithBias, kRelu | kWithBias, kGelu, kGelu | kWithBias};
  const std::uint32_t epilogue = t.epilogues ? kAll[random_int(0, 5)] : kDefault;
  const bool on_device = random_int(0, 1) == 1, float_bias = random_int(0, 1) == 1;
  const int bias_stride = random_int(0, 1) * (s.m + 3);
  const Operand bias(float_bias ? kFloat : t.cd, static_cast<std::size_t>(2 * s.m + 3));
  Description description(t.compute, t.scale);
  description.set(kOpA, s.op_a);
  description.set(kOpB, s.op_b);
  description.set(kPointerMode, static_cast<int>(on_device));
  description.set(kEpilogue, epilogue);
  description.set(kBias, static_cast<unsigned char*>(bias.device));
  description.set(kBiasStride, static_cast<std::int64_t>(bias_stride));
  if (float_bias) description.set(kBiasType, kFloat);
  const double alpha = random_int(0, 3) / 2.0, beta = random_int(0, 2);
  const bool integers = t.scale == kInt32;
  const std::uint64_t bits[2] = {encode(t.scale, integers ? 2 : alpha), encode(t.scale, beta)};
  const Device<std::uint64_t> factors(std::vector<std::uint64_t>{bits[0], bits[1]});
  void* preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference) == 0, "a preference");
  const std::uint64_t workspace = 1 << 20;
  check(cublasLtMatmulPreferenceSetAttribute(preference, 1, &workspace, 8) == 0, "its workspace");
  Heuristic heuristic[2];
  int found = 0;
  check(cublasLtMatmulAlgoGetHeuristic(handle, description, a.layout, b.layout, c.layout, d.layout,
                                       preference, 2, heuristic, &found) == 0 &&
            found == 1 && heuristic[0].state == 0 && heuristic[0].workspace <= workspace,
        "an algorithm");
  check(cublasLtMatmulPreferenceDestroy(preference) == 0, "the end of a preference");
  const int status =
      cublasLtMatmul(handle, description, on_device ? factors : bits, a.data.device, a.layout, b.data.device,
                     b.layout, on_device ? factors + 1 : bits + 1, c.data.device, c.layout, d.data.device,
                     d.layout, &heuristic[0].algorithm, nullptr, 0, stream);
  const auto expected = expected_of(s, a, b, c, d, integers ? 2 : alpha, beta, epilogue, bias, bias_stride);
  check(status == 0 && close(d.data.get(), expected, t.tolerance),
        "types " + std::to_string(t.ab) + " and " + std::to_string(t.cd) + ", epilogue " +
            std::to_string(epilogue) + ", orders " + std::to_string(a.order) + std::to_string(b.order) +
            std::to_string(d.order) + ", ops " + std::to_string(s.op_a) + std::to_string(s.op_b) + ": " +
            std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k));
}

/// D = C, in place, and what is refused.
void others(Handle handle) {
  const Stored a(kFloat, 8, 8, 1), b(kFloat, 8, 8, 1), d(kFloat, 8, 8, 1), small(kFloat, 4, 8, 1),
      half(kHalf, 8, 8, 1);
  const float one = 1;
  const auto product = [&](void* description, const Stored& first, const Stored& second) {
    return cublasLtMatmul(handle, description, &one, first.data.device, first.layout, second.data.device,
                          second.layout, &one, d.data.device, d.layout, d.data.device, d.layout, nullptr,
                          nullptr, 0, nullptr);
  };
  Description plain(k32F, kFloat);
  const Shape s{8, 8, 8, kN, kN, 1};
  const auto expected = expected_of(s, a, b, d, d, 1, 1, kDefault, a.data, 0);
  check(product(plain, a, b) == 0 && close(d.data.get(), expected, 1e-6), "a product in place");
  check(product(plain, small, b) == kInvalid, "sizes that do not fit");
  check(product(plain, half, b) == kNotSupported, "A and B of two types");
  Description wrong(k32F, kFloat);
  wrong.set(kEpilogue, 256u);
  check(product(wrong, a, b) == kNotSupported, "an epilogue that there is not");
  Description transposed(k32F, kFloat);
  transposed.set(kOpC, kT);
  check(product(transposed, a, b) == kNotSupported, "a transposed C");
  Description biased(k32F, kFloat);
  biased.set(kEpilogue, kWithBias);
  check(product(biased, a, b) == kInvalid, "no bias");
  const void* somewhere = &one;
  check(cublasLtMatmulDescSetAttribute(biased, kAux, &somewhere, 8) == kNotSupported,
        "an attribute that is not kept");
  check(cublasLtMatmulDescSetAttribute(biased, kFill, &one, 8) == kInvalid, "an attribute of another size");
  check(cublasLtMatmulDescSetAttribute(a.layout, kFill, &one, 4) == kInvalid, "a layout for a description");
  check(product(a.layout, a, b) == kInvalid, "a layout for a description, again");
  std::uint64_t own[8], rows = 0;
  std::size_t written = 0;
  check(cublasLtMatrixLayoutInit_internal(own, sizeof own, kFloat, 3, 4, 5) == 0 &&
            cublasLtMatrixLayoutGetAttribute(own, 2, &rows, 8, &written) == 0 && rows == 3 && written == 8,
        "a layout in place");
}

}  // namespace

int main() {
  Handle handle = nullptr;
  void* stream = nullptr;
  check(cublasLtCreate(&handle) == 0 && cudaStreamCreateWithFlags(&stream, 1) == 0, "a handle");
  const Types all[] = {
      {kFloat, kFloat, k32F, kFloat, 1e-6, true},   {kHalf, kHalf, k32F, kFloat, 1e-3, true},
      {kHalf, kFloat, k32F, kFloat, 1e-6, true},    {kHalf, kHalf, k16F, kHalf, 1e-3, true},
      {kBfloat, kBfloat, k32F, kFloat, 8e-3, true}, {kBfloat, kFloat, k32F, kFloat, 1e-6, true},
      {kDouble, kDouble, k64F, kDouble, 0, false},  {kInt8, kInt32, k32I, kInt32, 0, false}};
  for (const Types& types : all) {
    random_product(handle, types, 130, 160, stream);
    for (int i = 0; i < 8; ++i) random_product(handle, types, 1, 80, stream);
  }
  others(handle);
  check(cublasLtDestroy(handle) == 0, "the end of the handle");
  return result();
}
