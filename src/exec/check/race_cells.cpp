#include "exec/check/race_cells.hpp"

namespace lockstep::exec {

RaceCells& GlobalRaceCells::page(Address at) {
  const std::uint64_t number = at / kPageBytes;
  if (number == last_number_) return *last_;
  auto& place = pages_[number];
  if (!place) place = std::make_unique<RaceCells>(kPageBytes);
  last_number_ = number;
  last_ = place.get();
  return *last_;
}

void GlobalRaceCells::forget(Address begin, std::uint64_t bytes) {
  last_number_ = ~std::uint64_t{0};
  const std::uint64_t first = (begin + kPageBytes - 1) / kPageBytes, end = (begin + bytes) / kPageBytes;
  if (end <= first) return;
  if (end - first > pages_.size()) {
    std::erase_if(pages_, [&](const auto& page) { return page.first >= first && page.first < end; });
    return;
  }
  for (std::uint64_t number = first; number < end; ++number) pages_.erase(number);
}

}  // namespace lockstep::exec
