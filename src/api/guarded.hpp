// Errors of the user as those of the library. Internal to src/api.
#pragma once

#include "lockstep/simulator.hpp"
#include "util/error.hpp"

namespace lockstep {

/// What `work` returns. A UserError becomes an Error; all else is a fault of the library and passes as it is.
template <class Work>
auto guarded(Work&& work) {
  try {
    return work();
  } catch (const UserError& error) {
    throw Error(error.what());
  }
}

}  // namespace lockstep
