// Programs that call our cuBLAS: each compares with computations of its own, and prints PASS or what is
// wrong.
#include <catch2/catch.hpp>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

TEST_CASE("cuBLAS: matrix products are what their definition says") {
  const Finished done = run({"exec", "--functional", "--", LOCKSTEP_BLAS_GEMM});
  CHECK(done.out == "PASS\n");
  CHECK(done.err.empty());
  CHECK(done.code == 0);
}

TEST_CASE("a program that calls one of our libraries is told whose times it sees") {
  const Finished done = run({"exec", "-c", "v100", "--", LOCKSTEP_BLAS_GEMM});
  CHECK(done.code == 0);
  CHECK_THAT(done.out, Catch::Contains("lockstep_blas_gemm_f32_32"));
  CHECK_THAT(done.out,
             Catch::Contains("remark: lockstep_blas_*: kernels of Lockstep's own library in place of "
                             "NVIDIA's cublas"));
}
