// Translates the simulator's user errors into the library's. Internal to src/api.
#pragma once

#include "lockstep/simulator.hpp"
#include "util/error.hpp"

namespace lockstep {

/// Returns what `work` returns. A UserError becomes an Error; any other exception is a defect of the library
/// and passes through.
template <class Work>
auto guarded(Work&& work) {
  try {
    return work();
  } catch (const UserError& error) {
    throw Error(error.what());
  }
}

}  // namespace lockstep
