// GOAL: a program for each rank, of operations with labels and what they require (Hoefler, Siebert,
// Lumsdaine: Group Operation Assembly Language, ICPP 2009; the grammar is that of txt2bin in LogGOPSim and
// ATLAHS).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "export/formats.hpp"
#include "util/error.hpp"
#include "util/types.hpp"

namespace lockstep::exporter {
namespace {

constexpr std::uint32_t kMaxLanes = 256;  // processors of a rank: a number of 8 bits

/// In LogGOPSim a message of s bytes takes (s - 1) G on the wire, so an empty one has a byte.
std::uint64_t size_of(const Node& node) { return std::max<std::uint64_t>(node.bytes, 1); }

void put_operation(std::string& out, const Graph& graph, std::size_t index, std::uint64_t ns,
                   const std::vector<std::uint32_t>& numbers) {
  const Node& node = graph.nodes[index];
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "l{}: ", numbers[index]);
  switch (node.kind) {
    case Node::Kind::kCompute:
      fmt::format_to(to, "calc {}", ns);
      break;
    case Node::Kind::kSend:
      fmt::format_to(to, "send {}b to {} tag {}", size_of(node), node.peer, node.tag);
      break;
    case Node::Kind::kReceive:
      fmt::format_to(to, "recv {}b from {} tag {}", size_of(node), node.peer, node.tag);
      break;
  }
  if (node.lane > 0) fmt::format_to(to, " cpu {}", node.lane);
  out += '\n';
  for (const std::uint32_t before : node.after)
    fmt::format_to(to, "l{} requires l{}\n", numbers[index], numbers[before]);
  for (const std::uint32_t before : node.underway)
    fmt::format_to(to, "l{} irequires l{}\n", numbers[index], numbers[before]);
}

}  // namespace

std::vector<File> write_goal(const Graph& graph, const std::string& where) {
  for (std::uint16_t r = 0; r < graph.ranks; ++r)
    if (graph.lanes[r] > kMaxLanes)
      throw UserError(fmt::format("rank {} has {} streams and threads; GOAL numbers {} processors", r,
                                  graph.lanes[r], kMaxLanes));
  const auto times = rounded_times(graph, kPsOfNs);
  const auto numbers = numbers_in_ranks(graph);
  std::vector<std::string> ranks(graph.ranks);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    put_operation(ranks[graph.nodes[i].rank], graph, i, times[i], numbers);
  std::string text = fmt::format("num_ranks {}\n", graph.ranks);
  for (std::uint16_t r = 0; r < graph.ranks; ++r) text += fmt::format("\nrank {} {{\n{}}}\n", r, ranks[r]);
  return {{where, std::move(text)}};
}

}  // namespace lockstep::exporter
