// Which trace a command reads: TRACE, or a folder for each of several devices.
#pragma once

#include <boost/program_options.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "trace/device_folders.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::cli {

struct TraceArgument {
  std::string path;                          // TRACE; empty where folders are given
  std::vector<trace::DeviceFolder> folders;  // --device, in the order of their devices
};

/// TRACE and --device.
void add_trace_argument(Syntax& syntax);
/// Throws UserError unless the devices are 0 to N-1, each once.
[[nodiscard]] TraceArgument trace_argument(const boost::program_options::variables_map& values);
[[nodiscard]] std::unique_ptr<trace::TraceSet> open(const TraceArgument& argument,
                                                    const trace::OpenOptions& options = {});

}  // namespace lockstep::cli
