#include "gpu/link_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "stats/text.hpp"

namespace lockstep::gpu {
namespace {

/// Their rows follow those of the network.
constexpr std::uint64_t kFirstLinkRow = std::uint64_t{1} << 28;

/// Bytes over what the link could have carried, six decimals.
std::string utilisation(const LinkTimeline::Slice& slice, std::uint64_t bytes_per_second) {
  const auto busy_ps =
      static_cast<std::uint64_t>(static_cast<sim::Wide>(slice.bytes) * 1'000'000'000'000 / bytes_per_second);
  const std::uint64_t span_ps = slice.to - slice.from;
  return stats::fixed_ratio(std::min(busy_ps, span_ps), span_ps, 6);  // times are whole cycles
}

}  // namespace

void put_links(TimelineWriter& out, const LinkTimeline& links) {
  for (const auto& [node, name] : links.switches) {
    if (std::ranges::none_of(links.rows, [node = node](const LinkTimeline::Row& row) {
          return row.node == node && !row.slices.empty();
        }))
      continue;
    out.node(node);
    out.name_node(name);
  }
  std::uint64_t number = kFirstLinkRow;
  for (const LinkTimeline::Row& row : links.rows) {
    if (row.slices.empty()) continue;
    out.node(row.node);
    out.row(number, row.name);
    for (const LinkTimeline::Slice& slice : row.slices)
      out.span_ps(number, fmt::format("{} messages", slice.messages), slice.from, slice.to,
                  fmt::format("\"messages\":{},\"bytes\":{},\"utilisation\":{}", slice.messages, slice.bytes,
                              utilisation(slice, row.bytes_per_second)));
    ++number;
  }
}

}  // namespace lockstep::gpu
