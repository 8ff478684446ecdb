// Random transforms of all kinds and layouts, compared with sums over the definition. Arguments: a seed and
// the number of cases.
#include "fft_case.hpp"
#include "fft_reference.hpp"

namespace {

int failures = 0;

void expect(bool fact, const char* what) {
  if (fact) return;
  std::printf("FAIL: %s\n", what);
  ++failures;
}

template <class T>
int type_of(Kind kind) {
  constexpr bool twice = sizeof(T) == 8;
  if (kind == Kind::kRealToComplex) return twice ? CUFFT_D2Z : CUFFT_R2C;
  if (kind == Kind::kComplexToReal) return twice ? CUFFT_Z2D : CUFFT_C2R;
  return twice ? CUFFT_Z2Z : CUFFT_C2C;
}

int execute(cufftHandle plan, const Case& c, float* in, float* out) {
  switch (c.kind) {
    case Kind::kForward:
      return cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(in), reinterpret_cast<cufftComplex*>(out),
                          -1);
    case Kind::kInverse:
      return cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(in), reinterpret_cast<cufftComplex*>(out), 1);
    case Kind::kRealToComplex:
      return cufftExecR2C(plan, in, reinterpret_cast<cufftComplex*>(out));
    default:
      return cufftExecC2R(plan, reinterpret_cast<cufftComplex*>(in), out);
  }
}

int execute(cufftHandle plan, const Case& c, double* in, double* out) {
  auto* const complex_in = reinterpret_cast<cufftDoubleComplex*>(in);
  auto* const complex_out = reinterpret_cast<cufftDoubleComplex*>(out);
  switch (c.kind) {
    case Kind::kForward:
      return cufftExecZ2Z(plan, complex_in, complex_out, -1);
    case Kind::kInverse:
      return cufftExecZ2Z(plan, complex_in, complex_out, 1);
    case Kind::kRealToComplex:
      return cufftExecD2Z(plan, in, complex_out);
    default:
      return cufftExecZ2D(plan, complex_in, out);
  }
}

/// By one of the ways there are to make the same plan; `area` is what has to be freed afterwards.
template <class T>
cufftHandle plan_of(Case& c, Random& random, void** area) {
  cufftHandle plan = 0;
  const auto type = static_cast<cufftType>(type_of<T>(c.kind));
  int* const in_embed = c.advanced ? c.in.embed : nullptr;
  int* const out_embed = c.advanced ? c.out.embed : nullptr;
  if (random.below(2) == 0) {
    if (c.rank == 1 && !c.advanced) {
      expect(cufftPlan1d(&plan, c.n[0], type, c.batch) == CUFFT_SUCCESS, "cufftPlan1d");
    } else {
      expect(cufftPlanMany(&plan, c.rank, c.n, in_embed, c.in.stride, c.in.distance, out_embed, c.out.stride,
                           c.out.distance, type, c.batch) == CUFFT_SUCCESS,
             "cufftPlanMany");
    }
    return plan;
  }
  const bool by_hand = random.below(2) == 0;
  std::size_t bytes = 0, same = 0;
  expect(cufftCreate(&plan) == CUFFT_SUCCESS, "cufftCreate");
  if (by_hand) expect(cufftSetAutoAllocation(plan, 0) == CUFFT_SUCCESS, "cufftSetAutoAllocation");
  expect(cufftMakePlanMany(plan, c.rank, c.n, in_embed, c.in.stride, c.in.distance, out_embed, c.out.stride,
                           c.out.distance, type, c.batch, &bytes) == CUFFT_SUCCESS,
         "cufftMakePlanMany");
  expect(cufftGetSize(plan, &same) == CUFFT_SUCCESS && bytes == same, "cufftGetSize");
  if (by_hand && bytes > 0) {
    expect(cudaMalloc(area, bytes) == 0, "cudaMalloc");
    expect(cufftSetWorkArea(plan, *area) == CUFFT_SUCCESS, "cufftSetWorkArea");
  }
  return plan;
}

template <class T>
std::vector<T> run(cufftHandle plan, const Case& c, const std::vector<T>& in, std::vector<T> out,
                   cudaStream_t stream) {
  T *device_in = nullptr, *device_out = nullptr;
  expect(cudaMalloc(reinterpret_cast<void**>(&device_in), in.size() * sizeof(T)) == 0, "cudaMalloc");
  expect(cudaMemcpy(device_in, in.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice) == 0, "cudaMemcpy");
  device_out = device_in;
  if (!c.in_place) {
    expect(cudaMalloc(reinterpret_cast<void**>(&device_out), out.size() * sizeof(T)) == 0, "cudaMalloc");
    expect(cudaMemcpy(device_out, out.data(), out.size() * sizeof(T), cudaMemcpyHostToDevice) == 0,
           "cudaMemcpy");
  }
  expect(cufftSetStream(plan, stream) == CUFFT_SUCCESS, "cufftSetStream");
  expect(execute(plan, c, device_in, device_out) == CUFFT_SUCCESS, "cufftExec");
  expect(cudaStreamSynchronize(stream) == 0, "cudaStreamSynchronize");
  expect(cudaMemcpy(out.data(), device_out, out.size() * sizeof(T), cudaMemcpyDeviceToHost) == 0,
         "cudaMemcpy");
  if (!c.in_place) {
    std::vector<T> input(in.size());
    expect(cudaMemcpy(input.data(), device_in, in.size() * sizeof(T), cudaMemcpyDeviceToHost) == 0,
           "cudaMemcpy");
    expect(input == in, "the input has changed");
    cudaFree(device_out);
  }
  cudaFree(device_in);
  return out;
}

