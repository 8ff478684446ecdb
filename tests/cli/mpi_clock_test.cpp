// The times of an earlier run, read from its results: what is there may be anything.
#include "cli/mpi_clock.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/temporary_folder.hpp"

namespace lockstep::cli {
namespace {

using Catch::Matchers::Contains;
using Json = nlohmann::json;

/// Results of two processes on a system of three.
Json results() {
  Json processes = Json::array();
  for (const int device : {0, 1}) {
    processes.push_back({{"device", device}, {"clock_ps", {device, 5}}, {"event_ps", {7, 9 + device}}});
  }
  processes.push_back({{"device", 2}});
  return {{"schema", 2},
          {"partial", false},
          {"trace", {{"name", "program"}, {"hash", "000000ff00000001"}}},
          {"system", {{"network", {{"processes", processes}}}}}};
}

class ShownFolder {
 public:
  ShownFolder() { std::ofstream(path() + "/system.ini") << "[system]\n"; }
  [[nodiscard]] std::string path() const { return folder_.path(); }
  ShownRun read_text(const std::string& text, unsigned rank, const ShownProgram& program) const {
    std::ofstream(path() + "/stats.json") << text;
    return read_shown_run(path(), program, rank);
  }
  ShownRun read(const Json& json, unsigned rank = 0,
                const ShownProgram& program = {"program", "[system]\n", 2}) const {
    return read_text(json.dump(), rank, program);
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("The times of a process are those of its device in the earlier run") {
  const ShownFolder folder;
  const ShownRun run = folder.read(results(), 1);
  CHECK(run.clock_ps == std::vector<std::uint64_t>{1, 5});
  CHECK(run.event_ps == std::vector<std::uint64_t>{7, 10});
  CHECK_NOTHROW(check_same_calls(run, 0xff00000001));
  CHECK_NOTHROW(check_same_calls(run, 0xff00000002));  // other times of the host
  CHECK_THROWS_WITH(check_same_calls(run, 0xfe00000001),
                    Contains("is not of that run: it has made other calls"));
}

TEST_CASE("An earlier run of something else is refused") {
  const ShownFolder folder;
  CHECK_THROWS_WITH(folder.read(results(), 0, {"other", "[system]\n", 2}),
                    Contains("found a run of program; expected one of other"));
  CHECK_THROWS_WITH(folder.read(results(), 0, {"program", "[system]\n", 3}),
                    Contains("found a run of 2 processes; expected one of 3"));
  CHECK_THROWS_WITH(folder.read(results(), 0, {"program", "[system]\nx", 2}),
                    Contains("found a run on another system"));
  Json partial = results();
  partial["partial"] = true;
  CHECK_THROWS_WITH(folder.read(partial), Contains("found a run that has not come to its end"));
  CHECK_THROWS_WITH(read_shown_run(folder.path() + "/none", {}, 0), Contains("none/stats.json"));
}

TEST_CASE("Results that are none are refused with their file") {
  const ShownFolder folder;
  const auto changed = [](const char* pointer, const Json& value) {
    Json json = results();
    json[Json::json_pointer(pointer)] = value;
    return json;
  };
  const std::string processes = "/system/network/processes";
  const std::pair<Json, const char*> broken[] = {
      {Json::array(), "found no object"},
      {changed("/system", 3), "found no network"},
      {changed("/system", Json::object()), "found no network"},
      {changed("/system/network", 3), "\"network\" of type object"},
      {changed(processes.c_str(), 3), "\"processes\" of type array"},
      {changed(processes.c_str(), {1, "x", Json::object()}), "found no \"clock_ps\""},
      {changed((processes + "/0/clock_ps").c_str(), 3), "\"clock_ps\" of type array"},
      {changed((processes + "/0/clock_ps").c_str(), {1, -1}), "\"clock_ps\" has something other than times"},
      {changed((processes + "/0/event_ps").c_str(), {"1"}), "\"event_ps\" has something other than times"},
      {changed((processes + "/0/device").c_str(), 1), "found no process 0"},
      {changed("/trace", 3), "\"trace\" of type object"},
      {changed("/trace/hash", 3), "\"hash\" of type string"},
      {changed("/partial", 3), "\"partial\" of type boolean"}};
  for (const auto& [json, expected] : broken)
    CHECK_THROWS_WITH(folder.read(json), Contains("stats.json") && Contains(expected));
  CHECK_THROWS_WITH(folder.read_text("{", 0, {}), Contains("not valid JSON"));
}

}  // namespace lockstep::cli
