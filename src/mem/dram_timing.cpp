#include "mem/dram_timing.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

namespace lockstep::mem {

DramTiming::DramTiming(const config::DramGroup& dram, const std::vector<DramRule>& rules)
    : groups_(dram.bank_groups),
      banks_(dram.bank_groups * dram.banks_per_group),
      group_shift_(static_cast<unsigned>(std::countr_zero(dram.banks_per_group))),
      first_group_(kCommands),
      first_bank_(first_group_ + groups_ * kCommands),
      ready_(first_bank_ + banks_ * kCommands) {
  for (unsigned c = 0; c < kCommands; ++c) {
    for (const DramRule& rule : rules)
      if (rule.first == static_cast<DramCommand>(c)) add(rule);
    first_effect_[c + 1] = static_cast<std::uint16_t>(effects_.size());
  }
}

void DramTiming::add(const DramRule& rule) {
  if (rule.count == 0) throw std::invalid_argument("a DRAM timing rule counts 0 commands");
  if (rule.cycles > std::numeric_limits<std::uint16_t>::max())
    throw std::invalid_argument("a DRAM timing rule of more than 65,535 cycles");
  const Effect effect{rule.scope, static_cast<std::uint8_t>(rule.then),
                      static_cast<std::uint16_t>(rule.cycles)};
  if (rule.count == 1) {
    effects_.push_back(effect);
  } else {
    const std::uint32_t n = places(rule.scope);
    windows_[static_cast<unsigned>(rule.first)].push_back(
        {effect, rule.count, std::vector<Cycle>(std::size_t{n} * rule.count), std::vector<std::uint32_t>(n)});
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
  Cycle* const places[] = {&ready_[first_bank_ + bank * kCommands],
                           &ready_[first_group_ + group_of(bank) * kCommands], ready_.data()};
  const auto raise = [&](const Effect& e, Cycle to) {
    Cycle& ready = places[static_cast<unsigned>(e.scope)][e.then];
    ready = std::max(ready, to);
  };
  const Effect* const end = effects_.data() + first_effect_[static_cast<unsigned>(c) + 1];
  for (const Effect* e = effects_.data() + first_effect_[static_cast<unsigned>(c)]; e != end; ++e)
    raise(*e, at + e->cycles);
  if (windows_[static_cast<unsigned>(c)].empty()) return;
  const std::uint32_t place[] = {bank, group_of(bank), 0};
  for (Window& w : windows_[static_cast<unsigned>(c)])
    raise(w.effect, w.note(place[static_cast<unsigned>(w.effect.scope)], at));
}

void DramTiming::rest(std::uint32_t bank, Cycle until) {
  Cycle& ready = ready_[first_bank_ + bank * kCommands + static_cast<unsigned>(DramCommand::kActivate)];
  ready = std::max(ready, until);
}

}  // namespace lockstep::mem
