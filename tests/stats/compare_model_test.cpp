// Comparisons of random runs against counting pair by pair, and what of the statistics is kept in
// checkpoints.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "samples.hpp"
#include "stats/compare.hpp"
#include "tests/persisted.hpp"
#include "tests/random.hpp"

namespace lockstep::stats {
namespace {

using Ordered = nlohmann::ordered_json;
using lockstep::test::Random32;

/// By kernel, then name: numbers that often are equal or close.
using RandomRun = std::map<unsigned, std::map<std::string, double>>;

RandomRun random_run(Random32& random) {
  RandomRun run;
  for (unsigned kernel = 0; kernel < 5; ++kernel) {
    if (random() % 4 == 0) continue;
    auto& values = run[kernel];
    for (const char* name : {"cycles", "l1.hits", "l1.misses", "dram.bytes"})
      if (random() % 5 != 0) values[name] = 1000 + static_cast<double>(random() % 4) * 5;
  }
  return run;
}

std::string json_of(const RandomRun& run) {
  Ordered root = {{"schema", 1},        {"version", "1"},        {"gpu", "v100"},
                  {"config_hash", "0"}, {"core_khz", 1'000'000}, {"trace", {{"name", "t"}, {"hash", "0"}}}};
  root["kernels"] = Ordered::array();
  for (const auto& [kernel, values] : run) {
    Ordered one = {{"id", kernel}, {"name", "k"}};
    for (const auto& [name, value] : values) {
      const std::size_t dot = name.find('.');
      const auto whole = static_cast<std::uint64_t>(value);
      if (dot == std::string::npos) {
        one[name] = whole;
      } else {
        one[name.substr(0, dot)][name.substr(dot + 1)] = whole;
      }
    }
    root["kernels"].push_back(one);
  }
  root["copies"] = Ordered::array();
  root["total"] = Ordered::object();
  return root.dump();
}

struct Counts {
  std::size_t values = 0, different = 0;
  std::set<std::string> rows;               // "kernel/name" of those that differ
  std::map<std::string, std::size_t> lone;  // sections by the letters of those that have them
};

/// Of every section: each value of the first run that has it against that of each later one.
Counts counted(const std::vector<RandomRun>& runs, double tolerance) {
  Counts counts;
  for (unsigned kernel = 0; kernel < 5; ++kernel) {
    std::vector<std::size_t> having;
    std::set<std::string> names;
    std::string letters;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const auto found = runs[r].find(kernel);
      if (found == runs[r].end()) continue;
      having.push_back(r);
      letters += (letters.empty() ? "" : ", ") + std::string(1, static_cast<char>('A' + r));
      for (const auto& [name, value] : found->second) names.insert(name);
      names.insert({"id", "name"});
    }
    if (having.empty()) continue;
    if (having.size() < runs.size()) ++counts.lone[letters];
    for (const std::string& name : names)
      for (std::size_t later = 1; later < having.size(); ++later) {
        ++counts.values;
        if (name == "id" || name == "name") continue;
        const auto value = [&](std::size_t r) -> std::optional<double> {
          const auto& all = runs[r].at(kernel);
          return all.contains(name) ? std::optional(all.at(name)) : std::nullopt;
        };
        const auto a = value(having.front()), b = value(having[later]);
        const bool same = a.has_value() == b.has_value() &&
                          (!a || std::abs(*a - *b) <= tolerance * std::max(std::abs(*a), std::abs(*b)));
        if (same) continue;
        ++counts.different;
        counts.rows.insert(std::to_string(kernel) + "/" + name);
      }
  }
  return counts;
}

TEST_CASE("compare: values and differences of random runs are those that counting pair by pair finds") {
  const TemporaryFolder folder;
  Random32 random(12);
  std::size_t with_differences = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<RandomRun> runs;
    std::vector<ComparedRun> given;
    for (auto n = 2 + random() % 3; n > 0; --n) {
      runs.push_back(random_run(random));
      given.push_back({(folder.path() / std::to_string(n)).string(), {}});
      std::ofstream(given.back().path) << json_of(runs.back());
    }
    const double tolerance = round % 3 == 0 ? 0 : round % 3 == 1 ? 0.006 : 0.011;
    const Counts expected = counted(runs, tolerance);
    bool different = false;
    const auto found =
        nlohmann::json::parse(compare(given, {.tolerance = tolerance, .json = true}, different));
    CAPTURE(round, tolerance);
    // The value core_khz is the total's, in all of them.
    REQUIRE(found.at("values") == expected.values + runs.size() - 1);
    REQUIRE(found.at("different") == expected.different);
    REQUIRE(different == (expected.different > 0 || !expected.lone.empty()));
    std::set<std::string> rows;
    std::map<std::string, std::size_t> lone;
    for (const auto& row : found.at("differences"))
      if (row.contains("counter")) {
        const std::string where = row.at("where");  // "kernel 2 k"
        rows.insert(where.substr(7, where.find(' ', 7) - 7) + "/" + row.at("counter").get<std::string>());
      }
    for (const auto& part : found.at("lone")) lone[part.at("only_in")] = part.at("sections");
    REQUIRE(rows == expected.rows);
    REQUIRE(lone == expected.lone);
    with_differences += expected.different > 0;
  }
  CHECK(with_differences > 10);
}

TEST_CASE("compare: two runs differ in as many values whichever comes first") {
  const TemporaryFolder folder;
  Random32 random(13);
  for (int round = 0; round < 20; ++round) {
    const std::string a = (folder.path() / "a").string(), b = (folder.path() / "b").string();
    std::ofstream(a) << json_of(random_run(random));
    std::ofstream(b) << json_of(random_run(random));
    const auto counts = [](const std::string& first, const std::string& second) {
      bool different = false;
      const auto all = nlohmann::json::parse(
          compare({{first, {}}, {second, {}}}, {.tolerance = 0.006, .json = true}, different));
      return std::tuple(all.at("values").get<int>(), all.at("different").get<int>(), different);
    };
    CHECK(counts(a, b) == counts(b, a));
    CHECK(std::get<1>(counts(a, a)) == 0);
    CHECK_FALSE(std::get<2>(counts(b, b)));
  }
}

TEST_CASE("profiles and their code in a checkpoint are read as they were written") {
  Random32 random(2);
  KernelProfile profile;
  profile.instructions.resize(7);
  profile.subcores.resize(4);
  for (InstructionCounters& row : profile.instructions) {
    row.threads = random();
    row.l1_sectors = random();
    row.constant_passes = random();
    for (std::uint64_t& stall : row.stalls) stall = std::uint64_t{random()} << 32;
  }
  for (StallCycles& subcore : profile.subcores)
    for (std::uint64_t& stall : subcore) stall = random();
  KernelProfile read;
  read.instructions.resize(1);  // what it had is lost
  lockstep::test::restore(profile, read);
  CHECK(read == profile);

  ProfiledCode code{"kernel", {{0x10, "1 R2 MOV 0", "mov.u32 %r1, %r2;", "a.cu", 7}, {0x20, "", "", "", 0}}};
  ProfiledCode again;
  lockstep::test::restore(code, again);
  CHECK(again.kernel == "kernel");
  CHECK(again.instructions == code.instructions);
  const std::string bytes = lockstep::test::persisted(code);
  for (const std::size_t length : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    const std::string part = bytes.substr(0, length);
    Archive archive(part);
    CHECK_THROWS_AS(archive(again), ArchiveError);
  }
}

}  // namespace
}  // namespace lockstep::stats
