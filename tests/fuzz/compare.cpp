// Any bytes as a stats.json: a comparison without difference to itself, or one UserError.
#include "stats/compare.hpp"

#include <cstdlib>

#include "tests/fuzz/fuzz.hpp"
#include "util/error.hpp"

using namespace lockstep;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file = fuzz::write("stats.json", {reinterpret_cast<const char*>(data), size});
  try {
    bool different = false;
    (void)stats::compare({{file, {}}, {file, {}}}, {}, different);
    if (different) std::abort();
  } catch (const UserError&) {
  }
  return 0;
}
