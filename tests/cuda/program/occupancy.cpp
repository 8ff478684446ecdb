// Occupancy calls of both APIs against the limits that the device's attributes state: warps, CTAs, registers
// of each of the four parts of an SM, shared memory (CUDA C++ Programming Guide, "Hardware Multithreading").
// Prints PASS, or which check failed.
#include <algorithm>
#include <cstdint>
#include <string>

#include "driver_types.hpp"
#include "registration.hpp"

namespace {
struct FunctionAttributes {
  std::size_t shared, constant, local;
  int max_threads, registers;
  char rest[256];
};
struct LaunchAttribute {
  int id;
  int pad = 0;
  unsigned value[16] = {};
};
struct LaunchConfig {
  Dim3 grid, block;
  std::size_t dynamic = 0;
  void* stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned count = 0;
};
struct DriverLaunchConfig {
  unsigned grid[3], block[3], dynamic;
  void* stream;
  LaunchAttribute* attributes;
  unsigned count;
};
}  // namespace

extern "C" {
int cudaDeviceGetAttribute(int*, int, int);
int cudaFuncGetAttributes(FunctionAttributes*, const void*);
int cudaFuncSetAttribute(const void*, int, int);
int cudaLibraryLoadData(void**, const void*, const int*, void**, unsigned, const int*, void**, unsigned);
int cudaLibraryGetKernel(void**, void*, const char*);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, std::size_t);
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int*, const void*, int, std::size_t, unsigned);
int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t*, const void*, int, int);
int cudaOccupancyMaxActiveClusters(int*, const void*, const LaunchConfig*);
int cudaOccupancyMaxPotentialClusterSize(int*, const void*, const LaunchConfig*);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int*, void*, int, std::size_t);
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int*, void*, int, std::size_t, unsigned);
int cuOccupancyAvailableDynamicSMemPerBlock(std::size_t*, void*, int, int);
int cuOccupancyMaxPotentialBlockSize(int*, int*, void*, std::size_t (*)(int), std::size_t, int);
int cuOccupancyMaxPotentialBlockSizeWithFlags(int*, int*, void*, std::size_t (*)(int), std::size_t, int,
                                              unsigned);
int cuOccupancyMaxActiveClusters(int*, void*, const DriverLaunchConfig*);
int cuOccupancyMaxPotentialClusterSize(int*, void*, const DriverLaunchConfig*);
}

namespace {

constexpr int kInvalidValue = 1, kInvalidFunction = 98, kInvalidClusterSize = 912;
constexpr int kSms = 16, kThreadsPerSm = 39, kMajor = 75, kSharedPerSm = 81, kRegistersPerSm = 82,
              kSharedOfCta = 97, kCtasPerSm = 106, kReservedShared = 111;

long of_device(int attribute) {
  int value = -1;
  check(cudaDeviceGetAttribute(&value, attribute, 0) == 0, "an attribute of the device");
  return value;
}

/// A kernel that keeps `live` numbers at a time.
std::string kernel_text(const std::string& name, int live, int shared, const std::string& directives) {
  std::string text = ".visible .entry " + name + "(.param .u64 p) " + directives + " {\n.reg .b64 %rd<2>; " +
                     ".reg .f32 %f<" + std::to_string(live) + ">;\n";
  if (shared > 0) text += ".shared .align 4 .b8 own[" + std::to_string(shared) + "];\n";
  text += "ld.param.u64 %rd0, [p];\n";
  const auto place = [](int i) { return "[%rd0+" + std::to_string(4 * i) + "]"; };
  for (int i = 0; i < live; ++i) text += "ld.global.f32 %f" + std::to_string(i) + ", " + place(i) + ";\n";
  if (shared > 0) text += "st.shared.f32 [own], %f0;\n";
  for (int i = 0; i < live; ++i)
    text += "st.global.f32 " + place(i) + ", %f" + std::to_string(live - 1 - i) + ";\n";
  return text + "ret;\n}\n";
}

struct Function {
  void* handle = nullptr;
  FunctionAttributes attributes{};

