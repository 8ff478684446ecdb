// Kernels that wait for each other: writes that may be signals, and the loops that wait for them
// (signal_log.hpp). Internal to src/exec.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/warp_state.hpp"

namespace lockstep::exec {

/// A write that may be a signal: the words of a device's memory that it touches, each once.
[[nodiscard]] std::vector<Address> signal_words(const WarpState& warp, LaneMask active,
                                                const Addresses& addresses, std::uint32_t bytes);
/// To be called before and after the write, one warp instruction, with its words. Precondition:
/// options.signals.
void before_signal(const WarpState& warp, const std::vector<Address>& words);
void after_signal(const WarpState& warp, const std::vector<Address>& words);

/// After a load in a loop that waits (form.spin): the first of a round, or the last. Where no lane leaves the
/// loop, it has not happened: others run, and it comes again. False: this is no wait that signals can end.
[[nodiscard]] bool wait_for_signal(WarpState& warp, const Operation& op, const MemoryForm& form,
                                   LaneMask active, const Addresses& addresses);

}  // namespace lockstep::exec
