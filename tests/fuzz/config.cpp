// Any bytes as an INI file: a configuration that reads back to itself, or one UserError.
#include "config/config.hpp"

#include <cstdlib>

#include "tests/fuzz/fuzz.hpp"
#include "util/error.hpp"

using namespace lockstep;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file = fuzz::write("gpu.ini", {reinterpret_cast<const char*>(data), size});
  try {
    const auto first = config::resolve(file);
    const auto again = config::resolve(fuzz::write("again.ini", config::to_ini(first)));
    if (config::hash(first) != config::hash(again)) std::abort();
  } catch (const UserError&) {
  }
  return 0;
}
