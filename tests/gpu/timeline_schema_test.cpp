// The timeline against a JSON schema of the trace event format.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "../net/support.hpp"
#include "managed_support.hpp"
#include "paths.hpp"

namespace lockstep::test {
namespace {

using nlohmann::json;

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number_integer();
  throw std::logic_error("a type that the schema does not use: " + type);
}

bool matches(const json& schema, const json& value);

bool members_match(const json& schema, const json& value) {
  const json none = json::object(), &properties = schema.contains("properties") ? schema["properties"] : none;
  for (const auto& [key, member] : value.items()) {
    if (properties.contains(key) ? !matches(properties[key], member)
                                 : !schema.value("additionalProperties", true))
      return false;
  }
  const json required = schema.value("required", json::array());
  return std::all_of(required.begin(), required.end(),
                     [&](const json& key) { return value.contains(key.get<std::string>()); });
}

/// The part of JSON Schema (draft 7) that trace_event_schema.json uses.
bool matches(const json& schema, const json& value) {
  if (schema.contains("type") && !has_type(value, schema["type"])) return false;
  if (schema.contains("enum") &&
      std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
    return false;
  if (schema.contains("minimum") && value < schema["minimum"]) return false;
  if (schema.contains("oneOf") && std::count_if(schema["oneOf"].begin(), schema["oneOf"].end(),
                                                [&](const json& one) { return matches(one, value); }) != 1)
    return false;
  if (value.is_object() && !members_match(schema, value)) return false;
  return !value.is_array() || !schema.contains("items") ||
         std::all_of(value.begin(), value.end(),
                     [&](const json& item) { return matches(schema["items"], item); });
}

json schema() {
  std::ifstream in(LOCKSTEP_SOURCE_DIR "/tests/gpu/trace_event_schema.json");
  return json::parse(in);
}

TEST_CASE("timelines match the schema of the trace event format: driver, UVMSmart, unmanaged, stopped") {
  const OpenTrace trace(kSmallRandom);
  struct Case {
    bool smart;
    const char *managed, *memory;
    Cycle limit;
  };
  for (const Case& c : {Case{false, kTable, "0.3x", 0}, Case{true, kTable, "0.3x", 0},
                        Case{false, "none", "", 0}, Case{false, kTable, "0.3x", 50000}}) {
    auto options = managed_options(c.smart ? smart_gpu({"uvm.fault_cost=inline"}) : small_gpu("v100"),
                                   c.managed, c.memory);
    options.timeline = true;
    options.max_cycles = c.limit;
    const json file = json::parse(gpu::simulate(*trace, options).timeline);
    CHECK(matches(schema(), file));
    CHECK(file.at("traceEvents").size() > 1);
  }
}

TEST_CASE("the timeline of a system with a network matches the schema") {
  for (const char* design : kDesigns) {
    NetScenario scenario;
    scenario.queue(0);
    scenario.wait(0, 0, scenario.request(0, some_put(64)));
    gpu::RunOptions options;
    options.timeline = true;
    const json file = json::parse(scenario.run(nodes(2, design), options).timeline);
    CHECK(matches(schema(), file));
    CHECK(file.dump().find("put complete") != std::string::npos);
  }
}

TEST_CASE("the schema refuses what is not a trace event") {
  const auto with = [](const char* event) {
    return matches(schema(), json::parse(R"({"traceEvents":[)" + std::string(event) + "]}"));
  };
  CHECK(with(R"({"name":"a","ph":"X","ts":0,"dur":1.5,"pid":1,"tid":2,"args":{}})"));
  CHECK(with(R"({"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"x"}})"));
  for (const char* bad : {R"({"name":"a","ph":"X","ts":0,"pid":1,"tid":2})",            // no duration
                          R"({"name":"a","ph":"X","ts":"0","dur":1,"pid":1,"tid":2})",  // text for a time
                          R"({"name":"a","ph":"X","ts":-1,"dur":1,"pid":1,"tid":2})",   // before the start
                          R"({"name":"a","ph":"?","ts":0,"pid":1,"tid":2})",            // no such phase
                          R"({"name":"a","ph":"i","ts":0,"dur":1,"pid":1,"tid":2})",    // an instant lasts
                          R"({"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{}})"}) {
    INFO(bad);
    CHECK_FALSE(with(bad));
  }
  CHECK_FALSE(matches(schema(), json::parse("[]")));
}

}  // namespace
}  // namespace lockstep::test
