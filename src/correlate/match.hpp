// Which measured launch is which simulated one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "correlate/errors.hpp"
#include "correlate/measurements.hpp"

namespace lockstep::correlate {

/// A kernel of a run.
struct SimulatedLaunch {
  std::string kernel;  // as in the trace, as a rule mangled
  std::uint64_t id = 0;
  Dimensions grid{1, 1, 1}, block{1, 1, 1};
  std::map<std::string, double> counters;  // all that are numbers, by path, and kElapsedCycles
};

struct SimulatedProgram {
  std::string program;
  std::vector<SimulatedLaunch> launches;  // by id
};
/// `path`: a result folder or stats.json. `program`: its name; empty: the trace's. Throws UserError /
/// InputError.
[[nodiscard]] SimulatedProgram load_program(const std::string& path, const std::string& program);

struct Pair {
  std::string program, kernel;  // kernel: readable
  std::uint64_t launch = 0;     // of this kernel, from 0; of a mean the first
  std::uint64_t instances = 1;  // > 1: the values are means over this many launches
  std::string counter;
  Values values;
};

struct Matched {
  std::vector<Pair> pairs;             // by program, then in the measurements' order, then by counter
  std::vector<std::string> unmatched;  // "FILE:LINE: kernel: why", for each measurement without its launch
  std::size_t unmeasured = 0;          // simulated launches without a measurement
};

/// Measurements of `file` with the launches of the program that they name; those that name none belong to
/// `program`, where it is not empty. A measured name means the kernel with that function; where several have
/// it, its parameters (or template arguments) decide, and where they cannot the measurement is unmatched. Of
/// a kernel's launches the n-th measured one is the n-th simulated one, counted among those of its grid and
/// block where the file says them; `launch` counts all of the kernel's. A mean is compared with that over all
/// launches. Counters that a launch lacks are left out.
[[nodiscard]] Matched match(const std::vector<SimulatedProgram>& programs, const Measurements& measured,
                            const std::string& file, const std::string& program);

}  // namespace lockstep::correlate
