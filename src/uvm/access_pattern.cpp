#include "uvm/access_pattern.hpp"

namespace lockstep::uvm {
namespace {

using P = AccessPattern;

bool reuses(P p) { return p == P::kLinearReuse || p == P::kRandomReuse || p == P::kMixedReuse; }
P without_reuse(P p) {
  return p == P::kLinearReuse   ? P::kLinear
         : p == P::kRandomReuse ? P::kRandom
         : p == P::kMixedReuse  ? P::kMixed
                                : p;
}
P with_reuse(P p) {
  return p == P::kLinear ? P::kLinearReuse : p == P::kRandom ? P::kRandomReuse : P::kMixedReuse;
}

}  // namespace

AccessPattern merge(AccessPattern a, AccessPattern b) {
  if (a == P::kNone || b == P::kNone) return a == P::kNone ? b : a;
  const P x = without_reuse(a), y = without_reuse(b), sum = x == y ? x : P::kMixed;
  return reuses(a) || reuses(b) ? with_reuse(sum) : sum;
}

AccessPattern AccessPatterns::of_kernel(const State& s) {
  if (!s.any) return P::kNone;
  const P plain = s.random ? P::kRandom : P::kLinear;
  return s.reuse ? with_reuse(plain) : plain;
}

void AccessPatterns::kernel_begins() {
  for (State& s : allocations_) {
    s.before = merge(s.before, of_kernel(s));
    s.any = s.random = s.reuse = false;
  }
}

void AccessPatterns::staged(std::size_t allocation, std::uint64_t block) {
  State& s = allocations_[allocation];
  s.random = s.random || (s.any && block < s.last);
  s.reuse = !s.seen.insert(block).second || s.reuse;
  s.any = true;
  s.last = block;
}

AccessPattern AccessPatterns::of(std::size_t allocation) const {
  const State& s = allocations_[allocation];
  return merge(s.before, of_kernel(s));
}

SmartChoice smart_choice(const AccessPatterns& patterns) {
  SmartChoice choice;
  for (std::size_t a = 0; a < patterns.allocations(); ++a) {
    const P p = patterns.of(a);
    if (p == P::kNone || p == P::kLinear) continue;
    choice.tree_eviction = true;
    choice.delayed = choice.delayed || p != P::kLinearReuse;
  }
  return choice;
}

}  // namespace lockstep::uvm
