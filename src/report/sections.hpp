// The parts of the page, each as HTML. A part without data in the run is empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/diagnosis.hpp"
#include "report/run.hpp"
#include "report/usage.hpp"

namespace lockstep::report {

/// A kernel of a run with what was derived from its statistics.
struct Judged {
  const Kernel* kernel = nullptr;
  Usage usage;
  Diagnosis diagnosis;
};
[[nodiscard]] std::vector<Judged> judge(const Run& run);

/// The first screen: where the run's time goes and what bounds its kernels. If there are many launches, the
/// list has one row per kernel, for its longest launch. `sections`: kernels that have one, so that a link may
/// lead there; `prefix`: of their anchors.
[[nodiscard]] std::string summary_section(const Run& run, const std::vector<Judged>& kernels,
                                          const std::vector<const Judged*>& sections,
                                          std::string_view prefix = "");

/// Bottleneck, how busy each part was, roofline, stalls, memory, occupancy, instructions.
[[nodiscard]] std::string kernel_section(const Run& run, const Judged& kernel);
[[nodiscard]] std::string memory_chart(const Run& run, const Judged& kernel);
[[nodiscard]] std::string roofline(const Run& run, const Judged& kernel);
/// Opcodes and, with --profile, every instruction of the kernel with its PTX and source line.
[[nodiscard]] std::string mix_section(const Run& run, const Judged& kernel);
[[nodiscard]] std::string source_section(const Run& run, const Judged& kernel);
[[nodiscard]] std::string energy_section(const Judged& kernel);

/// IPC, bandwidths, stalls and, where energies are known, power over time.
[[nodiscard]] std::string time_section(const Run& run);
/// Copies, managed memory, links, remarks.
[[nodiscard]] std::string system_section(const Run& run);

/// A launch in each of two runs.
struct Pair {
  const Judged* a = nullptr;
  const Judged* b = nullptr;
};
/// The n-th launch with a title in each, where both have it.
[[nodiscard]] std::vector<Pair> pairs_of(const std::vector<Judged>& of_a, const std::vector<Judged>& of_b);
/// Two runs: their kernels with differences.
[[nodiscard]] std::string difference_section(const Run& a, const std::vector<Judged>& of_a, const Run& b,
                                             const std::vector<Judged>& of_b);

/// Kernels that get a section of their own, the longest first; each by its longest launch.
[[nodiscard]] std::vector<const Judged*> longest(const std::vector<Judged>& kernels);
/// "kernel-3": the anchor of a kernel's section.
[[nodiscard]] std::string anchor_of(const Kernel& kernel, std::string_view prefix = "");

}  // namespace lockstep::report
