// What the tests of study files share.
#pragma once

#include <string>

#include "study/study_file.hpp"
#include "util/error.hpp"

namespace lockstep::study {

inline const std::string kWorkload = "[[workload]]\ntrace = \"t\"\n";

/// The message for a bad study.
inline std::string refused(const std::string& text) {
  try {
    (void)parse_study(text, "s.toml");
  } catch (const UserError& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace lockstep::study
