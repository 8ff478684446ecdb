// The microbenchmarks give the same bytes for any threads, window, order and with or without skipping.
#include <catch2/catch.hpp>

#include "micro.hpp"

namespace lockstep::test {
namespace {

const std::vector<SmallTrace>& traces() {
  static const std::vector<SmallTrace> all = {
      {"pipe", "pipe", {{"op", "HMMA.16816.F32"}, {"chains", "3"}, {"instructions", "40"}, {"ctas", "8"}}},
      {"code", "code", {{"bytes", "40000"}, {"ctas", "6"}, {"threads", "96"}, {"passes", "2"}}},
      {"shared", "shared", {{"op", "ATOMS.ADD"}, {"addresses", "5"}, {"threads", "160"}}},
      {"pairs", "barriers", {{"pattern", "pairs"}, {"threads", "320"}, {"instructions", "20"}}},
      {"atomics", "atomics", {{"addresses", "3"}, {"stride", "64"}, {"ctas", "12"}, {"threads", "96"}}},
      {"empty", "empty", {{"ctas", "150"}, {"threads", "800"}}},
  };
  return all;
}

TEST_CASE("microbenchmarks do not depend on how they are run") {
  for (const char* model : {"v100", "h100_pcie"})
    for (const SmallTrace& small : traces()) {
      INFO(small.name << " on " << model);
      const OpenTrace trace(small);
      const auto bytes = [&](unsigned threads, Cycle window, bool skip,
                             std::optional<std::uint64_t> shuffle) {
        gpu::RunOptions options;
        options.config = small_gpu(model);
        options.threads = threads;
        options.window = window;
        options.skip = skip;
        options.shuffle = shuffle;
        return stats::to_json(gpu::simulate(*trace, options).report);
      };
      const std::string expected = bytes(1, 0, true, {});
      CHECK(bytes(2, 0, true, 3) == expected);
      CHECK(bytes(1, 1, false, {}) == expected);
      CHECK(bytes(3, 7, true, 11) == expected);
    }
}

}  // namespace
}  // namespace lockstep::test
