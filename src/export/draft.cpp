#include "export/draft.hpp"

#include <fmt/format.h>

#include "export/cut.hpp"
#include "util/error.hpp"

namespace lockstep::exporter {

std::uint32_t Draft::lane(std::uint16_t rank, const Lane& where) {
  graph_.lanes.resize(graph_.ranks);
  const auto [found, added] = lanes_.try_emplace({rank, where}, graph_.lanes[rank]);
  if (added) ++graph_.lanes[rank];
  return found->second;
}

std::uint32_t Draft::add(Node node, std::string_view name, const Frontier& before) {
  for (const Frontier::Entry& entry : before.entries())
    (entry.begun ? node.underway : node.after).push_back(entry.node);
  const auto found = names_.find(name);
  if (found == names_.end()) {
    node.name = static_cast<std::uint32_t>(graph_.names.size());
    names_.emplace(name, node.name);
    graph_.names.emplace_back(name);
  } else {
    node.name = found->second;
  }
  graph_.nodes.push_back(std::move(node));
  return static_cast<std::uint32_t>(graph_.nodes.size() - 1);
}

std::uint32_t Draft::compute(std::uint16_t rank, const Lane& where, std::uint64_t time_ps,
                             std::string_view name, const Frontier& before) {
  Node node;
  node.rank = rank;
  node.on_host = where.kind == Lane::Kind::kHostThread;
  node.lane = lane(rank, where);
  node.time_ps = time_ps;
  return add(std::move(node), name, before);
}

std::uint32_t Draft::send(const MessageKey& key, std::uint64_t bytes, bool offered, const Lane& where,
                          const Frontier& before) {
  Node node;
  node.kind = Node::Kind::kSend;
  node.rank = key.from;
  node.peer = key.to;
  node.lane = lane(key.from, where);
  node.bytes = bytes;
  node.offered = offered;
  const std::uint32_t index = add(std::move(node), "send", before);
  if (!sends_.emplace(key, index).second)
    throw UserError(fmt::format("process {} sends its message {} to {} twice", key.from, key.number, key.to));
  return index;
}

std::uint32_t Draft::receive(const MessageKey& key, const Lane& where, const Frontier& before) {
  Node node;
  node.kind = Node::Kind::kReceive;
  node.rank = key.to;
  node.peer = key.from;
  node.lane = lane(key.to, where);
  const std::uint32_t index = add(std::move(node), "receive", before);
  if (!receives_.emplace(key, index).second)
    throw UserError(
        fmt::format("process {} waits for message {} of process {} twice", key.to, key.number, key.from));
  return index;
}

/// Both maps have the order of pairs and numbers. A message that its receiver does not wait for has a receive
/// that nothing waits for.
void Draft::match() {
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint32_t> tags;
  for (const auto& [key, send] : sends_) {
    auto found = receives_.find(key);
    const std::uint32_t receive = found == receives_.end() ? this->receive(key, {}, {}) : found->second;
    const std::uint32_t tag = tags[{key.from, key.to}]++;
    graph_.nodes[send].tag = graph_.nodes[receive].tag = tag;
    graph_.nodes[receive].bytes = graph_.nodes[send].bytes;
    graph_.nodes[receive].offered = graph_.nodes[send].offered;
  }
  for (const auto& [key, receive] : receives_)
    if (!sends_.contains(key))
      throw UserError(fmt::format("process {} waits for message {} of process {}, which does not send it",
                                  key.to, key.number, key.from));
}

Graph Draft::finish() {
  match();
  return cut(std::move(graph_));
}

}  // namespace lockstep::exporter
