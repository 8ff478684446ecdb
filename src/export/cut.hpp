// Ranks that wait for each other by messages alone.
#pragma once

#include "export/graph.hpp"

namespace lockstep::exporter {

/// For each node that waits for nodes of other ranks: messages of 0 bytes from there, one for each node and
/// rank that waits for it. Their tags follow those of the other messages of the pair. Precondition: a node
/// comes after those that it waits for.
[[nodiscard]] Graph cut(Graph graph);

}  // namespace lockstep::exporter