template <class T>
void check_case(Case c, Random& random, cudaStream_t stream) {
  const Signal signal = random_signal(c, random);
  const std::vector<T> in = laid_out<T>(c, c.in, signal.in, c.complex_in());
  // What is not part of the result has to stay as it is.
  const std::vector<T> before = c.in_place ? in : std::vector<T>(c.parts(c.out, c.complex_out()), T{7});
  void* area = nullptr;
  const cufftHandle plan = plan_of<T>(c, random, &area);
  const std::vector<T> result = run(plan, c, in, before, stream);
  expect(cufftDestroy(plan) == CUFFT_SUCCESS, "cufftDestroy");
  cudaFree(area);
  const Difference difference = compare(c, signal, result, before);
  const double limit = (sizeof(T) == 8 ? 1e-15 : 1e-7) * (8 + 2 * std::log2(static_cast<double>(c.points())));
  if (difference.largest <= limit && !difference.stray) return;
  std::printf("FAIL: %s: off by %g where %g is allowed%s\n", c.text(sizeof(T)).c_str(), difference.largest,
              limit, difference.stray ? ", and something else was written" : "");
  ++failures;
}

void check_refusals() {
  cufftHandle plan = 0;
  int length = 8;
  expect(cufftPlan1d(nullptr, 8, CUFFT_C2C, 1) == CUFFT_INVALID_VALUE, "no place for a handle");
  expect(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE, "a length of 0");
  expect(cufftPlan1d(&plan, 8, CUFFT_C2C, 0) == CUFFT_INVALID_SIZE, "a batch of 0");
  expect(cufftPlan1d(&plan, 8, static_cast<cufftType>(1), 1) == CUFFT_INVALID_TYPE, "an unknown type");
  expect(cufftPlanMany(&plan, 4, &length, nullptr, 1, 1, nullptr, 1, 1, CUFFT_C2C, 1) == CUFFT_INVALID_VALUE,
         "four dimensions");
  expect(cufftExecC2C(12345, nullptr, nullptr, -1) == CUFFT_INVALID_PLAN, "no such plan");
  expect(cufftCreate(&plan) == CUFFT_SUCCESS, "cufftCreate");
  cufftComplex* memory = nullptr;
  expect(cudaMalloc(reinterpret_cast<void**>(&memory), 8 * sizeof(cufftComplex)) == 0, "cudaMalloc");
  expect(cufftExecC2C(plan, memory, memory, -1) == CUFFT_INVALID_PLAN, "a plan that is not made");
  expect(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, nullptr) == CUFFT_SUCCESS, "cufftMakePlan1d");
  expect(cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, nullptr) == CUFFT_INVALID_PLAN, "a plan made twice");
  expect(cufftExecR2C(plan, reinterpret_cast<float*>(memory), memory) == CUFFT_INVALID_TYPE,
         "another type's plan");
  expect(cufftExecC2C(plan, memory, memory, 0) == CUFFT_INVALID_VALUE, "no direction");
  expect(cufftExecC2C(plan, nullptr, memory, -1) == CUFFT_INVALID_VALUE, "no input");
  expect(cufftDestroy(plan) == CUFFT_SUCCESS, "cufftDestroy");
  expect(cufftDestroy(plan) == CUFFT_INVALID_PLAN, "a plan destroyed twice");
  std::size_t bytes = 0;
  expect(cufftEstimate1d(1 << 20, CUFFT_Z2Z, 1, &bytes) == CUFFT_SUCCESS && bytes >= (std::size_t{16} << 20),
         "the work area of a long transform");
  cudaFree(memory);
}

}  // namespace

int main(int count, char** arguments) {
  const int seed = count > 1 ? std::atoi(arguments[1]) : 1;
  const int cases = count > 2 ? std::atoi(arguments[2]) : 40;
  Random random{static_cast<unsigned long long>(seed)};
  cudaStream_t stream = nullptr;
  expect(cudaStreamCreate(&stream) == 0, "cudaStreamCreate");
  check_refusals();
  for (int i = 0; i < cases; ++i) {
    const Case c = random_case(random);
    if (random.below(2) == 0) {
      check_case<float>(c, random, random.below(2) == 0 ? stream : nullptr);
    } else {
      check_case<double>(c, random, random.below(2) == 0 ? stream : nullptr);
    }
  }
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
