// Any bytes as a study: its plan, or one UserError.
#include "study/plan.hpp"
#include "study/study_file.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "util/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  try {
    const study::Study study = study::parse_study({reinterpret_cast<const char*>(data), size}, "study.toml");
    std::size_t runs = study.workloads.size();
    for (const study::Axis& axis : study.axes) runs *= axis.points.size();
    if (runs <= 1000 && study::plan(study).size() != runs) __builtin_trap();
  } catch (const UserError&) {
  }
  return 0;
}
