// The steps of lowering that can be left out, to see what each brings (docs/lowering.md).
#pragma once

#include <string>
#include <vector>

namespace lockstep::lower {

struct Passes {
  bool constants = true;    // constants.hpp
  bool unroll = true;       // unroll.hpp
  bool merge = true;        // merge.hpp
  bool schedule = true;     // schedule.hpp
  bool rest = true;         // registers.hpp: registers that rest before they are used again
  bool integers = true;     // addresses.hpp; fusion.hpp: integers; registers of what is taken in
  bool setup = true;        // builder_constants.cpp: the stack pointer, loads of parameters and descriptors
  bool fusion = true;       // fusion.hpp; moves without an instruction
  bool predication = true;  // predication.hpp
  bool left_out = true;     // replay.hpp: warps issue what is predicated also if no lane executes it
  bool temporaries = true;  // temporaries.hpp
  bool uniform = true;      // uniform.hpp
  bool slow_paths = true;   // exec/slow_path.hpp
  bool signals = false;  // no step: writes for which other kernels may wait say so, see exec/signal_log.hpp
  bool operator==(const Passes&) const = default;
};

/// The names of the steps, for people: "constants, schedule, ... or slow_paths".
[[nodiscard]] std::string step_names();

/// All but those of these names. Throws UserError.
[[nodiscard]] Passes all_but(const std::vector<std::string>& names);

}  // namespace lockstep::lower
