#include "config/assumed.hpp"

#include <fmt/format.h>

#include "config/config.hpp"
#include "config/value.hpp"
#include "util/error.hpp"

namespace lockstep::config {

bool is_assumed(const Origin& origin) { return origin.note.find("assumed") != std::string::npos; }

std::vector<AssumedValue> assumed_values(const Resolved& resolved) {
  std::vector<AssumedValue> values;
  for (const Parameter& p : schema()) {
    const auto origin = resolved.origins.find(p.key);
    if (origin != resolved.origins.end() && is_assumed(origin->second))
      values.push_back({&p, origin->second});
  }
  return values;
}

Multiple multiple(const Parameter& parameter, const GpuConfig& config, std::uint64_t numerator,
                  std::uint64_t denominator) {
  if (parameter.type != Type::kInteger) return {"", "a choice, not a number"};
  const std::uint64_t value = parameter.binding.get(config);
  if (value == 0) return {"", "0 has no half and no double"};
  if (value > ~std::uint64_t{0} / numerator) return {"", "out of range"};
  const std::uint64_t wanted = value * numerator / denominator;
  GpuConfig other = config;
  try {
    set_value(parameter, other, fmt::format("{}", wanted));
  } catch (const UserError&) {
    return {"", fmt::format("{} is out of range, {}", wanted, expected_text(parameter))};
  }
  return {value_with_unit(parameter, other), ""};
}

}  // namespace lockstep::config
