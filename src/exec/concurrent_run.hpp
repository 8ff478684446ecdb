// Executes the CTAs of a launch on several host threads. Internal to src/exec.
//
// A thread runs CTAs in ascending order and notes which words of global memory it reads and writes. If no
// thread has written what another one has read or written, every CTA saw the values of a serial execution,
// and memory is as after one. Integer reductions (red, and atom whose result is unused) may conflict: each
// thread reduces privately into elements that are not otherwise read, and the results are combined at the
// end, in any order. In all other cases memory is restored, and the CTAs are run one by one: results never
// depend on the number of threads, whatever the kernel does.
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
[[nodiscard]] std::optional<RunCounts> run_concurrently(const Machine& machine, CtaSink* sink);

}  // namespace lockstep::exec
