// No allocation by cycle, instruction or message: twice the work asks the heap for no more than the first
// half did.
// The sanitizers have allocation functions of their own: under them there is nothing to count with.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define LOCKSTEP_OWN_NEW 0
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOCKSTEP_OWN_NEW 0
#endif
#ifndef LOCKSTEP_OWN_NEW

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "gpu/simulation.hpp"
#include "tests/gpu/end_to_end.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};
}

// Counts every allocation of this test program.
// Not inlined: gcc would take free() for the wrong partner of a new that it still sees as a call.
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace lockstep::test {
namespace {

struct CountedWork {
  std::uint64_t allocations, instructions;
};

CountedWork simulate_counted(const SmallTrace& small) {
  const OpenTrace trace(small);
  gpu::RunOptions options;
  options.config = small_gpu("v100");
  const std::uint64_t before = allocations.load();
  const auto result = gpu::simulate(*trace, options);
  return {allocations.load() - before, result.host.warp_instructions};
}

TEST_CASE("allocations do not grow with the work", "[long]") {
  const auto check = [](const SmallTrace& half, const SmallTrace& whole) {
    CAPTURE(half.name);
    const CountedWork a = simulate_counted(half), b = simulate_counted(whole);
    REQUIRE(b.instructions - a.instructions > 10'000);
    // What still grows are buffers on their way to their largest size, a few each.
    CHECK(b.allocations < a.allocations + (b.instructions - a.instructions) / 100);
  };
  check({"chain", "chain", {{"iterations", "150"}}}, {"chain", "chain", {{"iterations", "300"}}});
  check({"streaming", "streaming", {{"ctas", "400"}}}, {"streaming", "streaming", {{"ctas", "800"}}});
  check({"sgemm", "sgemm", {{"tiles-x", "8"}, {"tiles-y", "5"}}},
        {"sgemm", "sgemm", {{"tiles-x", "16"}, {"tiles-y", "5"}}});
  check({"random", "random", {{"ctas", "600"}, {"loads", "4"}}},
        {"random", "random", {{"ctas", "1200"}, {"loads", "4"}}});
}

}  // namespace
}  // namespace lockstep::test

#endif
