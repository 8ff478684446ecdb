#include "exec/reduction_set.hpp"

#include <algorithm>

namespace lockstep::exec {

/// The index of the element, or where it would be inserted.
std::size_t ReductionSet::place_of(Address at) const {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
  const std::size_t mask = places_.size() - 1;
  std::size_t place = static_cast<std::size_t>((at * kMix) >> 32) & mask;
  while (places_[place] != 0 && all_[places_[place] - 1].at != at) place = (place + 1) & mask;
  return place;
}

void ReductionSet::grow() {
  places_.assign(std::max(kFewest, 2 * places_.size()), 0);
  for (std::size_t i = 0; i < all_.size(); ++i)
    places_[place_of(all_[i].at)] = static_cast<std::uint32_t>(i + 1);
}

bool ReductionSet::add(const Reduction& one, bool& fresh) {
  if (2 * all_.size() >= places_.size()) grow();
  std::uint32_t& number = places_[place_of(one.at)];
  fresh = number == 0;
  if (fresh) {
    all_.push_back(one);
    number = static_cast<std::uint32_t>(all_.size());
    return true;
  }
  Reduction& known = all_[number - 1];
  known.value = known.fn(known.value, one.value, 0);
  return known.fn == one.fn;
}

const Reduction* ReductionSet::find(Address at) const {
  if (all_.empty()) return nullptr;
  const std::uint32_t number = places_[place_of(at)];
  return number == 0 ? nullptr : &all_[number - 1];
}

void ReductionSet::clear() {
  if (places_.size() > kMaxKept) {
    places_ = {};
    all_ = {};
  }
  if (all_.empty()) return;
  std::fill(places_.begin(), places_.end(), 0);
  all_.clear();
}

}  // namespace lockstep::exec
