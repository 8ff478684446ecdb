// Programs that call our cuBLAS, cuBLASLt and cuSOLVER: each compares with computations of its own, and
// prints PASS or what is wrong.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

/// Options for a small GPU: matrices of a few hundred rows have as many tiles as it has SMs, so that tiles
/// are large.
using Options = std::vector<std::string>;
const Options kSmallV100 = {"--set", "gpu.sms=2", "--set", "gpu.gpcs=1"},
              kSmallA100 = {"-c", "a100", "--set", "gpu.sms=4", "--set", "gpu.gpcs=2"};
const Options kModels[] = {{}, {"-c", "a100"}, kSmallV100, kSmallA100};

/// What the program says on standard error, after PASS.
std::string errors_of(const std::string& program, const Options& options = {}) {
  std::vector<std::string> arguments = {"exec", "--functional", "-q"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {"--", program});
  const Finished done = run(arguments);
  CHECK(done.out == "PASS\n");
  CHECK(done.code == 0);
  return done.err;
}

}  // namespace

TEST_CASE("cuBLAS: matrix products are what their definition says") {
  for (const Options& model : {Options{"--ptx-above", "refuse"}, kSmallV100})
    CHECK(errors_of(LOCKSTEP_BLAS_GEMM, model) ==
          "lockstep: a size of more than 2^31 - 1 is not supported by Lockstep's own library\n");
}

TEST_CASE(
    "cuBLAS: products of mixed types, with and without tensor cores for bfloat16; what is refused is named",
    "[long]") {
  for (const Options& model : kModels) {
    const std::string errors = errors_of(LOCKSTEP_BLAS_GEMM_EX, model);
    CHECK(count_lines(errors) == 4);
    CHECK_THAT(
        errors,
        Catch::Contains("cublasGemmEx: A, B and C of cudaDataType 2, 14 and 0 with compute type 68 is not"));
  }
}

TEST_CASE("cuBLAS: products read and write only what they may, and nothing before it is written", "[long]") {
  for (Options model : {kSmallV100, kSmallA100}) {
    model.insert(model.end(), {"--check", "all"});
    CHECK_THAT(errors_of(LOCKSTEP_BLAS_GEMM_EX, model), Catch::Contains("check: 0 errors"));
  }
}

TEST_CASE("cuBLAS: vectors") { CHECK(errors_of(LOCKSTEP_BLAS_VECTORS).empty()); }
TEST_CASE("cuBLAS by its interface before handles") { CHECK(errors_of(LOCKSTEP_BLAS_LEGACY).empty()); }
TEST_CASE("cuBLAS: matrices and vectors") { CHECK(errors_of(LOCKSTEP_BLAS_LEVEL2).empty()); }
TEST_CASE("cuBLAS: band and packed matrices") { CHECK(errors_of(LOCKSTEP_BLAS_STORED).empty()); }
TEST_CASE("cuBLAS: rotations, products in groups, rank-k updates by types") {
  const std::string errors = errors_of(LOCKSTEP_BLAS_ROTATIONS);
  CHECK(count_lines(errors) == 5);
  CHECK_THAT(errors, Catch::Contains("cublasRotEx: vectors of cudaDataType 2 and 2, c and s of 2") &&
                         Catch::Contains("cublasCherk3mEx: A and C of cudaDataType 3 and 4 is not"));
}
TEST_CASE("cuBLAS by its name for CUDA 12, with the runtime for CUDA 12: one runtime in the process") {
  CHECK(errors_of(LOCKSTEP_CUDA12).empty());
  const Finished done = run(Launch{.arguments = {"exec", "--functional", "--", LOCKSTEP_CUDA12},
                                   .environment = {{"LD_DEBUG", "libs"}}});
  CHECK_THAT(done.err, Catch::Contains("libcudart.so.12") && !Catch::Contains("libcudart.so.13"));
}
TEST_CASE("cuBLAS: symmetric and triangular matrices", "[long]") {
  CHECK(errors_of(LOCKSTEP_BLAS_LEVEL3).empty());
}
TEST_CASE("cuBLAS: handles of several devices and threads, and graphs") {
  CHECK(errors_of(LOCKSTEP_BLAS_DEVICES, {"--gpus", "2"}).empty());
}
TEST_CASE("cuSOLVER: factors and solutions", "[long]") {
  CHECK(errors_of(LOCKSTEP_SOLVER) ==
        "lockstep: cusolverDnXgetrf: cudaDataType 1 with 0 is not supported by Lockstep's own library\n");
}
TEST_CASE("cuSOLVER: QR", "[long]") { CHECK(errors_of(LOCKSTEP_SOLVER_QR).empty()); }
TEST_CASE("cuSOLVER: eigenvalues", "[long]") {
  CHECK(errors_of(LOCKSTEP_SOLVER_EIGEN) ==
        "lockstep: sweeps and residuals of a batch is not supported by Lockstep's own library\n");
}
TEST_CASE("cuSOLVER: singular values", "[long]") {
  const std::string errors = errors_of(LOCKSTEP_SOLVER_SVD);
  CHECK(count_lines(errors) == 2);
  CHECK_THAT(errors, Catch::Contains("cusolverDnXgesvd: cudaDataType 1 with 0 is not supported"));
}

TEST_CASE("cuBLAS: kernels read nothing that was not written", "[long]") {
  const Finished done =
      run({"exec", "--functional", "-q", "--check", "init,memory,race", "--", LOCKSTEP_BLAS_LEVEL3, "2"});
  CHECK(done.out == "PASS\n");
  CHECK_THAT(done.err, Catch::Contains("check: 0 errors"));
  CHECK_THAT(errors_of(LOCKSTEP_BLAS_STORED, {"--check", "init,memory,race"}),
             Catch::Contains("check: 0 errors"));
}

TEST_CASE("cuBLASLt: products with epilogues", "[long]") {
  for (const Options& model : kModels) {
    const std::string errors = errors_of(LOCKSTEP_BLASLT, model);
    CHECK_THAT(errors, Catch::Contains("cublasLtMatmul: epilogue 256 is not supported"));
  }
}

TEST_CASE("a program that calls one of our libraries is told whose times it sees", "[long]") {
  const Finished done = run({"exec", "-c", "v100", "--", LOCKSTEP_BLASLT});
  CHECK(done.code == 0);
  CHECK_THAT(done.out,
             Catch::Contains("remark: lockstep_blas_*: kernels of Lockstep's own library in place of "
                             "NVIDIA's cublas; their times are not those of NVIDIA's kernels"));
  CHECK_THAT(done.out,
             Catch::Contains("remark: lockstep_blaslt_*: kernels of Lockstep's own library in place of "
                             "NVIDIA's cublaslt"));
}
