// What several tests of the program share: traces, files, words in a text.
#pragma once

#include <string>

#include "paths.hpp"
#include "tests/cli/program.hpp"

namespace lockstep::cli {

inline const std::string kChain = LOCKSTEP_SOURCE_DIR "/traces/chain";
inline const std::string kVectorAddPtx = LOCKSTEP_SOURCE_DIR "/examples/ptx/vector_add.ptx";

/// Takes a second or more to simulate, so that there is time to interrupt it.
inline const TinyTrace kLong{.kernels = 40, .ctas = 160, .warps = 8, .body = 60};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace lockstep::cli
