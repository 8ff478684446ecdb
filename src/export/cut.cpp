#include "export/cut.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace lockstep::exporter {
namespace {

class Cut {
 public:
  explicit Cut(Graph graph) : from_(std::move(graph)) {
    to_.ranks = from_.ranks;
    to_.names = std::move(from_.names);
    to_.lanes = std::move(from_.lanes);
    to_.names.emplace_back("wait for another rank");
    for (const Node& node : from_.nodes)
      if (node.kind == Node::Kind::kSend) {
        std::uint32_t& tags = tags_[{node.rank, node.peer}];
        tags = std::max(tags, node.tag + 1);
      }
  }

  Graph run() {
    for (Node& node : from_.nodes) {
      for (const bool begun : {false, true})
        for (std::uint32_t& before : begun ? node.underway : node.after)
          before = here(before, node.rank, begun);
      // What has been received is complete.
      std::erase_if(node.underway, [&](std::uint32_t before) {
        const bool received = to_.nodes[before].name == name();
        if (received) node.after.push_back(before);
        return received;
      });
      moved_.push_back(push(std::move(node)));
    }
    return std::move(to_);
  }

 private:
  [[nodiscard]] std::uint32_t name() const { return static_cast<std::uint32_t>(to_.names.size() - 1); }
  std::uint32_t push(Node node) {
    to_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(to_.nodes.size() - 1);
  }

  /// The node that stands for node `before` in `rank`.
  std::uint32_t here(std::uint32_t before, std::uint16_t rank, bool begun) {
    const std::uint32_t moved = moved_[before];
    const std::uint16_t other = to_.nodes[moved].rank;
    if (other == rank) return moved;
    const auto [found, added] = received_.try_emplace({moved, rank, begun}, 0);
    if (!added) return found->second;
    Node send;
    send.kind = Node::Kind::kSend;
    send.rank = other;
    send.peer = rank;
    send.tag = tags_[{other, rank}]++;
    send.name = name();
    Node receive = send;
    receive.kind = Node::Kind::kReceive;
    std::swap(receive.rank, receive.peer);
    (begun ? send.underway : send.after).push_back(moved);
    push(std::move(send));
    return found->second = push(std::move(receive));
  }

  Graph from_, to_;
  std::vector<std::uint32_t> moved_;  // by node of from_
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint32_t> tags_;
  std::map<std::tuple<std::uint32_t, std::uint16_t, bool>, std::uint32_t> received_;
};

}  // namespace

Graph cut(Graph graph) { return Cut(std::move(graph)).run(); }

}  // namespace lockstep::exporter
