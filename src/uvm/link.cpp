#include "uvm/link.hpp"

#include <algorithm>
#include <iterator>

namespace lockstep::uvm {
namespace {

/// Every model, one line each.
constexpr const LinkModel* kModels[] = {
    &kArctanLink, &kTableLink, &kAffineLink, &kPcie3Link, &kPcie4Link, &kPcie5Link, &kC2cLink,
};

}  // namespace

std::span<const LinkModel* const> link_models() { return kModels; }

std::span<const std::string_view> link_names() {
  static const auto names = [] {
    std::array<std::string_view, std::size(kModels)> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kModels[i]->name;
    return all;
  }();
  return names;
}

Cycle cycles_of_ps(std::uint64_t picoseconds, const LinkParameters& parameters) {
  constexpr std::uint64_t kPerKilohertz = 1000000000;  // ps * kHz in a cycle
  const std::uint64_t whole = picoseconds / kPerKilohertz * parameters.core_khz;
  return whole + (picoseconds % kPerKilohertz * parameters.core_khz + kPerKilohertz - 1) / kPerKilohertz;
}

LinkTimes::LinkTimes(const LinkModel& model, const LinkParameters& parameters)
    : model_(&model), parameters_(parameters) {
  for (const Direction d : {Direction::kToDevice, Direction::kToHost})
    for (unsigned pages = 1; pages <= kPagesPerTree; ++pages)
      table_[static_cast<unsigned>(d)][pages] =
          model.cycles(std::uint64_t{pages} * kPageBytes, d, parameters);
}

Cycle synchronise_cycles(const LinkTimes& link, std::uint64_t bytes) {
  constexpr unsigned kRound[] = {1, 15, 1, 15, 1, 31, 1, 63, 1, 127, 1, 255};
  std::uint64_t left = (bytes + kPageBytes - 1) / kPageBytes;
  Cycle total = 0;
  while (left > 0)
    for (const unsigned step : kRound) {
      const auto pages = static_cast<unsigned>(std::min<std::uint64_t>(step, left));
      total += link.cycles(Direction::kToHost, pages);
      left -= pages;
    }
  return total;
}

Cycle smart_copy_cycles(const LinkTimes& link, Direction direction, std::uint64_t bytes) {
  const Cycle cycles = link.copy_cycles(direction, bytes);
  return bytes >= kTreeBytes ? 2 * cycles : cycles;
}

}  // namespace lockstep::uvm
