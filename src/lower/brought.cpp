#include "lower/brought.hpp"

#include <algorithm>

#include "ptx/control_flow.hpp"

namespace lockstep::lower {

namespace {
constexpr std::size_t kNoLoop = ~std::size_t{0};
}

/// A loop: the runs from where a jump goes back to, up to the jump.
BroughtConstants::BroughtConstants(const ptx::Function& function, const std::vector<Run>& runs)
    : loop_(runs.size(), kNoLoop), at_end_(runs.size()) {
  const auto run_of = [&](std::uint32_t instruction) {
    const auto after = std::ranges::upper_bound(runs, instruction, {}, &Run::first);
    return static_cast<std::size_t>(after - runs.begin()) - 1;
  };
  const ptx::ControlFlow flow(function);
  for (const ptx::Block& block : flow.blocks()) {
    if (!block.reachable || block.first == block.end) continue;
    const std::size_t jump = run_of(block.end - 1);
    for (const std::uint32_t successor : block.successors) {
      const std::uint32_t target = flow.blocks()[successor].first;
      if (target > block.first) continue;
      for (std::size_t run = run_of(target); run <= jump; ++run)
        loop_[run] = std::min(loop_[run], run_of(target));
    }
  }
}

void BroughtConstants::note(std::size_t run, const Constant& constant) {
  if (!bring(constant)) return;
  while (run > 0 && loop_[run] != kNoLoop) {
    run = loop_[run];
    if (run > 0 && loop_[run - 1] == kNoLoop) return at_end_[run - 1].push_back(constant);
    if (run > 0) --run;  // another loop ends there
  }
}

}  // namespace lockstep::lower
