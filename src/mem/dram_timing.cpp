#include "mem/dram_timing.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace lockstep::mem {

DramTiming::DramTiming(const config::DramGroup& dram, const std::vector<DramRule>& rules)
    : groups_(dram.bank_groups),
      banks_(dram.bank_groups * dram.banks_per_group),
      group_shift_(static_cast<unsigned>(std::countr_zero(dram.banks_per_group))),
      first_group_(kCommands),
      first_bank_(first_group_ + groups_ * kCommands),
      ready_(first_bank_ + banks_ * kCommands) {
  for (const DramRule& rule : rules) {
    if (rule.count == 0) throw std::invalid_argument("a DRAM timing rule counts 0 commands");
    const auto first = static_cast<unsigned>(rule.first);
    const Effect effect{rule.scope, static_cast<std::uint8_t>(rule.then), rule.cycles};
    if (rule.count == 1) {
      effects_[first].push_back(effect);
    } else {
      const std::uint32_t n = places(rule.scope);
      windows_[first].push_back({effect, rule.count, std::vector<Cycle>(std::size_t{n} * rule.count),
                                 std::vector<std::uint32_t>(n)});
    }
  }
}

std::uint32_t DramTiming::places(DramScope scope) const {
  return scope == DramScope::kBank ? banks_ : scope == DramScope::kGroup ? groups_ : 1;
}

Cycle DramTiming::Window::note(std::uint32_t place, Cycle at) {
  Cycle* const ring = &ends[std::size_t{place} * count];
  std::uint32_t& first = oldest[place];
  ring[first] = at + effect.cycles;
  if (++first == count) first = 0;
  return ring[first];
}

void DramTiming::issue(DramCommand c, std::uint32_t bank, Cycle at) {
  const unsigned start[] = {first_bank_ + bank * kCommands, first_group_ + group_of(bank) * kCommands, 0};
  const auto raise = [&](const Effect& e, Cycle to) {
    Cycle& ready = ready_[start[static_cast<unsigned>(e.scope)] + e.then];
    ready = std::max(ready, to);
  };
  for (const Effect& e : effects_[static_cast<unsigned>(c)]) raise(e, at + e.cycles);
  const std::uint32_t place[] = {bank, group_of(bank), 0};
  for (Window& w : windows_[static_cast<unsigned>(c)])
    raise(w.effect, w.note(place[static_cast<unsigned>(w.effect.scope)], at));
}

void DramTiming::rest(std::uint32_t bank, Cycle until) {
  Cycle& ready = ready_[first_bank_ + bank * kCommands + static_cast<unsigned>(DramCommand::kActivate)];
  ready = std::max(ready, until);
}

}  // namespace lockstep::mem
