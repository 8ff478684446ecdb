// Any bytes as a profile.json: a profile, or one InputError.
#include "report/profile_file.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "util/error.hpp"

using namespace lockstep;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)report::parse_profile({reinterpret_cast<const char*>(data), size}, "profile.json");
  } catch (const InputError&) {
  }
  return 0;
}
