// A validator for the part of JSON Schema that docs/stats.schema.json uses.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

/// What is wrong with `value`, a line each; empty: nothing. Stricter than the standard: a property that the
/// schema does not describe is wrong too, so that whoever adds one to the output adds it to the schema.
/// Throws std::logic_error for a keyword that it does not know.
[[nodiscard]] std::vector<std::string> schema_errors(const nlohmann::json& schema,
                                                     const nlohmann::json& value);

}  // namespace lockstep::cli
