#include "gpu/run_state.hpp"

#include "util/archive.hpp"

namespace lockstep::gpu {
namespace {

/// One function for both ways: what is written is what is read.
void persist(Archive& archive, const RunState& run) {
  archive.section("engine");
  archive(*run.engine);
  archive.section("system");
  archive(*run.system);
  archive.section("feeds");
  archive(*run.feeds);
  archive.section("controller");
  archive(*run.controller);
  archive.section("end");
}

}  // namespace

std::string keep(const RunState& run) {
  Archive archive;
  persist(archive, run);
  return archive.bytes();
}

void restore(std::string_view state, const RunState& run) {
  Archive archive(state);
  persist(archive, run);
  if (!archive.at_end()) throw ArchiveError("there is more than the state");
}

}  // namespace lockstep::gpu
