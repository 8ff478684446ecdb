// Cycles of the small traces on the shipped GPU models, with the configuration's hash. Any change is a change
// of the model: find its reason, then renew the file with LOCKSTEP_RENEW_GOLDEN=1 and say so in the commit.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "end_to_end.hpp"
#include "paths.hpp"

namespace lockstep::test {
namespace {

using Json = nlohmann::ordered_json;

const std::string kFile = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/gpu/golden.json";

Json measure(const std::string& model) {
  gpu::RunOptions options;
  options.config = config::resolve(model);
  Json cycles = Json::object();
  for (const SmallTrace& small : small_traces()) {
    const OpenTrace trace(small);
    Json of_kernels = Json::array();
    for (const auto& kernel : gpu::simulate(*trace, options).report.kernels)
      of_kernels.push_back(kernel.cycles);
    cycles[small.name] = of_kernels;
  }
  return {{"config_hash", config::hash(options.config)}, {"cycles", cycles}};
}

TEST_CASE("golden cycles") {
  Json measured = Json::object();
  for (const std::string& model : config::gpu_model_names()) measured[model] = measure(model);
  if (std::getenv("LOCKSTEP_RENEW_GOLDEN")) std::ofstream(kFile) << measured.dump(1) << '\n';
  std::ifstream file(kFile);
  REQUIRE(file);
  const Json golden = Json::parse(file);
  for (const auto& [model, now] : measured.items()) {
    INFO(model << ": a change of the model or of its configuration; see golden_test.cpp");
    REQUIRE(golden.contains(model));
    const Json& then = golden[model];
    CHECK(now["config_hash"] == then["config_hash"]);
    for (const auto& [trace, cycles] : now["cycles"].items()) {
      INFO(trace);
      CHECK(cycles == then["cycles"][trace]);
    }
  }
}

}  // namespace
}  // namespace lockstep::test
