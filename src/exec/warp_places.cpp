#include "exec/warp_places.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::exec {

void WarpPlaces::add(Dim3 cta, std::uint32_t warp, const std::string& place) {
  const auto [at, is_new] = by_name_.emplace(place, places_.size());
  if (is_new) places_.push_back({cta, warp, place});
  ++places_[at->second].warps;
}

std::string WarpPlaces::text() const {
  std::string out;
  const std::size_t lines = std::min(places_.size(), kMaxLines);
  for (std::size_t i = 0; i < lines; ++i) {
    const Place& p = places_[i];
    out += fmt::format("  CTA ({},{},{}) warp {}{}: {}\n", p.cta.x, p.cta.y, p.cta.z, p.warp,
                       p.warps == 1 ? "" : fmt::format(" and {} more", p.warps - 1), p.name);
  }
  std::uint64_t elsewhere = 0;
  for (std::size_t i = lines; i < places_.size(); ++i) elsewhere += places_[i].warps;
  if (elsewhere != 0)
    out += fmt::format("  and {} warps in {} other places\n", elsewhere, places_.size() - lines);
  return out;
}

}  // namespace lockstep::exec
