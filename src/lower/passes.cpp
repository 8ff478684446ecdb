#include "lower/passes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "util/error.hpp"

namespace lockstep::lower {

Passes all_but(const std::vector<std::string>& names) {
  Passes passes;
  const std::pair<const char*, bool*> steps[] = {{"constants", &passes.constants},
                                                 {"schedule", &passes.schedule},
                                                 {"rest", &passes.rest},
                                                 {"integers", &passes.integers},
                                                 {"fusion", &passes.fusion},
                                                 {"predication", &passes.predication},
                                                 {"temporaries", &passes.temporaries},
                                                 {"slow_paths", &passes.slow_paths}};
  for (const std::string& name : names) {
    const auto* step = std::ranges::find(steps, name, [](const auto& s) { return std::string(s.first); });
    if (step == std::end(steps))
      throw UserError(
          "--without: constants, schedule, rest, integers, fusion, predication, temporaries or slow_paths "
          "expected, '" +
          name + "' found");
    *step->second = false;
  }
  return passes;
}

}  // namespace lockstep::lower
