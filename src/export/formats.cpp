#include "export/formats.hpp"

#include <array>
#include <memory>

#include "util/output_file.hpp"

namespace lockstep::exporter {

std::span<const Format> formats() {
  static constexpr std::array kFormats{
      Format{"goal", "a GOAL text for ATLAHS and LogGOPSim: the file WHERE", write_goal},
      Format{"chakra", "Chakra execution traces for ASTRA-sim: WHERE.0.et, WHERE.1.et, ...", write_chakra},
  };
  return kFormats;
}

std::vector<std::uint64_t> rounded_times(const Graph& graph, std::uint64_t unit_ps) {
  std::vector<std::vector<std::uint64_t>> rest;
  for (const std::uint32_t lanes : graph.lanes) rest.emplace_back(lanes, unit_ps / 2);
  std::vector<std::uint64_t> times;
  times.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    std::uint64_t& mine = rest[node.rank][node.lane];
    mine += node.time_ps;
    times.push_back(mine / unit_ps);
    mine %= unit_ps;
  }
  return times;
}

std::vector<std::uint32_t> numbers_in_ranks(const Graph& graph) {
  std::vector<std::uint32_t> next(graph.ranks, 1), numbers;
  numbers.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) numbers.push_back(next[node.rank]++);
  return numbers;
}

void write_files(const std::vector<File>& files) {
  std::vector<std::unique_ptr<OutputFile>> open;
  for (const File& file : files) {
    open.push_back(std::make_unique<OutputFile>(file.path));
    open.back()->append(file.content);
  }
  for (const auto& file : open) file->commit();
}

}  // namespace lockstep::exporter
