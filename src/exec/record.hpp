// The dynamic record of a CTA: what the timing model reads.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/kernel_trace.hpp"

namespace lockstep::exec {

/// What one warp executed, in order. A record's static index is the PTX instruction's
/// (Executable::operations()). Its mask holds the lanes that executed it: those that the guard let pass,
/// except for branches, where it is all lanes that met the branch. Instructions that access memory carry one
/// address for each lane of the mask, in trace::Record's form: of the first byte, in the space the access
/// went to as Executable says - global addresses are device addresses, shared ones offsets in the CTA, local
/// ones offsets in the thread's memory; generic accesses give the generic address. cp.async gives the
/// source's; bulk copies what trace/bulk_runs.hpp says. Arrivals at and tests of an mbarrier give its number
/// and how many events (mbarrier_events.hpp). Where lanes of a division or root take the slow path
/// (slow_path.hpp), a record with Executable::slow_path_record() of it and those lanes follows. With
/// RunOptions::signals, a load with which lanes leave a loop that waits is followed by records with
/// Executable::await_record(), which say for which signals (trace/awaited_signals.hpp); the rounds in which
/// they stayed are left out.
struct WarpRecord {
  std::vector<trace::Record> records;
  std::vector<std::uint64_t> words;
  void clear() { records.clear(), words.clear(); }
};

/// Buffers are kept from CTA to CTA.
struct CtaRecord {
  std::uint64_t index = 0;  // x fastest
  std::vector<WarpRecord> warps;
};

}  // namespace lockstep::exec
