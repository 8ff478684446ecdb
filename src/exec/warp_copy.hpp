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

struct Signalled;
/// Adds bytes that are prefetched, if they are accessible.
void note_prefetch(const WarpState& warp, trace::BulkRuns& runs, Address row, std::uint64_t bytes);
/// The record of a bulk copy that has been executed (trace/bulk_runs.hpp). The last part signals the
/// mbarriers. Precondition: the warp is recorded.
void note_bulk(WarpState& warp, const trace::BulkRuns& runs, const Signalled& signalled);

}  // namespace lockstep::exec
