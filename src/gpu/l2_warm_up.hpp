// Kernels that are not timed, passed over the tags of the L2.
#pragma once

#include <cstdint>

#include "gpu/device.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::gpu {

/// The L2 holds what it would after the CTA's accesses to global memory, one warp after the other, each line
/// of an instruction once, as if all of them reached it. Nothing is counted and no time passes. With two L2
/// halves CTAs are taken to be on SMs of either half in turn. With `translations` all SMs know those of its
/// accesses, as SMs of one kernel come to a page at about the same time. Between windows.
void warm_l2(Device& device, const trace::KernelHeader& kernel, const trace::StaticTable& instructions,
             const trace::CtaTrace& cta, bool translations);

/// All CTAs of a kernel, read from the trace; the L2 alone. Throws InputError.
void warm_l2(Device& device, const trace::TraceSet& trace, std::uint32_t kernel);

}  // namespace lockstep::gpu
