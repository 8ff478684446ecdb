#include "cuda/settings.hpp"

#include <cstdlib>

#include "config/config.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

Settings read_settings() {
  const char* config = std::getenv(kConfigVariable);
  if (config == nullptr)
    throw UserError(std::string(kConfigVariable) +
                    " is not set: start the program with `lockstep exec -- PROGRAM`");
  Settings settings;
  settings.gpu = config::resolve(config);
  if (const char* trace = std::getenv(kTraceVariable)) settings.trace = trace;
  return settings;
}

}  // namespace lockstep::cuda
