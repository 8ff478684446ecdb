// What the tests of the library share.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "lockstep/simulator.hpp"
#include "lockstep/trace_builder.hpp"

namespace lockstep::api_test {

inline constexpr std::uint64_t kData = 0x7f0000000000, kPage = 4096, kTree = 2 << 20;

/// One warp that loads from the addresses, one after another.
inline Trace loads_from(const std::vector<std::uint64_t>& addresses) {
  TraceBuilder builder;
  builder.kernel({.name = "loads"}, [&](const Warp&, std::vector<Instruction>& code) {
    for (const std::uint64_t address : addresses)
      code.push_back({.opcode = "LDG.E",
                      .destination = 4,
                      .sources = {4},
                      .access_bytes = 4,
                      .base = address,
                      .stride = 4});
    code.push_back({.opcode = "EXIT"});
  });
  return builder.finish();
}

/// Of four trees in turn, some pages of each, several times.
inline std::vector<std::uint64_t> round_and_round() {
  std::vector<std::uint64_t> addresses;
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t tree = 0; tree < 4; ++tree)
      for (std::uint64_t page = 0; page < 512; page += 37)
        addresses.push_back(kData + tree * kTree + page * kPage);
  return addresses;
}

inline Options managed(const char* memory) {
  Options options;
  options.managed = std::to_string(kData) + "+" + std::to_string(4 * kTree);
  options.gpu_memory = memory;
  return options;
}

/// Kernels with all that they count.
inline std::string results_of(const Result& result) {
  std::ostringstream text;
  for (const Kernel& kernel : result.kernels()) {
    text << kernel.name << " " << kernel.start_cycle << " " << kernel.cycles;
    for (const std::uint64_t value : kernel.counters) text << " " << value;
  }
  return text.str();
}

}  // namespace lockstep::api_test
