// `lockstep correlate` as a user calls it.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace lockstep::cli {
namespace {

using Json = nlohmann::json;

struct CorrelateBench {
  Folder folder;
  Json stats;
  CorrelateBench() {
    write_trace(folder / "t", {.kernels = 2});
    REQUIRE(run({"run", folder / "t", "-q", "-o", folder / "run"}).code == 0);
    stats = Json::parse(slurp(folder / "run/stats.json"));
  }
  /// The simulated time of a launch, less or more by a share.
  [[nodiscard]] double measured(std::size_t kernel, double error) const {
    return stats["kernels"][kernel]["elapsed_ns"].get<double>() / (1 + error);
  }
};

}  // namespace

TEST_CASE("errors against measurements that are off by known shares") {
  const CorrelateBench bench;
  spill(bench.folder / "hw.csv", fmt::format("kernel,grid,block,elapsed_ns,warp_instructions\ntiny(float "
                                             "*),2x1x1,64x1x1,{},44\ntiny(float *),2x1x1,64x1x1,{},44\n",
                                             bench.measured(0, 0.25), bench.measured(1, -0.5)));
  const Finished done =
      run({"correlate", bench.folder / "run", "--hardware", bench.folder / "hw.csv", "--json", "--plots",
           bench.folder / "plots", "--csv", bench.folder / "pairs.csv"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  const Json result = Json::parse(done.out);
  REQUIRE(result["by_counter"].size() == 2);
  const Json& time = result["by_counter"][0];
  CHECK(time["counter"] == "elapsed_ns");
  CHECK(time["values"] == 2);
  CHECK(time["mean"].get<double>() == Approx(-0.125));
  CHECK(time["median"].get<double>() == Approx(-0.125));
  CHECK(time["mean_absolute"].get<double>() == Approx(0.375));
  CHECK(time["p90_absolute"].get<double>() == Approx(0.5));
  CHECK(time["maximum"].get<double>() == Approx(-0.5));
  CHECK(time["geometric_mean"].get<double>() == Approx(std::sqrt(1.25 * 0.5)));
  CHECK(result["by_counter"][1]["mean"] == 0);  // 2 CTAs of 2 warps with 11 instructions each
  CHECK(result["unmatched"].empty());
  CHECK_THAT(slurp(bench.folder / "plots/elapsed_ns.svg"), Catch::Contains("</svg>"));
  CHECK(count_lines(slurp(bench.folder / "pairs.csv")) == 5);
  const Finished text = run({"correlate", bench.folder / "run", "--hardware", bench.folder / "hw.csv"});
  CHECK_THAT(text.out, Catch::Contains("-12.5 %") && Catch::Contains("37.5 %"));
}

TEST_CASE("pairs of values alone: those that --csv writes, and those of other simulators") {
  const CorrelateBench bench;
  spill(bench.folder / "hw.csv", fmt::format("kernel,elapsed_ns\ntiny,{}\ntiny,{}\n", bench.measured(0, 0.25),
                                             bench.measured(1, -0.5)));
  const Finished direct = run({"correlate", bench.folder / "run", "--hardware", bench.folder / "hw.csv",
                               "--json", "--csv", bench.folder / "pairs.csv"});
  REQUIRE(direct.code == 0);
  const Finished again = run({"correlate", bench.folder / "pairs.csv", "--json"});
  INFO(again.err);
  REQUIRE(again.code == 0);
  CHECK(Json::parse(again.out)["by_counter"] == Json::parse(direct.out)["by_counter"]);
  CHECK(Json::parse(again.out)["pairs"] == Json::parse(direct.out)["pairs"]);
  // 110 of 100, 160 of 200 and 100 of 100, in two files.
  spill(bench.folder / "a.csv", "hardware,note,simulated\n100,x,110\n200,y,160\n");
  spill(bench.folder / "b.csv", "simulated,hardware\n100,100\n");
  const Finished two = run({"correlate", bench.folder / "a.csv", bench.folder / "b.csv", "--json"});
  REQUIRE(two.code == 0);
  const Json group = Json::parse(two.out)["by_counter"][0];
  CHECK(group["counter"] == "value");
  CHECK(group["mean_absolute"].get<double>() == Approx(0.1));
  CHECK(group["median_absolute"].get<double>() == Approx(0.1));
  CHECK(group["maximum"].get<double>() == Approx(-0.2));
}

TEST_CASE("several programs, by column, by name and by label") {
  const CorrelateBench bench;
  write_trace(bench.folder / "u", {.body = 50});
  REQUIRE(run({"run", bench.folder / "u", "-q", "-o", bench.folder / "other"}).code == 0);
  spill(bench.folder / "t.csv", fmt::format("kernel,elapsed_ns\ntiny,{}\n", bench.measured(0, 0.1)));
  spill(bench.folder / "x.csv", "kernel,warp_instructions\ntiny,204\n");
  const Finished done =
      run({"correlate", bench.folder / "run", bench.folder / "other", "--hardware", bench.folder / "t.csv",
           "--hardware", "u=" + (bench.folder / "x.csv"), "--json"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  const Json result = Json::parse(done.out);
  REQUIRE(result["by_program"].size() == 2);
  CHECK(result["by_program"][0]["program"] == "t");
  CHECK(result["by_program"][1]["program"] == "u");
  CHECK(result["by_program"][1]["mean"] == 0);
  CHECK(result["unmeasured_launches"] == 1);
}

TEST_CASE("correlate refuses what it cannot use") {
  const CorrelateBench bench;
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "correlate");
    const Finished result = run(arguments);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK(count_lines(result.err) == 1);
    return result.err;
  };
  const std::string folder = bench.folder / "run", file = bench.folder / "hw.csv";
  CHECK_THAT(refused({folder}), Catch::Contains("--hardware FILE is missing"));
  const std::string pairs = bench.folder / "pairs.csv";
  for (const auto& [text, expected] :
       {std::pair("", "pairs.csv:1: found nothing"),
        std::pair("hardware,ours\n1,2\n", "hardware and simulated"),
        std::pair("hardware,simulated\n", "no pair"),
        std::pair("hardware,simulated\n1,2\n1\n", "pairs.csv:3: simulated: found ''"),
        std::pair("hardware,simulated\n1,nan\n", "pairs.csv:2: simulated: found 'nan'"),
        std::pair("hardware,simulated,launch\n1,2,-1\n", "expected a whole number")}) {
    spill(pairs, text);
    CHECK_THAT(refused({pairs}), Catch::Contains(expected));
  }
  CHECK_THAT(refused({folder, "--hardware", file}), Catch::Contains("hw.csv: cannot open"));
  spill(file, "kernel,elapsed_ns\nother,5\n");
  CHECK_THAT(refused({folder, "--hardware", file}),
             Catch::Contains("no measurement has a counterpart") && Catch::Contains("no such kernel"));
  CHECK_THAT(refused({folder, folder, "--hardware", file}), Catch::Contains("two runs are of 't'"));
  CHECK_THAT(refused({folder, "b=" + folder, "--hardware", file}),
             Catch::Contains("does not say which of the 2 runs"));
  CHECK_THAT(refused({bench.folder / "t", "--hardware", file}), Catch::Contains("stats.json"));
}

}  // namespace lockstep::cli
