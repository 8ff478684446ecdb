#include "sampling/grouping.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace lockstep::sampling {
namespace {

constexpr double kFactor = 2;

using Members = std::vector<std::uint32_t>;

double ctas(const Launch& launch) { return static_cast<double>(launch.kernel->grid.count()); }
double instructions(const Launch& launch) { return static_cast<double>(launch.size.instructions); }
double density(const Launch& launch) {
  return static_cast<double>(launch.size.address_words) / std::max(instructions(launch), 1.0);
}

/// Splits members where `feature` exceeds the factor, then each part by the features that follow.
void split(std::span<const Launch> launches, Members members,
           std::span<double (*const)(const Launch&)> features, std::vector<Members>& out) {
  if (features.empty()) {
    std::sort(members.begin(), members.end());
    out.push_back(std::move(members));
    return;
  }
  const auto feature = [&](std::uint32_t i) { return features.front()(launches[i]); };
  std::stable_sort(members.begin(), members.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return feature(a) < feature(b); });
  for (auto begin = members.begin(); begin != members.end();) {
    const double limit = kFactor * feature(*begin);
    const auto end = std::find_if(begin, members.end(), [&](std::uint32_t i) { return feature(i) > limit; });
    split(launches, Members(begin, end), features.subspan(1), out);
    begin = end;
  }
}

auto kind_of(const trace::KernelHeader& k) {
  return std::tuple(std::string_view(k.name), k.block.x, k.block.y, k.block.z, k.shared_bytes, k.registers);
}

}  // namespace

std::vector<std::uint32_t> group_launches(std::span<const Launch> launches) {
  static constexpr double (*kFeatures[])(const Launch&) = {ctas, instructions, density};
  std::map<decltype(kind_of(*launches[0].kernel)), Members> kinds;
  for (std::uint32_t i = 0; i < launches.size(); ++i) kinds[kind_of(*launches[i].kernel)].push_back(i);
  std::vector<Members> groups;
  for (auto& [kind, members] : kinds) split(launches, std::move(members), kFeatures, groups);
  std::sort(groups.begin(), groups.end(), [](const Members& a, const Members& b) { return a[0] < b[0]; });
  std::vector<std::uint32_t> group_of(launches.size());
  for (std::uint32_t g = 0; g < groups.size(); ++g)
    for (const std::uint32_t i : groups[g]) group_of[i] = g;
  return group_of;
}

}  // namespace lockstep::sampling