  /// CTAs of an SM by the limits, each by itself.
  [[nodiscard]] long expected(int threads, std::size_t dynamic) const {
    const auto rounded = [](long value, long unit) { return (value + unit - 1) / unit * unit; };
    if (threads > 1024) return 0;
    const long warps = (threads + 31) / 32;
    long ctas = std::min(of_device(kCtasPerSm), of_device(kThreadsPerSm) / 32 / warps);
    const long part = of_device(kRegistersPerSm) / 4, of_warp = rounded(attributes.registers * 32L, 256);
    ctas = std::min(ctas, part / of_warp * 4 / warps);
    const long unit = of_device(kMajor) < 8 ? 256 : 128;
    const long shared =
        rounded(static_cast<long>(attributes.shared + dynamic) + of_device(kReservedShared), unit);
    return shared == 0 ? ctas : std::min(ctas, of_device(kSharedPerSm) / shared);
  }
};

void active(const Function& f) {
  for (const std::size_t dynamic : {0u, 1u, 100u, 1024u, 5000u, 16384u, 40000u, 49152u})
    for (const int threads : {1, 31, 32, 33, 64, 96, 100, 128, 160, 256, 320, 512, 544, 768, 1000, 1024}) {
      if (threads > f.attributes.max_threads) break;
      const long expected = f.expected(threads, dynamic);
      int runtime = -1, flagged = -1, driver = -1, driver_flagged = -1;
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&runtime, f.handle, threads, dynamic) == 0 &&
                cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&flagged, f.handle, threads, dynamic,
                                                                       1) == 0 &&
                cuOccupancyMaxActiveBlocksPerMultiprocessor(&driver, f.handle, threads, dynamic) == 0 &&
                cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&driver_flagged, f.handle, threads,
                                                                     dynamic, 0) == 0,
            "CTAs of an SM");
      const bool fine =
          runtime == expected && flagged == expected && driver == expected && driver_flagged == expected;
      if (!fine)
        std::printf("%d registers, %zu + %zu bytes, %d threads: %d, expected %ld\n", f.attributes.registers,
                    f.attributes.shared, dynamic, threads, runtime, expected);
      check(fine, "the smallest limit");
    }
}

/// What the calls say of shared memory: with that many bytes the CTAs fit, with one more they do not.
void available(const Function& f) {
  const auto most = static_cast<std::size_t>(of_device(kSharedOfCta)) - f.attributes.shared;
  for (const int threads : {32, 128, 512})
    for (int ctas = 1; ctas <= f.expected(threads, 0); ctas = ctas * 2 + 1) {
      std::size_t runtime = 0, driver = 0;
      check(cudaOccupancyAvailableDynamicSMemPerBlock(&runtime, f.handle, ctas, threads) == 0 &&
                cuOccupancyAvailableDynamicSMemPerBlock(&driver, f.handle, ctas, threads) == 0,
            "shared memory that is left");
      check(runtime == driver && runtime <= most && f.expected(threads, runtime) >= ctas, "it fits");
      check(runtime == most || f.expected(threads, runtime + 1) < ctas, "one byte more does not");
    }
  std::size_t bytes = 7;
  check(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, f.handle, 1000, 32) == kInvalidValue &&
            cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, f.handle, 0, 32) == kInvalidValue &&
            cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, f.handle, 1, 0) == kInvalidValue &&
            cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, f.handle, 1, 1025) == kInvalidValue &&
            cudaOccupancyAvailableDynamicSMemPerBlock(nullptr, f.handle, 1, 32) == kInvalidValue,
        "CTAs that do not fit");
}

std::size_t per_thread(int threads) { return 40 * static_cast<std::size_t>(threads); }

/// As cuda_runtime.h searches: sizes in warps downwards from the limit, which itself is the first one.
void potential(const Function& f) {
  for (const int limit : {0, 20, 32, 100, 128, 255, 1000, 1024, 2000})
    for (const bool variable : {false, true}) {
      int widest = std::min(1024, f.attributes.max_threads);
      if (limit > 0) widest = std::min(widest, limit);
      long best = 0, block = 0, ctas = 0;
      for (int warps = (widest + 31) / 32; warps > 0; --warps) {
        const int threads = std::min(widest, 32 * warps);
        const long fit = f.expected(threads, variable ? per_thread(threads) : 64);
        if (fit * threads <= best) continue;
        best = fit * threads, block = threads, ctas = fit;
      }
      int grid = -1, found = -1, flagged_grid = -1, flagged = -1;
      check(cuOccupancyMaxPotentialBlockSize(&grid, &found, f.handle, variable ? per_thread : nullptr, 64,
                                             limit) == 0 &&
                cuOccupancyMaxPotentialBlockSizeWithFlags(&flagged_grid, &flagged, f.handle,
                                                          variable ? per_thread : nullptr, 64, limit, 0) == 0,
            "the size with the most threads");
      if (found != block) std::printf("limit %d: %d, expected %ld\n", limit, found, block);
      check(found == block && grid == ctas * of_device(kSms), "its threads and CTAs");
      check(flagged == found && flagged_grid == grid, "the same with flags");
    }
}

