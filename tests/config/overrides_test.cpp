// How a configuration differs from the model whose name it has.
#include <catch2/catch.hpp>

#include "config/config.hpp"
#include "helpers.hpp"

namespace lockstep::config {
namespace {

using Changed = std::map<std::string, std::string>;

TEST_CASE("a GPU model does not differ from itself") {
  for (const std::string& name : gpu_model_names()) {
    CAPTURE(name);
    CHECK(overrides(resolve(name)).empty());
  }
}

TEST_CASE("what differs is listed with its unit, however it was set") {
  const Changed expected{{"clock.core_khz", "1200000 kHz"},
                         {"l1.shared_carveouts_kib", "0,8,64"},
                         {"rf.cache", "false"},
                         {"sm.scheduler", "lrr"}};
  const std::vector<std::string> options{"core.clock_mhz=1200", "l1.shared_carveouts_kib=0, 8, 64",
                                         "rf.cache=false", "sm.scheduler=lrr", "gpu.sms=108"};
  const GpuConfig by_option = resolve("a100", options);
  CHECK(by_option.gpu.sms == resolve("a100").gpu.sms);
  CHECK(overrides(by_option) == expected);  // an A100 has 108 SMs: that is no difference
  const lockstep::test::TemporaryFolder folder;
  const std::string file = folder.write(
      "mine.ini",
      "include = a100\n[clock]\ncore_mhz = 1200\n[l1]\nshared_carveouts_kib = 0,8,64\n[rf]\ncache = false\n"
      "[sm]\nscheduler = lrr\n");
  CHECK(overrides(resolve(file)) == expected);
  CHECK(overrides(resolve(folder.write("again.ini", to_ini(by_option)))) == expected);
}

TEST_CASE("the model is the one that the configuration names, whatever its file includes") {
  const lockstep::test::TemporaryFolder folder;
  const std::string file = folder.write("mine.ini", "include = v100\n[gpu]\nname = a100\n");
  const Changed changed = overrides(resolve(file));
  CHECK(changed.at("gpu.sms") == "80");
  CHECK(changed.at("gpu.arch") == "70");
  CHECK(changed.count("gpu.name") == 0);
  CHECK(overrides(resolve("v100", {"gpu.name=mine", "l1.mshrs=7"})).empty());
}

}  // namespace
}  // namespace lockstep::config
