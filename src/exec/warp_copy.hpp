// Asynchronous copies of a warp. They are complete when their instruction is. Internal to src/exec.
#pragma once

#include <cstdint>

#include "exec/warp_state.hpp"
#include "trace/bulk_runs.hpp"

namespace lockstep::exec {

/// cp.async
void execute_copy_async(WarpState& warp, const Operation& op, LaneMask active);
/// cp.async.bulk, cp.reduce.async.bulk. `runs`: of the copy at hand; kept from copy to copy for its memory.
void execute_copy_bulk(WarpState& warp, trace::BulkRuns& runs, const Operation& op, LaneMask active);
/// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor (warp_tensor.cpp)
void execute_tensor_copy(WarpState& warp, trace::BulkRuns& runs, const Operation& op, LaneMask active);

/// The lanes of a bulk store that start a copy each: of those with the same operands the first one. ptxas
/// (13.0) makes one instruction of a store, which a warp executes once where all lanes have the same
/// operands; only loads and reductions, which more than one copy would change, go through the lanes in a loop
/// (ELECT). `same(a, b)`: do these lanes have the same operands?
template <class F>
[[nodiscard]] LaneMask storing_lanes(LaneMask active, const F& same) {
  LaneMask first = 0;
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    bool copied = false;
    for_lanes<std::uint32_t>(first, [&](std::uint32_t other) { copied = copied || same(other, l); });
    if (!copied) first |= LaneMask{1} << l;
  });
  return first;
}

struct Signalled;
/// Adds bytes that are prefetched, if they are accessible.
void note_prefetch(const WarpState& warp, trace::BulkRuns& runs, Address row, std::uint64_t bytes);
/// The record of a bulk copy that has been executed (trace/bulk_runs.hpp). The last part signals the
/// mbarriers. Precondition: the warp is recorded.
void note_bulk(WarpState& warp, const trace::BulkRuns& runs, const Signalled& signalled);

}  // namespace lockstep::exec
