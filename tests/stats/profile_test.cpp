// profile.json, read back by a library.
#include "stats/profile.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "stats/descriptors.hpp"
#include "stats/files.hpp"
#include "stats/report.hpp"
#include "tests/stats/samples.hpp"

namespace lockstep::stats {
namespace {

using Json = nlohmann::ordered_json;

/// Counters that are all different: 1, 2, 3, ... times `factor`.
InstructionCounters different_counters(std::uint64_t factor) {
  InstructionCounters c;
  std::uint64_t next = 0;
  c.threads = ++next * factor;
  for (std::uint64_t& stall : c.stalls) stall = ++next * factor;
  for (std::uint64_t* field : {&c.l1_sectors, &c.l2_sectors, &c.shared_wavefronts, &c.constant_passes})
    *field = ++next * factor;
  return c;
}

/// Three launches, of which the first is not profiled.
RunReport profiled_report() {
  RunReport report = sample_report(3);
  report.codes = {
      {"one", {{16, "0 EXIT 0", "", "a.cu", 0}}},
      {"a \"kernel\"",
       {{0, "1 R4 LDG.E 1 R8 4", "ld.global.b32 %r1, [%rd1];", "dir/b.cu", 7}, {32, "0 EXIT 0", "", "", 9}}}};
  report.kernels[1].code = 1;
  report.kernels[1].profile.instructions = {different_counters(1), different_counters(1000)};
  report.kernels[1].profile.subcores = {different_counters(7).stalls};
  report.kernels[2].profile.instructions = {different_counters(5)};
  return report;
}

}  // namespace

TEST_CASE("profile.json: a row has a value for each column, the one that the column is named after") {
  const RunReport report = profiled_report();
  const Json root = Json::parse(profile_json(report));
  const InstructionCounters expected = different_counters(1000);
  const Json& row = root["kernels"][0]["rows"][1];
  const Json& columns = root["columns"];
  REQUIRE(row.size() == columns.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string name = columns[i];
    INFO(name);
    std::uint64_t value = name == "threads"             ? expected.threads
                          : name == "l1_sectors"        ? expected.l1_sectors
                          : name == "l2_sectors"        ? expected.l2_sectors
                          : name == "shared_wavefronts" ? expected.shared_wavefronts
                          : name == "constant_passes"   ? expected.constant_passes
                                                        : 0;
    for (unsigned s = 0; s < kStalls; ++s)
      if (stall_name(static_cast<Stall>(s)) == name) value = expected.stalls[s];
    CHECK(row[i] == value);
  }
  const Json& subcore = root["kernels"][0]["subcores"].at(0);
  REQUIRE(subcore.size() == root["subcore_columns"].size());
  for (std::size_t i = 0; i < subcore.size(); ++i)
    for (unsigned s = 0; s < kStalls; ++s)
      if (stall_name(static_cast<Stall>(s)) == root["subcore_columns"][i].get<std::string>())
        CHECK(subcore[i] == different_counters(7).stalls[s]);
}

TEST_CASE("profile.json: the columns are all stall reasons but 'empty', and five counters") {
  std::set<std::string> expected{"threads", "l1_sectors", "l2_sectors", "shared_wavefronts",
                                 "constant_passes"};
  for (unsigned s = 0; s < kStalls; ++s) expected.emplace(stall_name(static_cast<Stall>(s)));
  expected.erase("empty");
  std::set<std::string> found;
  for (const ProfileColumn& column : profile_columns()) {
    CHECK(found.insert(column.name).second);
    CHECK(column.unit == (column.name == "threads" || column.name == "issued" ? "instructions"
                          : column.name.ends_with("_sectors")                 ? "sectors"
                          : column.name == "shared_wavefronts"                ? "wavefronts"
                          : column.name == "constant_passes"                  ? "passes"
                                                                              : "cycles"));
  }
  CHECK(found == expected);
  CHECK(subcore_columns().size() == expected.size() - 5);
}

TEST_CASE("profile.json: only launches with a profile, by their place in stats.json, and their code") {
  const RunReport report = profiled_report();
  const Json root = Json::parse(profile_json(report));
  CHECK(root["schema"] == 1);
  CHECK(root["config_hash"] == "0000000000000abc");
  CHECK(root["trace"] == Json({{"name", "vectoradd"}, {"hash", "ffffffffffffffff"}}));
  REQUIRE(root["kernels"].size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& kernel = root["kernels"][i];
    CHECK(kernel["kernel"] == i + 1);
    CHECK(kernel["id"] == report.kernels[i + 1].id);
    CHECK(kernel["code"] == 1 - i);
    CHECK(kernel["rows"].size() == root["codes"][kernel["code"].get<std::size_t>()]["instructions"].size());
  }
}

TEST_CASE("profile.json: instructions say their source only where it is known") {
  const Json root = Json::parse(profile_json(profiled_report()));
  CHECK(root["codes"][1]["kernel"] == "a \"kernel\"");
  CHECK(root["codes"][1]["instructions"][0] == Json({{"pc", 0},
                                                     {"text", "1 R4 LDG.E 1 R8 4"},
                                                     {"ptx", "ld.global.b32 %r1, [%rd1];"},
                                                     {"file", "dir/b.cu"},
                                                     {"line", 7}}));
  CHECK(root["codes"][1]["instructions"][1] == Json({{"pc", 32}, {"text", "0 EXIT 0"}, {"line", 9}}));
  // A file without a line says nothing.
  CHECK(root["codes"][0]["instructions"][0] == Json({{"pc", 16}, {"text", "0 EXIT 0"}}));
}

TEST_CASE("profile.json is written with the results of a run that has one, and an older one removed") {
  const TemporaryFolder folder;
  RunReport report = profiled_report();
  write_outputs(folder.path(), report, {});
  CHECK(read_file(folder / "profile.json") == profile_json(report));
  report.codes.clear();
  write_outputs(folder.path(), report, {});
  CHECK_FALSE(std::filesystem::exists(folder / "profile.json"));
}

TEST_CASE("machine instructions for people: destinations, then sources, behind the opcode") {
  const std::pair<const char*, const char*> rows[] = {
      {"2 R4 P0 IADD3.X 3 R1 R2 R3 0", "IADD3.X R4, P0, R1, R2, R3"},
      {"0 STG.E 2 R8 R4 4", "STG.E R8, R4"},
      {" 1  R2   MOV 1 R3 0 ", "MOV R2, R3"},
      {"0 BAR.SYNC 0", "BAR.SYNC"},
      // Not of this form: as it is.
      {"2 R4", "2 R4"},
      {"1 R4", "1 R4"},
      {"0 EXIT", "0 EXIT"},
      {"0 EXIT x", "0 EXIT x"},
      {"-1 EXIT 0", "-1 EXIT 0"},
      {"100 EXIT 0", "100 EXIT 0"},
      {"0 FADD 2 R1", "0 FADD 2 R1"},
      {"   ", "   "},
  };
  for (const auto& [text, readable] : rows) CHECK(readable_instruction(text) == readable);
}

}  // namespace lockstep::stats
