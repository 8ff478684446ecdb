// Names, units and help of the counters of managed memory: the statistics files and docs/stats.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "uvm/counters.hpp"

namespace lockstep::uvm {

/// All counters of a run.
struct RunCounters {
  TlbCounters tlb;  // summed over SMs
  Counters gmmu;
};

struct CounterRow {
  std::string_view name, unit, help;
  std::size_t offset;  // bytes from the start of RunCounters
};
[[nodiscard]] std::span<const CounterRow> counter_rows();

[[nodiscard]] inline std::uint64_t value(const RunCounters& counters, const CounterRow& row) {
  return *reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const char*>(&counters) + row.offset);
}

}  // namespace lockstep::uvm
