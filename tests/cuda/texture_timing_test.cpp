// Texture fetches through the timing model: sectors of lines and of tiles in closed form and as an RTX 3070
// counts them, the texture unit's rate, and the same report however it runs.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;

namespace {

const std::string kTexturesPtx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/program/textures.ptx";

constexpr double kSide = 256, kTexels = kSide * kSide, kWarps = kTexels / 32;

std::string play_textures(const Folder& folder, std::vector<std::string> program, double sum,
                          std::vector<std::string> options = {"--threads", "1"}) {
  std::vector<std::string> words = {"exec", "-c", "rtxa6000", "-q", "-o", folder / "out"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", LOCKSTEP_TEXTURES_PROGRAM, kTexturesPtx});
  words.insert(words.end(), program.begin(), program.end());
  const Finished done = run(words);
  INFO(done.err);
  REQUIRE(done.code == 0);
  CHECK(std::stod(done.out) == Approx(sum).epsilon(1e-6));
  return slurp(folder / "out/stats.json");
}

nlohmann::json counters(const std::string& stats) { return nlohmann::json::parse(stats).at("kernels").at(0); }

/// That the L2 was asked for, without instructions.
double data_sectors(const nlohmann::json& kernel) {
  const auto& l2 = kernel.at("l2");
  return l2.at("sectors_read").get<double>() - l2.at("fetches").get<double>();
}

// Of x + 1000 y over the image.
constexpr double kSum = kTexels * 1001 * (kSide - 1) / 2;

}  // namespace

TEST_CASE("a linear fetch of N texels reads their bytes", "[long]") {
  const Folder folder;
  const auto kernel = counters(play_textures(folder, {"line"}, 2 * kSum));
  // 32 texels of 4 bytes are four sectors: github.com/mushihao/cuda, nv_study, 1D, point. Here each is
  // fetched twice.
  CHECK(kernel.at("l1").at("sectors_read") == 2 * kWarps * 4);
  CHECK(kernel.at("l1").at("load_sectors_sent") == kTexels * 4 / 32);
  CHECK(data_sectors(kernel) == kTexels * 4 / 32);
}

TEST_CASE(
    "a fetch of 32 texels in a row of an array reads 8 sectors, and half of them are the row's beside it",
    "[long]") {
  const Folder folder;
  const auto kernel = counters(play_textures(folder, {"tile"}, kSum));
  // github.com/mushihao/cuda, nv_study, 2D, point, of 32,768 instructions: 262,144 sectors, 50 % hits,
  // 131,072 sectors requested from the L2 in 65,523 requests.
  CHECK(kernel.at("l1").at("sectors_read") == kWarps * 8);
  CHECK(kernel.at("l1").at("load_sectors_sent") == kWarps * 4);
  CHECK(data_sectors(kernel) == kTexels * 4 / 32);
}

TEST_CASE("a filtered fetch reads the texels around", "[long]") {
  const Folder folder;
  // Half way between texels, the last row and column twice: 0.5 more of each but there.
  double sum = 0;
  for (double y = 0; y < kSide; ++y)
    for (double x = 0; x < kSide; ++x)
      sum += std::min(x + 0.5, kSide - 1) + 1000 * std::min(y + 0.5, kSide - 1);
  const auto kernel = counters(play_textures(folder, {"filter"}, sum));
  // A warp's 32 texels and their neighbour are in 9 columns of 16 bytes, 8 at the right edge; a sector has
  // two rows: an even row and the next are one, an odd one and the next two, but for the last.
  const double columns = kSide / 32 * 9 - 1, rows = kSide / 2 + 2 * (kSide / 2 - 1) + 1;
  CHECK(kernel.at("l1").at("sectors_read") == columns * rows);
  CHECK(kernel.at("l1").at("load_sectors_sent") >= kTexels * 4 / 32);
}

TEST_CASE("an SM fetches four texels a cycle", "[long]") {
  // Volta whitepaper: four texture units an SM.
  const Folder folder;
  const auto of = [&](unsigned times) {
    double sum = 0;
    for (unsigned i = 0; i < 1024; ++i) sum += times * (i % 256 + 1000.0 * (i / 256));
    return counters(play_textures(folder, {"line", std::to_string(times)}, sum)).at("cycles").get<double>();
  };
  CHECK((of(192) - of(64)) * 4 / (128 * 1024) == Approx(1).epsilon(0.05));
}

TEST_CASE("texture fetches: threads, windows and recordings change nothing", "[long]") {
  const Folder folder;
  for (const auto& [which, sum] : {std::pair{"line", 2 * kSum}, {"tile", kSum}}) {
    const std::string one = play_textures(folder, {which}, sum);
    CHECK(play_textures(folder, {which}, sum, {"--threads", "3", "--window", "7", "--shuffle", "3"}) == one);
    CHECK(play_textures(folder, {which}, sum, {"--threads", "2", "--no-skip"}) == one);
    const std::string kept = folder / "kept.lst";
    REQUIRE(
        run({"record", kept, "-c", "rtxa6000", "--", LOCKSTEP_TEXTURES_PROGRAM, kTexturesPtx, which}).code ==
        0);
    REQUIRE(run({"run", kept, "-c", "rtxa6000", "-q", "-o", folder / "kept"}).code == 0);
    CHECK(counters(slurp(folder / "kept/stats.json")) == counters(one));
  }
}
