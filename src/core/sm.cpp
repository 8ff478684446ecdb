#include "core/sm.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/sm_stages.hpp"
#include "util/archive.hpp"
#include "util/bits.hpp"

namespace lockstep::core {
namespace {

constexpr Tick kRebaseAt = 1u << 30;
constexpr Cycle kLaunchSpan =
    4096;  // core cycles that a launch may be under way, beyond the configured latency

}  // namespace

SmState::SmState(const config::GpuConfig& c, icnt::Fabric& f, const mem::AddressMap& map,
                 const KernelTable& kernel_table, std::uint32_t sm, bool skip_idle,
                 const uvm::AddressSpace* managed, bool profiled)
    : config(c),
      fabric(f),
      kernels(kernel_table),
      index(sm),
      skip(skip_idle),
      subcore_count(std::min(c.sm.subcores, kMaxSubcores)),
      done_latency(c.done_latency()),
      mio(c, f, map, sm, managed),
      front(c),
      launches(c.cta_latency() + kLaunchSpan),
      ctas(c.sm.max_ctas),
      counters(c.launch.max_kernels),
      resident_warps(c.launch.max_kernels),
      resident_since(c.launch.max_kernels),
      slot_launch(c.launch.max_kernels) {
  reason.fill(stats::Stall::kEmpty);
  if (!profiled) return;
  profile = std::make_unique<InstructionProfile>(kernels, in_flight, subcore_count);
  mio.profile(profile.get());
}

void Sm::State::tick(Cycle now) {
  current = now;
  rebase_if_due(now);
  if (launches.next_arrival() <= now) receive_ctas(now);  // 1. CTAs from the dispatcher
  if (mio_next <= now) complete_memory_operations(now);   // 2. memory pipeline, write-backs
  if (front_next <= now) refill_instructions(now);        // 3. instruction lines
  if (wheel_used >> (now & 63) & 1) wake_warps(now);      // 4. known times: fixed latencies, decode, barriers
  const Tick t = local(now);
  const WarpSet64 obeyed = skip ? ~WarpSet64{0} : 0;  // --no-skip looks at held sub-cores, too
  WarpSet64 mine = 0xffff;
  for (unsigned s = 0; s < subcore_count; ++s, mine <<= 16) {
    if (held_until[s] <= t) let_issue(s);
    if (ready & ~(held & obeyed) & mine) issue_stage(s, now);  // 5. one warp instruction per sub-core
    if (fetch_wanted & mine) fetch_stage(s, now);  // 6. one instruction into an instruction buffer
  }
}

Cycle Sm::State::next_event(Cycle now) const {
  if ((ready & ~held) | fetch_wanted) return now + 1;
  Cycle next = std::min({launches.next_arrival(), mio_next, front_next});
  const Tick tried = *std::min_element(held_until.begin(), held_until.end());
  if (tried != kNoTick) next = std::min(next, base + tried);
  if (wheel_used) {
    const auto start = static_cast<int>((now + 1) & 63);
    next = std::min(next, now + 1 + static_cast<unsigned>(std::countr_zero(std::rotr(wheel_used, start))));
  }
  return std::max(next, now + 1);
}

/// Ticks have 32 bits: long before they run out, tick 0 moves to shortly before now.
void Sm::State::rebase_if_due(Cycle now) {
  if (now - base < kRebaseAt) return;
  constexpr Tick kKept = 128;  // what was ready shortly before stays so: mio.operand_delay counts from it
  // An SM may have slept for longer than ticks can say: all that it knew is past.
  const auto delta = static_cast<Tick>(std::min<Cycle>(now - base - kKept, Scoreboard::kPendingLong - 1));
  const auto shift = [&](Tick& t) { t = t > delta ? t - delta : 0; };
  scoreboard.rebase(delta);
  for (Tick& until : held_until)
    if (until != kNoTick) shift(until);
  shift(branch_free);
  for (SubCore& sub : subcores) {
    std::for_each(sub.unit_free.begin(), sub.unit_free.end(), shift);
    std::for_each(sub.bank_free.begin(), sub.bank_free.end(), shift);
    std::for_each(sub.product_starts.begin(), sub.product_starts.end(), shift);
    shift(sub.products_end);
    shift(sub.allocate_free);
  }
  for (Warp& w : warps) {
    std::for_each(w.decoded.begin(), w.decoded.end(), shift);
    shift(w.not_before);
    shift(w.fetch_from);
    std::for_each(w.product_groups.begin(), w.product_groups.end(), shift);
  }
  base = now - kKept;
}

void Sm::State::receive_ctas(Cycle now) {
  launches.drain(now, [&](std::uint32_t, const icnt::LaunchCta& launch) { start_cta(launch, now); });
}

void Sm::State::complete_memory_operations(Cycle now) {
  mio.tick(now);
  if (!held_ctas.empty()) free_held_ctas(now);
  for (const MioEvent& event : mio.events()) handle_event(event, now);
  if (mio.cluster()) [[unlikely]]
    receive_of_clusters(now);
  mio_next = mio.next_event(now);
  if (!mio.instructions().lines().empty()) front_next = now;
}

[[gnu::noinline]] void Sm::State::receive_of_clusters(Cycle now) {
  for (const icnt::ClusterMessage& message : mio.cluster()->news()) receive_of_cluster(message, now);
}

void Sm::State::refill_instructions(Cycle now) {
  front.tick(now, mio.instructions(), counters);
  for (unsigned s = 0; s < subcore_count; ++s) {
    const WarpSet64 woken = WarpSet64{front.woken(s)} << 16 * s & line_awaited;
    line_awaited &= ~woken;
    for (const unsigned w : bits_of(woken)) update_fetch(w, local(now));
  }
  front_next = front.next_event(now);
  mio_next = std::min(mio_next, mio.next_event(now));  // a fetch may have gone out
}

void Sm::State::wake_warps(Cycle now) {
  const WarpSet64 due = wheel[now & 63];
  wheel[now & 63] = 0;
  wheel_used &= ~(std::uint64_t{1} << (now & 63));
  const Tick t = local(now);
  for (const unsigned w : bits_of(due)) {
    if (ready & warp_bit(w)) continue;
    update_fetch(w, t);
    evaluate(w, t);
  }
}

void Sm::State::fetch_stage(unsigned s, Cycle now) {
  SubCore& sub = subcores[s];
  const auto wanted = static_cast<WarpSet16>(fetch_wanted >> 16 * s);
  const unsigned position = pick_fetch(config.sm.scheduler, wanted, {sub.last_fetched, &sub.age});
  sub.last_fetched = static_cast<std::uint8_t>(position);
  fetch_one(16 * s + position, now);
}

// --- The domain ---

Sm::Sm(const config::GpuConfig& config, icnt::Fabric& fabric, const mem::AddressMap& map,
       const KernelTable& kernels, std::uint32_t index, bool skip, const uvm::AddressSpace* managed,
       bool profile)
    : state_(std::make_unique<State>(config, fabric, map, kernels, index, skip, managed, profile)) {}

Sm::~Sm() = default;

Cycle Sm::advance(Cycle from, Cycle to) {
  State& s = *state_;
  s.launches.gather(*s.fabric.launch, s.index, from);
  s.mio.gather(from);
  const Cycle before = from > 0 ? from - 1 : 0;
  s.mio_next = std::min(s.mio_next, s.mio.next_event(before));
  Cycle now = s.skip && from > 0 ? std::max(from, s.next_event(before)) : from;
  while (now < to) {
    s.tick(now);
    now = s.skip ? s.next_event(now) : now + 1;
  }
  return s.skip ? now : std::max(to, s.next_event(to - 1));
}

void Sm::settle(Cycle at) {
  State& s = *state_;
  for (unsigned i = 0; i < s.subcore_count; ++i) s.settle_subcore(i, at);
  for (unsigned k = 0; k < s.counters.size(); ++k) s.count_residency(static_cast<std::uint8_t>(k), at);
}

void Sm::take_counters(std::uint8_t kernel, stats::KernelCounters& total) {
  State& s = *state_;
  stats::SmCounters counted = std::exchange(s.counters[kernel], {});
  counted.stalls[static_cast<unsigned>(stats::Stall::kIssued)] = counted.warp_instructions;
  for (const std::uint64_t lanes : counted.lanes) counted.thread_instructions += lanes;
  stats::add(total.sm, counted);
  stats::add(total.sm, std::exchange(s.mio.counters(kernel), {}));
  stats::add(total.icnt, std::exchange(s.mio.icnt_counters(kernel), {}));
}

void Sm::take_profile(std::uint8_t kernel, stats::KernelProfile& total) {
  State& s = *state_;
  if (!s.profile) return;
  for (const unsigned w : bits_of(s.occupied))  // of a run that ends before they do
    if (const Warp& warp = s.warps[w]; warp.kernel == kernel && warp.next != warp.end) s.note_issued(w);
  s.profile->take(kernel, total);
}

bool Sm::quiescent() const {
  const State& s = *state_;
  return s.occupied == 0 && s.free_handles.size() == s.in_flight.size() && s.launches.size() == 0 &&
         s.mio.quiescent() && s.mio.credits_missing() == 0 && s.front.quiescent();
}

void Sm::learn(Address line) { state_->mio.learn(line); }

const icnt::EntryLog& Sm::entries() const { return state_->mio.entries(); }

Cycle Sm::earliest_cta_end(Cycle now) {
  State& s = *state_;
  if (s.fabric.launch->has_mail(s.index)) return now;
  if (s.no_cta_end_before < now + sim::kInboxWindow) s.no_cta_end_before = s.earliest_cta_end(now);
  return std::max(now, std::min(s.no_cta_end_before, s.launches.next_arrival()));
}

bool Sm::at_rest() const { return quiescent() && state_->at_rest(); }

void Sm::persist(Archive& a) { a(*state_); }

std::uint64_t Sm::empty_subcore_cycles() const {
  std::uint64_t sum = 0;
  for (const SubCore& sub : state_->subcores) sum += sub.empty_cycles;
  return sum;
}

void Sm::add_translation(uvm::TlbCounters& total) const {
  if (const Translator* translator = state_->mio.translator()) stats::add(total, translator->counters());
}

void Sm::dump(std::string& out) const { state_->dump(out); }

}  // namespace lockstep::core
