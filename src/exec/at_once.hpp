// CTAs of a launch on several host threads. Internal to src/exec.
//
// A thread runs CTAs in ascending order and notes which words of global memory it reads and writes. Where no
// thread has written what another one has read or written, every CTA saw what it would have seen one by one,
// and memory is what it would have become. Reductions of whole numbers (red, and atom whose result nobody
// reads) may meet: each thread makes its own of an element that nobody looks at, and memory gets them all in
// the end, whose order makes no difference. Otherwise memory is put back, and the CTAs are run one by one:
// results never depend on the number of threads, whatever the kernel does.
#pragma once

#include <optional>

#include "exec/machine.hpp"

namespace lockstep::exec {

/// May CTAs of this kernel look at each other, at a clock or at the host in ways that are not noted? By its
/// code: atomics on global memory but for reductions of one width that commute, loads that wait, functions of
/// the device's runtime, textures, bulk copies.
[[nodiscard]] bool communicates(const Executable& kernel, bool signals = false);

/// All CTAs of the launch on up to options.threads threads. `sink` gets what each executed, unless it is
/// nullptr. Nothing: they are to be run one by one; memory is as before.
[[nodiscard]] std::optional<RunCounts> run_at_once(const Machine& machine, CtaSink* sink);

}  // namespace lockstep::exec
