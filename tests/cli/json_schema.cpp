#include "tests/cli/json_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <stdexcept>

namespace lockstep::cli {
namespace {

using Json = nlohmann::json;

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  void check(const Json& schema, const Json& value, const std::string& path,
             std::vector<std::string>& errors) const {
    if (schema.contains("$ref")) return check(resolve(schema["$ref"]), value, path, errors);
    check_keywords(schema);
    const auto wrong = [&](const std::string& what) { errors.push_back(path + ": " + what); };
    if (schema.contains("anyOf")) return check_any(schema["anyOf"], value, path, errors);
    if (schema.contains("type") && !has_type(value, schema["type"]))
      return wrong(fmt::format("found {}, expected {}", value.dump().substr(0, 60), schema["type"].dump()));
    if (schema.contains("const") && value != schema["const"])
      wrong("not the constant " + schema["const"].dump());
    if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
      wrong(value.dump() + " is not one of " + schema["enum"].dump());
    if (schema.contains("minimum") && value < schema["minimum"]) wrong("less than the minimum");
    if (schema.contains("pattern") &&
        !std::regex_search(value.get<std::string>(), std::regex(schema["pattern"].get<std::string>())))
      wrong(value.dump() + " does not match " + schema["pattern"].dump());
    if (value.is_array()) check_array(schema, value, path, errors);
    if (value.is_object()) check_object(schema, value, path, errors);
  }

 private:
  static void check_keywords(const Json& schema) {
    static const std::set<std::string> kKnown{
        "$schema",    "title",    "description", "$defs",    "type",
        "properties", "required", "items",       "minItems", "maxItems",
        "enum",       "const",    "minimum",     "pattern",  "additionalProperties",
        "anyOf"};
    for (const auto& [key, unused] : schema.items())
      if (!kKnown.contains(key)) throw std::logic_error("keyword " + key + " is not known");
  }

  const Json& resolve(const std::string& reference) const {
    return root_.at(Json::json_pointer(reference.substr(1)));
  }

  static bool has_type(const Json& value, const std::string& type) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "array") return value.is_array();
    if (type == "object") return value.is_object();
    throw std::logic_error("type " + type + " is not known");
  }

  void check_any(const Json& choices, const Json& value, const std::string& path,
                 std::vector<std::string>& errors) const {
    std::vector<std::string> all;
    for (const Json& choice : choices) {
      std::vector<std::string> own;
      check(choice, value, path, own);
      if (own.empty()) return;
      all.insert(all.end(), own.begin(), own.end());
    }
    errors.insert(errors.end(), all.begin(), all.end());
  }

  void check_array(const Json& schema, const Json& value, const std::string& path,
                   std::vector<std::string>& errors) const {
    if (schema.contains("minItems") && value.size() < schema["minItems"])
      errors.push_back(path + ": too few elements");
    if (schema.contains("maxItems") && value.size() > schema["maxItems"])
      errors.push_back(path + ": too many elements");
    for (std::size_t i = 0; schema.contains("items") && i < value.size(); ++i)
      check(schema["items"], value[i], fmt::format("{}[{}]", path, i), errors);
  }

  void check_object(const Json& schema, const Json& value, const std::string& path,
                    std::vector<std::string>& errors) const {
    if (schema.contains("required"))
      for (const Json& name : schema["required"])
        if (!value.contains(name.get<std::string>())) errors.push_back(path + ": no " + name.dump());
    for (const auto& [name, child] : value.items()) {
      const std::string place = path + "." + name;
      if (schema.contains("properties") && schema["properties"].contains(name)) {
        check(schema["properties"][name], child, place, errors);
      } else if (schema.contains("additionalProperties")) {
        check(schema["additionalProperties"], child, place, errors);
      } else {
        errors.push_back(place + ": the schema does not describe it (src/stats/schema.cpp)");
      }
    }
  }

  const Json& root_;
};

}  // namespace

std::vector<std::string> schema_errors(const Json& schema, const Json& value) {
  std::vector<std::string> errors;
  Validator(schema).check(schema, value, "$", errors);
  return errors;
}

}  // namespace lockstep::cli
