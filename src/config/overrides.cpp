// How a configuration differs from the GPU model whose name it has.
#include <algorithm>
#include <map>

#include "config/config.hpp"
#include "config/gpu_models.hpp"
#include "config/schema.hpp"
#include "config/value.hpp"

namespace lockstep::config {

std::map<std::string, std::string> overrides(const GpuConfig& config) {
  std::map<std::string, std::string> changed;
  const auto has_its_name = [&](const BundledConfig& gpu) { return gpu.name == config.gpu.name; };
  if (std::none_of(gpu_models().begin(), gpu_models().end(), has_its_name)) return changed;
  const GpuConfig gpu = resolve(config.gpu.name);
  for (const Parameter& p : schema())
    if (!same_value(p, config, gpu)) changed.emplace(p.key, value_with_unit(p, config));
  return changed;
}

}  // namespace lockstep::config
