#include "report/profile_file.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "stats/report.hpp"
#include "util/error.hpp"

namespace lockstep::report {
namespace {

stats::RunReport sample() {
  stats::RunReport report;
  report.version = "1";
  report.gpu = "v100";
  report.config_hash = 0xabc;
  report.trace_hash = 0xdef;
  report.codes = {
      {"k<\"1\">",
       {{0, "1 R4 LDG.E 1 R8 4", "ld.global.f32 %f1, [%rd1];", "a/b.cu", 12}, {16, "0 EXIT 0", "", "", 0}}}};
  stats::KernelResult kernel;
  kernel.id = 7;
  kernel.profile.instructions.resize(2);
  std::uint64_t next = 1;
  for (stats::InstructionCounters& row : kernel.profile.instructions) {
    row.threads = next++;
    for (unsigned s = 0; s < stats::kStalls; ++s)
      if (static_cast<stats::Stall>(s) != stats::Stall::kEmpty) row.stalls[s] = next++;
    row.l1_sectors = next++;
    row.l2_sectors = next++;
    row.shared_wavefronts = next++;
    row.constant_passes = next++;
  }
  kernel.profile.subcores.resize(4);
  for (stats::StallCycles& subcore : kernel.profile.subcores)
    for (unsigned s = 0; s < stats::kStalls; ++s)
      if (static_cast<stats::Stall>(s) != stats::Stall::kEmpty) subcore[s] = next++;
  report.kernels.resize(1);  // without a profile
  report.kernels.push_back(kernel);
  return report;
}

}  // namespace

TEST_CASE("what is written is read back") {
  const stats::RunReport report = sample();
  const Profile profile = parse_profile(stats::profile_json(report), "profile.json");
  CHECK(profile.trace_hash == "0000000000000def");
  REQUIRE(profile.codes.size() == 1);
  CHECK(profile.codes[0].kernel == report.codes[0].kernel);
  CHECK(profile.codes[0].instructions == report.codes[0].instructions);
  REQUIRE(profile.kernels.size() == 1);
  CHECK(profile.kernels[0].kernel == 1);
  CHECK(profile.kernels[0].counts == report.kernels[1].profile);
}

TEST_CASE("each column of the file is in the description") {
  const auto json = nlohmann::json::parse(stats::profile_json(sample()));
  CHECK(json["columns"].size() == stats::profile_columns().size());
  CHECK(json["kernels"][0]["rows"][0].size() == json["columns"].size());
  CHECK(json["kernels"][0]["subcores"][0].size() == json["subcore_columns"].size());
}

TEST_CASE("a broken profile is one error that names the file") {
  const std::string good = stats::profile_json(sample());
  std::mt19937 random(5);
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n) {
      const std::size_t at = random() % text.size();
      if (random() % 2) {
        text[at] = "0\"[]{},:-e9 x"[random() % 13];
      } else {
        text.erase(at, 1 + random() % 20);
      }
    }
    try {
      (void)parse_profile(text, "profile.json");
    } catch (const InputError& e) {
      CHECK(e.file() == "profile.json");
    }
  }
  CHECK_THROWS_WITH(parse_profile("{\"schema\":2}", "p"), "p: found schema 2, this program reads schema 1");
  CHECK_THROWS_WITH(parse_profile("[]", "p"), Catch::Contains("expected a profile.json of lockstep"));
}

TEST_CASE("machine instructions are readable") {
  CHECK(stats::readable_instruction("1 R4 LDG.E 1 R8 4") == "LDG.E R4, R8");
  CHECK(stats::readable_instruction("0 EXIT 0") == "EXIT");
  CHECK(stats::readable_instruction("1 R2 FFMA 3 R2 R10 R11 0") == "FFMA R2, R2, R10, R11");
  CHECK(stats::readable_instruction("something else") == "something else");
  CHECK(stats::readable_instruction("") == "");
}

}  // namespace lockstep::report
