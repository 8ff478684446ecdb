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
    : group_shift_(static_cast<unsigned>(std::countr_zero(dram.banks_per_group))),
      banks_(dram.bank_groups * dram.banks_per_group, Ready{}),
      groups_(dram.bank_groups, Ready{}) {
  for (const DramRule& rule : dram_rules(dram)) {
    if (rule.count == 4) {
      four_activates_ = rule.cycles;
      continue;
    }
    Effect& e = effects_[static_cast<unsigned>(rule.first)];
    auto& row = rule.scope == DramScope::kBank    ? e.bank
                : rule.scope == DramScope::kGroup ? e.group
                                                  : e.channel;
    row[static_cast<unsigned>(rule.then)] = rule.cycles;
  }
}

void DramTiming::issue(DramCommand c, std::uint32_t bank, Cycle at) {
  const Effect& e = effects_[static_cast<unsigned>(c)];
  Ready &b = banks_[bank], &g = groups_[bank >> group_shift_];
  // Where there is no rule the delay is 0: nothing comes before now anyway.
  for (unsigned k = 0; k < kCommands; ++k) {
    b[k] = std::max(b[k], at + e.bank[k]);
    g[k] = std::max(g[k], at + e.group[k]);
    channel_[k] = std::max(channel_[k], at + e.channel[k]);
  }
  if (c != DramCommand::kActivate) return;
  activates_[next_activate_] = at + four_activates_;
  next_activate_ = (next_activate_ + 1) % 4;
  Cycle& ready = channel_[static_cast<unsigned>(DramCommand::kActivate)];
  ready = std::max(ready, activates_[next_activate_]);
}

void DramTiming::rest(Cycle until) {
  for (Ready& b : banks_) {
    Cycle& ready = b[static_cast<unsigned>(DramCommand::kActivate)];
    ready = std::max(ready, until);
  }
}

}  // namespace lockstep::mem
