#include "core/constant_unit.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace lockstep::core {
namespace {

/// Lines of 64 and of 256 bytes: Jia et al. 2018 and 2019; mt4g @043c8c6 on Pascal, Volta, Turing, Ampere and
/// Hopper: constant L1 and L1.5, fetch granularity.
constexpr Address kL1Line = 64, kL15Line = 256;
constexpr SectorMask kAllSectors = 0b1111, kHalfLine = 0b0011;

/// Loads without addresses: each kernel slot has one line of the L1, in a part of the address space that no
/// allocation gets.
constexpr Address kArena = Address{1} << 45;
constexpr Address kSpacing = 4096;

constexpr std::uint64_t kTagMask = 0xffffff;  // of requests: the fill's number; clear of BulkCopies::kTag

}  // namespace

ConstantUnit::ConstantUnit(const config::MioGroup& config, const LsuLatencies& latencies, LsuPort& port,
                           LsuResults& results, std::vector<stats::SmCounters>& counters)
    : port_(&port),
      results_(&results),
      counters_(&counters),
      rest_(latencies.const_rest),
      interval_(config.const_interval),
      pass_interval_(config.const_pass_interval),
      l15_extra_(config.const_l15_latency - config.const_latency),
      cold_miss_(config.const_cold_miss),
      l1_(static_cast<std::uint32_t>(config.const_l1_bytes / kL1Line)),
      l15_(static_cast<std::uint32_t>(config.const_l15_bytes / kL15Line)) {
  fills_.reserve(64);
  waiting_.reserve(64);
}

Cycle ConstantUnit::load(Cycle now, const MioOperation& op) {
  stats::SmCounters& counted = (*counters_)[op.kernel];
  ++counted.const_instructions;
  if (op.form == trace::AddressForm::kNone) {
    ++counted.const_passes;
    without_addresses(now, op);
    return now + interval_;
  }
  Waiting load{0, now + rest_, op.handle};
  const unsigned passes = serve_all(now, op, load);
  counted.const_passes += passes;
  if (profile_) profile_->add_constant_passes(op.handle, op.kernel, passes);
  if (load.number == 0) {
    results_->add(now, load.ready, op.handle);
  } else {
    waiting_.push_back(load);
  }
  return now + interval_ + (passes - 1) * pass_interval_;
}

void ConstantUnit::without_addresses(Cycle now, const MioOperation& op) {
  Waiting load{0, now + rest_, op.handle};
  for (const Fill& f : fills_)
    if (f.of_launch) load.number = f.number;
  if (load.number == 0 && cold_ && cold_miss_) {
    cold_ = false;
    Fill first;
    first.line = kArena + op.kernel * kSpacing;
    first.from = now;
    first.missing[0] = kHalfLine;
    first.unsent = 0b01;
    first.kernel = op.kernel;
    first.of_launch = true;
    fill(first, load);
  }
  if (load.number == 0) return results_->add(now, load.ready, op.handle);
  waiting_.push_back(load);
}

/// Returns the passes: lanes with the same address share one.
unsigned ConstantUnit::serve_all(Cycle now, const MioOperation& op, Waiting& load) {
  if (op.form == trace::AddressForm::kAffine && op.words[1] == 0) {  // the usual case
    serve(now, op.words[0], op.kernel, load);
    return 1;
  }
  std::array<Address, kWarpSize> lanes{};
  trace::expand_addresses(op.form, op.mask, op.words, lanes.data());
  unsigned passes = 0;
  for (LaneMask rest = op.mask; rest != 0; ++passes) {
    const Address address = lanes[static_cast<unsigned>(std::countr_zero(rest))];
    LaneMask same = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) same |= LaneMask{lanes[lane] == address} << lane;
    rest &= ~same;
    serve(now + passes * pass_interval_, address, op.kernel, load);
  }
  return passes;
}

