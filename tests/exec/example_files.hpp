// The PTX of examples/.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "paths.hpp"

namespace lockstep::exec::test {

/// examples/FILE.ptx without its header, in place of which a Device has one of its own.
inline std::string example(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(LOCKSTEP_SOURCE_DIR "/examples/" + file + ".ptx").rdbuf();
  const std::string all = text.str(), last = ".address_size 64";
  const std::size_t header = all.find(last);
  REQUIRE(header != std::string::npos);
  return all.substr(header + last.size());
}

}  // namespace lockstep::exec::test
