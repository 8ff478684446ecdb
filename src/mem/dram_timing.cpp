#include "mem/dram_timing.hpp"

#include <algorithm>
#include <bit>

namespace lockstep::mem {

std::vector<DramRule> dram_rules(const config::DramGroup& d) {
  using enum DramCommand;
  using enum DramScope;
  const std::uint32_t burst = d.burst_cycles, written = d.tCWL + burst;
  // The data of a write may not begin before those of a read have ended, whatever tRTW says.
  const std::uint32_t bus_turn = d.tCL + burst > d.tCWL ? d.tCL + burst - d.tCWL : 1;
  return {
      {kActivate, kRead, kBank, d.tRCD},
      {kActivate, kWrite, kBank, d.tRCD},
      {kActivate, kPrecharge, kBank, d.tRAS},
      {kActivate, kActivate, kGroup, d.tRRD_L},
      {kActivate, kActivate, kChannel, d.tRRD_S},
      {kActivate, kActivate, kChannel, d.tFAW, 4},
      {kPrecharge, kActivate, kBank, d.tRP},
      {kRead, kPrecharge, kBank, d.tRTP},
      {kRead, kRead, kGroup, d.tCCD_L},
      {kRead, kRead, kChannel, std::max(d.tCCD_S, burst)},
      {kRead, kWrite, kChannel, std::max(d.tRTW, bus_turn)},
      {kWrite, kPrecharge, kBank, written + d.tWR},
      {kWrite, kWrite, kGroup, d.tCCD_L},
      {kWrite, kWrite, kChannel, std::max(d.tCCD_S, burst)},
      {kWrite, kRead, kGroup, written + d.tWTR_L},
      {kWrite, kRead, kChannel, written + d.tWTR_S},
  };
}

DramTiming::DramTiming(const config::DramGroup& dram)
    : banks_(dram.bank_groups * dram.banks_per_group),
      group_shift_(static_cast<unsigned>(std::countr_zero(dram.banks_per_group))),
      first_group_(kCommands),
      first_bank_(first_group_ + dram.bank_groups * kCommands),
      ready_(first_bank_ + banks_ * kCommands) {
  for (const DramRule& rule : dram_rules(dram)) {
    if (rule.count == 4) {
      four_activates_ = rule.cycles;
    } else {
      effects_[static_cast<unsigned>(rule.first)].push_back(
          {rule.scope, static_cast<std::uint8_t>(rule.then), rule.cycles});
    }
  }
}

void DramTiming::issue(DramCommand c, std::uint32_t bank, Cycle at) {
  const unsigned start[] = {first_bank_ + bank * kCommands, first_group_ + group_of(bank) * kCommands, 0};
  for (const Effect& e : effects_[static_cast<unsigned>(c)]) {
    Cycle& ready = ready_[start[static_cast<unsigned>(e.scope)] + e.then];
    ready = std::max(ready, at + e.cycles);
  }
  if (c != DramCommand::kActivate) return;
  activates_[next_activate_] = at + four_activates_;
  next_activate_ = (next_activate_ + 1) % 4;
  Cycle& ready = ready_[static_cast<unsigned>(DramCommand::kActivate)];
  ready = std::max(ready, activates_[next_activate_]);
}

void DramTiming::rest(std::uint32_t bank, Cycle until) {
  Cycle& ready = ready_[first_bank_ + bank * kCommands + static_cast<unsigned>(DramCommand::kActivate)];
  ready = std::max(ready, until);
}

}  // namespace lockstep::mem
