// Reports for the tests of this folder.
#pragma once

#include <cstring>
#include <string>

#include "stats/report.hpp"
#include "tests/temporary_folder.hpp"

namespace lockstep::stats {

using test::TemporaryFolder;

/// A kernel whose counters are all different: word i has the value (i + 1) * 1000 + salt.
inline KernelResult sample_kernel(std::uint64_t id, std::uint64_t salt) {
  KernelResult kernel;
  kernel.name = "kernel_" + std::to_string(id);
  kernel.id = id;
  kernel.grid = {196, 2, 1};
  kernel.block = {256, 1, 1};
  kernel.start_cycle = 100 * id;
  kernel.launch_cycles = 5000;
  kernel.cycles = 6000 + salt;
  kernel.ctas_per_sm = 8;
  kernel.occupancy_limiter = "warps";
  kernel.subcores = 320;
  std::uint64_t words[sizeof(KernelCounters) / 8];
  for (std::size_t i = 0; i < std::size(words); ++i) words[i] = (i + 1) * 1000 + salt;
  std::memcpy(&kernel.counters, words, sizeof words);
  return kernel;
}

inline RunReport sample_report(std::uint64_t kernels = 3) {
  RunReport report;
  report.version = "9.8.7";
  report.gpu = "v100";
  report.config_hash = 0xabc;
  report.trace_name = "vectoradd";
  report.trace_hash = 0xffffffffffffffff;
  report.core_khz = 1312000;
  report.total_cycles = 123456;
  for (std::uint64_t i = 1; i <= kernels; ++i) report.kernels.push_back(sample_kernel(i, i));
  report.copies.push_back({"host_to_device", 0x7f0000000000, 1u << 20, 0, 1000});
  report.unknown_opcodes = {{"FROB", 12}};
  report.remarks = {"tensor maps are not traced"};
  return report;
}

}  // namespace lockstep::stats
