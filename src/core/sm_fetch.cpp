#include "core/sm_warps.hpp"

namespace lockstep::core {

void SmWarps::update_fetch(unsigned w, Tick now) {
  Warp& warp = warps[w];
  fetch_wanted &= ~warp_bit(w);
  if (!warp.resident || warp.fetch == warp.end || warp.buffered >= config.frontend.ibuffer_entries ||
      warp.branch_unresolved || (line_awaited & warp_bit(w)))
    return;
  if (warp.fetch_from > now) {
    wake_at(w, warp.fetch_from);
    return;
  }
  fetch_wanted |= warp_bit(w);
}

void SmWarps::fetch_one(unsigned w, Cycle now) {
  Warp& warp = warps[w];
  const IssueInst& inst = *warp.fetch_inst;
  const std::uint32_t line = front.line_of(kernels[warp.kernel].code_base + inst.pc);
  if (line != warp.line) {
    const auto found = front.fetch(w / 16, w % 16, line, warp.kernel, counters[warp.kernel]);
    if (found != FrontEnd::Found::kL0) front_next = std::min(front_next, now + 1);
    if (found == FrontEnd::Found::kNot) {
      line_awaited |= warp_bit(w);
      fetch_wanted &= ~warp_bit(w);
      return;
    }
    warp.line = line;
  }
  const Tick t = local(now);
  warp.decoded[(warp.ring + warp.buffered) % kMaxIbuffer] = t + config.frontend.decode_latency;
  ++warp.buffered;
  ++warp.fetch;
  // Fetch runs on past what falls through; a redirect is known only when the instruction issues.
  if (warp.fetch != warp.end) {
    warp.fetch_inst = &(*warp.table)[warp.fetch->inst()];
    warp.branch_unresolved = warp.fetch_inst->pc != inst.pc + inst.bytes;
  }
  if (warp.fetch == warp.end || warp.buffered >= config.frontend.ibuffer_entries || warp.branch_unresolved)
    fetch_wanted &= ~warp_bit(w);
  if (warp.buffered == 1) {
    redirected &= ~warp_bit(w);
    evaluate(w, t + 1);
  }
}

}  // namespace lockstep::core
