#include "lower/passes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "util/error.hpp"

namespace lockstep::lower {

namespace {

constexpr std::pair<const char*, bool Passes::*> kSteps[] = {{"constants", &Passes::constants},
                                                             {"unroll", &Passes::unroll},
                                                             {"merge", &Passes::merge},
                                                             {"schedule", &Passes::schedule},
                                                             {"rest", &Passes::rest},
                                                             {"integers", &Passes::integers},
                                                             {"setup", &Passes::setup},
                                                             {"fusion", &Passes::fusion},
                                                             {"predication", &Passes::predication},
                                                             {"left_out", &Passes::left_out},
                                                             {"temporaries", &Passes::temporaries},
                                                             {"uniform", &Passes::uniform},
                                                             {"slow_paths", &Passes::slow_paths}};

}  // namespace

std::string step_names() {
  std::string names;
  for (const auto& step : kSteps) {
    if (!names.empty()) names += &step == std::end(kSteps) - 1 ? " or " : ", ";
    names += step.first;
  }
  return names;
}

Passes all_but(const std::vector<std::string>& names) {
  Passes passes;
  for (const std::string& name : names) {
    const auto* step = std::ranges::find(kSteps, name, [](const auto& s) { return std::string(s.first); });
    if (step == std::end(kSteps))
      throw UserError("--without: " + step_names() + " expected, '" + name + "' found");
    passes.*step->second = false;
  }
  return passes;
}

}  // namespace lockstep::lower
