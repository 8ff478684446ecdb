// Measurements of hardware from files of profilers and from handwritten ones.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::correlate {

using Dimensions = std::array<std::uint64_t, 3>;

/// The measurements of one launch of a kernel, or the means over all its launches.
struct Measurement {
  std::string program;                  // empty: the file does not say
  std::string kernel;                   // as the file has it
  std::optional<std::uint64_t> launch;  // which launch of this kernel, from 0; else by the order of the file
  std::optional<Dimensions> grid, block;
  std::uint64_t instances = 0;             // > 0: a mean over this many launches
  std::map<std::string, double> counters;  // by our names, in our units (ns, bytes, counts)
  std::uint64_t line = 0;
};

struct Measurements {
  std::vector<Measurement> launches;  // in the file's order
  std::vector<std::string> unknown;   // metrics that have no counterpart, sorted
};

/// `text`: CSV of Nsight Compute (`ncu --csv`, details or raw page, a line a metric or a column a metric), of
/// Nsight Systems (`nsys stats --report cuda_gpu_kern_sum --format csv`), or our own:
///
///   kernel,launch,grid,block,elapsed_ns,l1.hits       a column a counter
///   kernel,counter,value,unit                         a line a value
///
/// with `program`, `launch`, `grid` and `block` ("4x1x1" or "(4, 1, 1)") where they are known. Lines in front
/// of the header, as the profilers print them, are passed over. Throws InputError naming the line and what
/// was expected.
[[nodiscard]] Measurements parse_measurements(std::string_view text, const std::string& file);
[[nodiscard]] Measurements read_measurements(const std::string& file);

}  // namespace lockstep::correlate
