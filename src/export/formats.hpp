// The formats that graphs are written in. To add one: a file with a function as below, and a line in
// formats.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/graph.hpp"

namespace lockstep::exporter {

struct File {
  std::string path, content;
};

struct Format {
  std::string_view name;
  std::string_view files;  // what is written, for the help
  /// `where`: the path that the user gave. Throws UserError where the format cannot have the graph.
  std::vector<File> (*write)(const Graph& graph, const std::string& where);
};

[[nodiscard]] std::span<const Format> formats();

/// GOAL as text (ATLAHS, LogGOPSim): one file.
[[nodiscard]] std::vector<File> write_goal(const Graph& graph, const std::string& where);
/// Chakra execution traces (ASTRA-sim): WHERE.RANK.et.
[[nodiscard]] std::vector<File> write_chakra(const Graph& graph, const std::string& where);

/// For each node its time in whole units. What is rounded off is carried to the next node of its lane, so
/// that the sum over the first nodes of a lane is never more than half a unit off.
[[nodiscard]] std::vector<std::uint64_t> rounded_times(const Graph& graph, std::uint64_t unit_ps);
/// For each node its place in its rank, from 1 on.
[[nodiscard]] std::vector<std::uint32_t> numbers_in_ranks(const Graph& graph);

/// All files or none, as far as the system lets several files appear at once.
void write_files(const std::vector<File>& files);

}  // namespace lockstep::exporter
