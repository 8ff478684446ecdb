// What a CTA executed, as the records of a trace.
#pragma once

#include "exec/record.hpp"
#include "lower/code.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::lower {

/// Replaces each executed PTX instruction by its machine instructions. Buffers of `out` are used again.
void replay(const Code& code, const exec::CtaRecord& record, const Dim3& grid, trace::CtaTrace& out);

}  // namespace lockstep::lower
