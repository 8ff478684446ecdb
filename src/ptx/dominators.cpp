#include "ptx/dominators.hpp"

#include <utility>

namespace lockstep::ptx {
namespace {

/// Works on depth-first numbers; the root has 0.
class SemiNca {
 public:
  SemiNca(const Graph& graph, std::uint32_t root) : graph_(graph), number_(graph.size(), kNoNode) {
    number(root);
  }

  std::vector<std::uint32_t> run() {
    link_predecessors();
    const auto n = static_cast<std::uint32_t>(node_.size());
    for (std::uint32_t v = n; v-- > 1;) {
      for (const std::uint32_t p : predecessors_[v]) semi_[v] = std::min(semi_[v], semi_[evaluate(p, v)]);
    }
    std::vector<std::uint32_t> dominators(parent_);
    std::vector<std::uint32_t> out(graph_.size(), kNoNode);
    for (std::uint32_t v = 1; v < n; ++v) {
      while (dominators[v] > semi_[v]) dominators[v] = dominators[dominators[v]];
      out[node_[v]] = node_[dominators[v]];
    }
    return out;
  }

 private:
  void number(std::uint32_t root) {
    std::vector<std::pair<std::uint32_t, std::size_t>> stack;  // node, next successor
    visit(root, 0);
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == graph_[node].size()) {
        stack.pop_back();
        continue;
      }
      const std::uint32_t successor = graph_[node][next++];
      if (number_[successor] != kNoNode) continue;
      visit(successor, number_[node]);
      stack.emplace_back(successor, 0);
    }
  }

  void visit(std::uint32_t node, std::uint32_t parent) {
    const auto v = static_cast<std::uint32_t>(node_.size());
    number_[node] = v;
    node_.push_back(node);
    parent_.push_back(parent);
    semi_.push_back(v);
    label_.push_back(v);
    ancestor_.push_back(parent);
  }

  void link_predecessors() {
    predecessors_.resize(node_.size());
    for (std::uint32_t v = 0; v < node_.size(); ++v) {
      for (const std::uint32_t successor : graph_[node_[v]]) predecessors_[number_[successor]].push_back(v);
    }
  }

  /// The vertex of least semidominator on the path from `v` up to, but not with, the first one below `last`;
  /// vertices above `last` are linked to their parents. Compresses that path.
  std::uint32_t evaluate(std::uint32_t v, std::uint32_t last) {
    if (v <= last) return v;
    path_.clear();
    while (ancestor_[v] > last) {
      path_.push_back(v);
      v = ancestor_[v];
    }
    const std::uint32_t top = ancestor_[v];
    while (!path_.empty()) {
      const std::uint32_t below = path_.back();
      path_.pop_back();
      if (semi_[label_[v]] < semi_[label_[below]]) label_[below] = label_[v];
      ancestor_[below] = top;
      v = below;
    }
    return label_[v];
  }

  const Graph& graph_;
  std::vector<std::uint32_t> number_;                                   // by node
  std::vector<std::uint32_t> node_, parent_, semi_, label_, ancestor_;  // by number
  std::vector<std::vector<std::uint32_t>> predecessors_;
  std::vector<std::uint32_t> path_;
};

}  // namespace

std::vector<std::uint32_t> immediate_dominators(const Graph& graph, std::uint32_t root) {
  return SemiNca(graph, root).run();
}

}  // namespace lockstep::ptx