void wrong(void* f) {
  int ctas = 0, block = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, f, 2048, 0) == 0 && ctas == 0,
        "too many threads");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, f, 32, std::size_t{1} << 40) == 0 && ctas == 0,
        "more shared memory than there is");
  for (const int threads : {0, -1, -2048})
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, f, threads, 0) == kInvalidValue, "no threads");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, f, 32, 0) == kInvalidValue, "no place");
  for (const unsigned flags : {2u, 3u, 0x80000000u})
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&ctas, f, 32, 0, flags) == kInvalidValue &&
              cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&ctas, f, 32, 0, flags) == kInvalidValue &&
              cuOccupancyMaxPotentialBlockSizeWithFlags(&ctas, &block, f, nullptr, 0, 0, flags) ==
                  kInvalidValue,
          "flags that there are not");
  int no_kernel = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, &no_kernel, 32, 0) == kInvalidFunction,
        "what is no kernel");
  check(cuOccupancyMaxPotentialBlockSize(nullptr, &block, f, nullptr, 0, 0) == kInvalidValue &&
            cuOccupancyMaxPotentialBlockSize(&ctas, nullptr, f, nullptr, 0, 0) == kInvalidValue,
        "nowhere to put the sizes");
}

void clusters(void* f) {
  LaunchAttribute size{4};
  LaunchConfig config;
  config.block = {128}, config.attributes = &size, config.count = 1;
  int before = 1 << 30;
  for (const unsigned ctas : {1u, 2u, 4u, 8u}) {
    config.grid = {16 * ctas};
    size.value[0] = ctas, size.value[1] = size.value[2] = 1;
    int runtime = -1, driver = -1, fit = -1;
    const DriverLaunchConfig same{{config.grid.x, 1, 1}, {128, 1, 1}, 0, nullptr, &size, 1};
    check(cudaOccupancyMaxActiveClusters(&runtime, f, &config) == 0 &&
              cuOccupancyMaxActiveClusters(&driver, f, &same) == 0 && runtime == driver,
          "clusters that are resident at once");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, f, 128, 0) == 0, "their CTAs");
    const long all = fit * of_device(kSms);
    check(ctas > 1 || runtime == all, "a cluster of one CTA is a CTA");
    check(runtime * static_cast<long>(ctas) <= all && runtime <= before / 2 + (ctas == 1 ? 1 << 30 : 0),
          "no more CTAs than fit");
    before = runtime;
  }
  int most = -1;
  size.value[0] = 16, config.grid = {16};
  check(cudaOccupancyMaxActiveClusters(&most, f, &config) == kInvalidClusterSize, "not portable");
  config.count = 0;
  check(cudaOccupancyMaxPotentialClusterSize(&most, f, &config) == 0 && most == 8,
        "the largest portable one");
  check(cudaFuncSetAttribute(f, 14, 1) == 0, "not portable, allowed");
  const DriverLaunchConfig same{{16, 1, 1}, {128, 1, 1}, 0, nullptr, nullptr, 0};
  check(cuOccupancyMaxPotentialClusterSize(&most, f, &same) == 0 && most == 16, "the largest one");
  config.count = 1;
  check(cudaOccupancyMaxActiveClusters(&most, f, &config) == 0 && most > 0, "which may be resident");
  for (const unsigned wrong_size : {3u, 0u, 17u}) {
    size.value[0] = wrong_size;
    check(cudaOccupancyMaxActiveClusters(&most, f, &config) == kInvalidClusterSize,
          "sizes that do not divide");
  }
  check(cudaOccupancyMaxActiveClusters(nullptr, f, &config) == kInvalidValue &&
            cudaOccupancyMaxActiveClusters(&most, f, nullptr) == kInvalidValue &&
            cuOccupancyMaxActiveClusters(&most, f, nullptr) == kInvalidValue &&
            cuOccupancyMaxPotentialClusterSize(&most, f, nullptr) == kInvalidValue,
        "no launch, no place");
}

}  // namespace

int main() {
  const bool has_clusters = of_device(kMajor) >= 9;
  std::string text = has_clusters ? ".version 8.0\n.target sm_90\n" : ".version 7.0\n.target sm_70\n";
  text += ".address_size 64\n" + kernel_text("few", 8, 0, "") + kernel_text("more", 40, 3000, "") +
          kernel_text("many", 180, 0, ".maxntid 256, 1, 1") + kernel_text("large", 24, 48000, "") +
          kernel_text("limited", 24, 100, ".maxntid 200, 1, 1");
  void* library = nullptr;
  check(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) == 0,
        "library");
  for (const char* name : {"few", "more", "many", "large", "limited"}) {
    Function f;
    check(cudaLibraryGetKernel(&f.handle, library, name) == 0 &&
              cudaFuncGetAttributes(&f.attributes, f.handle) == 0,
          name);
    active(f);
    available(f);
    potential(f);
    wrong(f.handle);
    if (has_clusters && std::string(name) == "more") clusters(f.handle);
  }
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
