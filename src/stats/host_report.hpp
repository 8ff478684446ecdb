// What host.json says of the process that simulated.
#pragma once

#include <string>

#include "stats/report.hpp"

namespace lockstep::stats {

/// Fills date and host, the process's `command`, and those of wall time, CPU time (seconds) and peak memory
/// (bytes) that are still zero.
void describe_host(HostReport& report, std::string command, double wall_seconds);

}  // namespace lockstep::stats
