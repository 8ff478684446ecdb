// Expected texts are those of binutils' c++filt, without result type and parameters.
#include "stats/names.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
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

TEST_CASE("a label fits its column and keeps what distinguishes kernels") {
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
  CHECK_THAT(labels[0], Catch::StartsWith("~ParallelFor<Alpha, "));
  CHECK_THAT(labels[1], Catch::StartsWith("~ParallelFor<Beta, "));
  CHECK_THAT(labels[2], Catch::StartsWith("~ParallelReduce<Alpha, "));
}

/// Mangled by nvcc 13 from launches in Kokkos' form: lambdas of two functions, and copies between views that
/// differ in several places.
TEST_CASE("kernels that differ deep inside, or in several places, show where") {
  const std::string launch = "_ZN6Kokkos4Impl33cuda_parallel_launch_local_memoryINS0_11ParallelForI";
  const std::vector<std::string> names = {
      launch + "Z3runPdS3_EUliE_NS_11RangePolicyIJNS_4CudaEEEES6_EELj0ELj0EEEvT_",
      launch + "Z3runPdS3_EUliE0_NS_11RangePolicyIJNS_4CudaEEEES6_EELj0ELj0EEEvT_",
      launch + "Z4mainEUliE_NS_11RangePolicyIJNS_4CudaEEEES5_EELj0ELj0EEEvT_",
      launch +
          "NS0_8ViewCopyINS_4ViewIdJNS_10LayoutLeftENS_6DeviceINS_4CudaENS_9CudaSpaceEEENS_"
          "12MemoryTraitsILj1EEEEEENS4_IdJNS_11LayoutRightES9_SB_EEEEENS_11RangePolicyIJS7_"
          "EEES7_EELj0ELj0EEEvT_",
      launch +
          "NS0_8ViewCopyINS_4ViewIdJNS_11LayoutRightENS_6DeviceINS_4CudaENS_9CudaSpaceEEENS"
          "_12MemoryTraitsILj1EEEEEENS4_IdJNS_10LayoutLeftES9_SB_EEEEENS_11RangePolicyIJS7_"
          "EEES7_EELj0ELj0EEEvT_",
      launch +
          "NS0_8ViewCopyINS_4ViewIdJNS_10LayoutLeftENS_6DeviceINS_4CudaENS_9CudaSpaceEEENS_"
          "12MemoryTraitsILj1EEEEEESC_EENS_11RangePolicyIJS7_EEES7_EELj0ELj0EEEvT_",
  };
  for (const std::string& name : names) REQUIRE(!demangled(name).empty());
  for (const std::size_t width : {13u, 26u, 40u, 60u}) {
    const auto labels = kernel_labels(names, width);
    CHECK(std::set<std::string>(labels.begin(), labels.end()).size() == names.size());
    for (const std::string& label : labels) {
      CHECK(label.size() <= width);
      CHECK((label.find('#') == std::string::npos || label.find("lambda(int)#") != std::string::npos));
    }
  }
  const auto labels = kernel_labels(names, 60);
  CHECK_THAT(labels[0], Catch::StartsWith("~Kokkos::Impl::ParallelFor<run(double*, double*)::{"));
  CHECK_THAT(labels[1], Catch::Contains("#2}"));
  CHECK_THAT(labels[2], Catch::Contains("main"));
  const auto narrow = kernel_labels(names, 40);
  CHECK_THAT(narrow[3], Catch::Contains("LayoutLeft") && Catch::Contains("LayoutRight"));
}

/// In the form of CUTLASS 3: a wrapper, a long common beginning, and numbers that differ.
TEST_CASE("a hundred GEMMs of different tiles stay different in a narrow column") {
  std::vector<std::string> names;
  for (unsigned m = 16; m < 26; ++m)
    for (unsigned n = 16; n < 26; ++n)
      names.push_back(
          "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEEN"
          "S1_10collective13CollectiveMmaINS1_34MainloopSm90TmaGmmaWarpSpecializedILi7EEENS"
          "5_IJNS4_1CILi" +
          std::to_string(m) + "EEENSB_ILi" + std::to_string(n) + "EEENSB_ILi64EEEEEEEEEEEEvNT_6ParamsE");
  for (const std::string& name : names) REQUIRE(!demangled(name).empty());
  for (const std::size_t width : {20u, 40u, 80u}) {
    const auto labels = kernel_labels(names, width);
    CHECK(std::set<std::string>(labels.begin(), labels.end()).size() == names.size());
    for (const std::string& label : labels) CHECK_THAT(label, !Catch::Contains("#"));
  }
}

TEST_CASE("overloads show parameters, and names that read the same are numbered") {
  const std::vector<std::string> overloads = {"_Z4copyPf", "_Z4copyPd", "_Z4fillPf"};
  CHECK(kernel_labels(overloads, 30) == std::vector<std::string>{"copy(float*)", "copy(double*)", "fill"});
  const std::vector<std::string> scopes = {"_ZN1a4copyEv", "_ZN1b4copyEv"};
  CHECK(kernel_labels(scopes, 10) == std::vector<std::string>{"a::copy", "b::copy"});
  const std::vector<std::string> same = {"copy\x01", "copy\x02", "copy\x03"};
  CHECK(kernel_labels(same, 30) == std::vector<std::string>{"copy?", "copy?#2", "copy?#3"});
  const std::vector<std::string> taken = {"copy\x01", "copy\x02", "copy?#2"};
  CHECK(kernel_labels(taken, 30) == std::vector<std::string>{"copy?", "copy?#3", "copy?#2"});
}

/// From few letters, so that most begin and end alike.
TEST_CASE("labels of any names fit, are all different, and do not depend on the names' order") {
  std::mt19937 random(3);
  const std::string pieces[] = {"a", "b",        "::",      "<", ">",  "(",    ")",    ",",
                                "*", "operator", "Kernel<", "~", "#2", "\x01", "\x02", " "};
  for (int round = 0; round < 400; ++round) {
    std::set<std::string> made;
    for (auto count = 1 + random() % 12; made.size() < count;) {
      std::string name;
      for (auto n = random() % (round % 2 == 0 ? 40 : 4); n > 0; --n)
        name += pieces[random() % std::size(pieces)];
      made.insert(name);
    }
    const std::vector<std::string> names(made.begin(), made.end()), reversed(made.rbegin(), made.rend());
    const std::size_t width = 8 + random() % 30;
    const auto labels = kernel_labels(names, width);
    REQUIRE(labels.size() == names.size());
    CAPTURE(width, names, labels);
    REQUIRE(std::set<std::string>(labels.begin(), labels.end()).size() == names.size());
    for (const std::string& label : labels) REQUIRE(label.size() <= width);
    auto again = kernel_labels(reversed, width);
    const bool numbered = std::ranges::any_of(labels, [](const auto& l) { return l.find('#') != l.npos; });
    std::ranges::reverse(again);
    if (!numbered) REQUIRE(again == labels);
  }
}

TEST_CASE("names that the demangler refuses keep their template arguments mangled") {
  std::string name = "_ZN7cutlass6KernelIJ";
  for (unsigned i = 0; i < 5000; ++i) name += "Li1E";
  const std::string one = name + "1aEEEvv", other = name + "1bEEEvv";
  REQUIRE(demangled(one).empty());
  const std::vector<std::string> names = {one, other};
  const auto labels = kernel_labels(names, 26);
  CHECK_THAT(labels[0], Catch::StartsWith("~JLi1E"));
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
