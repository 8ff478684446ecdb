// What `lockstep info --json` writes.
#pragma once

#include <string>
#include <vector>

#include "cli/info_scan.hpp"

namespace lockstep::cli {

/// `kernels` and `all`, which are sealed, with all counts.
[[nodiscard]] std::string info_json(const trace::TraceSet& trace, const std::vector<KernelInfo>& kernels,
                                    const KernelInfo& all);

}  // namespace lockstep::cli
