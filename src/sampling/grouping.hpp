// Groups of similar launches, by what is known of them without timing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/kernel_size.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::sampling {

/// A launch of the population, in the order of the program.
struct Launch {
  const trace::KernelHeader* kernel = nullptr;
  trace::KernelSize size;
};

/// The group of each launch, numbered from 0 by its first launch. Launches of a group have the same kernel
/// name, block and resources; their numbers of CTAs, then of warp instructions, then of address words per
/// instruction (how much memory, how coalesced) differ by no more than a factor of two: of the launches
/// sorted by such a number, a group begins where it exceeds twice that of the group's first. Names and
/// geometry as in PKA (Avalos Baddouh et al., MICRO 2021), instruction counts as in Sieve (Naderan-Tahan et
/// al., ISPASS 2023); the factor is assumed: within it times are near to linear in the number of
/// instructions, which is what Fit uses.
[[nodiscard]] std::vector<std::uint32_t> group_launches(std::span<const Launch> launches);

}  // namespace lockstep::sampling