void ConstantUnit::serve(Cycle at, Address address, std::uint8_t kernel, Waiting& load) {
  using Found = ConstantTags::Found;
  const ConstantTags::Lookup in_l1 = l1_.lookup(address / kL1Line);
  const bool brought = in_l1.found == Found::kFreeWay && !cold_miss_;
  if (in_l1.found == Found::kLine || brought) {
    load.ready = std::max(load.ready, std::max(at, *in_l1.ready) + rest_);
    return await(address, load);
  }
  stats::SmCounters& counted = (*counters_)[kernel];
  ++counted.const_l1_misses;
  const ConstantTags::Lookup in_l15 = l15_.lookup(address / kL15Line);
  if (in_l15.found == Found::kLine || (in_l15.found == Found::kFreeWay && !cold_miss_)) {
    *in_l1.ready = at + l15_extra_;
    load.ready = std::max(load.ready, at + l15_extra_ + rest_);
    return await(address, load);
  }
  ++counted.const_l15_misses;
  // The L1.5 is on the path: the request continues from there, and the reply is not looked up again.
  Fill line;
  line.line = address / kL15Line * kL15Line;
  line.from = at + l15_extra_ / 2;
  line.missing[0] = line.missing[1] = kAllSectors;
  line.unsent = 0b11;
  line.kernel = kernel;
  fill(line, load);
}

/// The load also waits for the address's line, if that is under way.
void ConstantUnit::await(Address address, Waiting& load) const {
  for (const Fill& f : fills_)
    if (!f.of_launch && f.line == address / kL15Line * kL15Line)
      load.number = std::max(load.number, f.number);
}

void ConstantUnit::fill(const Fill& fill, Waiting& load) {
  fills_.push_back(fill);
  fills_.back().number = load.number = ++number_;
  unsent_ += bit_count(fill.unsent);
}

void ConstantUnit::tick(Cycle now) {
  if (port_->full()) return;
  const auto next = std::find_if(fills_.begin(), fills_.end(), [](const Fill& f) { return f.unsent != 0; });
  if (next->from > now) return;
  const auto part = static_cast<unsigned>(std::countr_zero(next->unsent));
  next->unsent = static_cast<std::uint8_t>(next->unsent & (next->unsent - 1));
  --unsent_;
  icnt::Request request;
  request.line = next->line + part * kLineBytes;
  request.tag = static_cast<std::uint32_t>(next->number & kTagMask);
  request.kind = icnt::AccessKind::kConstant;
  request.sectors = next->missing[part];
  request.kernel = next->kernel;
  port_->send(now, request);
}

Cycle ConstantUnit::next_event(Cycle now) const {
  if (port_->full()) return kNever;
  const auto next = std::find_if(fills_.begin(), fills_.end(), [](const Fill& f) { return f.unsent != 0; });
  return std::max(now + 1, next->from);
}

void ConstantUnit::receive(Cycle now, const icnt::Reply& reply) {
  const auto found = std::find_if(fills_.begin(), fills_.end(),
                                  [&](const Fill& f) { return (f.number & kTagMask) == reply.tag; });
  SectorMask& missing = found->missing[(reply.line - found->line) / kLineBytes];
  missing = static_cast<SectorMask>(missing & ~reply.sectors);
  if (found->missing[0] != 0 || found->missing[1] != 0) return;
  fills_.erase(found);
  const std::uint64_t oldest = fills_.empty() ? number_ + 1 : fills_.front().number;
  std::size_t kept = 0;
  for (const Waiting& load : waiting_) {
    if (load.number >= oldest) {
      waiting_[kept++] = load;
    } else {
      results_->add(now, std::max(now + LsuLatencies::kMissPath + rest_, load.ready), load.handle);
    }
  }
  waiting_.resize(kept);
}

void ConstantUnit::invalidate() {
  cold_ = true;
  l1_.clear();
  l15_.clear();
}

}  // namespace lockstep::core
