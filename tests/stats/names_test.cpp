// Expected texts are those of binutils' c++filt, without result type and parameters.
#include "stats/names.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "stats/demangle.hpp"

namespace lockstep::stats {

TEST_CASE("kernel names are what the program's source calls them") {
  CHECK(function_name("_Z9vectorAddPKfS0_Pfi") == "vectorAdd");
  CHECK(function_name("_ZN3foo3barEv") == "foo::bar");
  CHECK(function_name("_Z5scaleIfLi4EEvPT_") == "scale<float, 4>");
  CHECK(function_name("_Z5scaleIdLi4EEvPT_") == "scale<double, 4>");
  CHECK(function_name("_ZN12_GLOBAL__N_15innerIN3foo3barEEEvT_") == "(anonymous namespace)::inner<foo::bar>");
  CHECK(function_name("_Z1fIPFviEEvT_") == "f<void (*)(int)>");
}

TEST_CASE("names that are not mangled stay, without their parameters") {
  CHECK(function_name("bfs_kernel(int*, bool*)") == "bfs_kernel");
  CHECK(function_name("void scale<float, 4>(float*)") == "scale<float, 4>");
  CHECK(function_name("void (anonymous namespace)::f<int>(int)") == "(anonymous namespace)::f<int>");
  CHECK(function_name("gemm") == "gemm");
  CHECK(function_name("") == "");
  for (const char* odd : {"_Z", "_Z99999x", "_ZN", "("}) CHECK(function_name(odd) == odd);
  CHECK(function_name("a\033[2Jb\xff") == "a?[2Jb?");
}

TEST_CASE("a label fits its column and keeps what tells kernels apart") {
  CHECK(short_name("a_very_long_name_of_a_kernel", 11) == "a_ver~ernel");
  const std::string launch = "_ZN6Kokkos4Impl33cuda_parallel_launch_local_memory";
  const std::vector<std::string> names = {
      launch + "INS0_11ParallelForI5AlphaNS_11RangePolicyIJNS_4CudaEEEES5_EEEEvT_",
      launch + "INS0_11ParallelForI4BetaNS_11RangePolicyIJNS_4CudaEEEES5_EEEEvT_",
      launch + "INS0_14ParallelReduceI5AlphaNS_11RangePolicyIJNS_4CudaEEEES5_EEEEvT_"};
  CHECK(function_name(names[0]) ==
        "Kokkos::Impl::cuda_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<Alpha, "
        "Kokkos::RangePolicy<Kokkos::Cuda>, Kokkos::Cuda> >");
  for (const std::size_t width : {20u, 26u, 40u, 60u, 200u}) {
    const auto labels = kernel_labels(names, width);
    CHECK(std::set<std::string>(labels.begin(), labels.end()).size() == names.size());
    for (const std::string& label : labels) {
      CHECK(label.size() <= width);
      CHECK_THAT(label, !Catch::Contains("#"));
    }
  }
  const auto labels = kernel_labels(names, 40);
  CHECK_THAT(labels[0], Catch::StartsWith("cuda_paralle") && Catch::Contains("For<Alpha"));
  CHECK_THAT(labels[1], Catch::Contains("For<Beta"));
  CHECK_THAT(labels[2], Catch::Contains("Reduce"));
}

TEST_CASE("overloads show parameters, and names that read the same are numbered") {
  const std::vector<std::string> overloads = {"_Z4copyPf", "_Z4copyPd", "_Z4fillPf"};
  CHECK(kernel_labels(overloads, 30) == std::vector<std::string>{"copy(float*)", "copy(double*)", "fill"});
  const std::vector<std::string> scopes = {"_ZN1a4copyEv", "_ZN1b4copyEv"};
  CHECK(kernel_labels(scopes, 10) == std::vector<std::string>{"a::copy", "b::copy"});
  const std::vector<std::string> same = {"copy\x01", "copy\x02", "copy\x03"};
  CHECK(kernel_labels(same, 30) == std::vector<std::string>{"copy?", "copy?#2", "copy?#3"});
}

TEST_CASE("names that the demangler refuses keep their template arguments mangled") {
  std::string name = "_ZN7cutlass6KernelIJ";
  for (unsigned i = 0; i < 400; ++i) name += "Li1E";
  const std::string one = name + "1aEEEvv", other = name + "1bEEEvv";
  REQUIRE(demangled(one).empty());
  const std::vector<std::string> names = {one, other};
  const auto labels = kernel_labels(names, 26);
  CHECK_THAT(labels[0], Catch::StartsWith("Kernel<JLi1E"));
  CHECK(labels[0] != labels[1]);
}

/// f(x, x (*)(x, x), ...): the text doubles with each of 60 parameters, to 10^19 characters.
TEST_CASE("a name that stands for gigabytes of text is given up") {
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1f1xPFvS_S_E";
  for (unsigned i = 1; i < 120; i += 2) {
    const std::string id = (i < 36 ? "" : std::string(1, digits[i / 36])) + digits[i % 36];
    name += "PFvS" + id + "_S" + id + "_E";
  }
  CHECK(demangled(name).empty());
  CHECK(function_name(name) == "f");
  CHECK(demangled("_Z1f1xPFvS_S_EPFvS1_S1_E") ==
        "f(x, void (*)(x, x), void (*)(void (*)(x, x), void (*)(x, x)))");
}

}  // namespace lockstep::stats
