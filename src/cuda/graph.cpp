#include "cuda/graph.hpp"

#include <algorithm>
#include <map>

#include "cuda/error.hpp"

namespace lockstep::cuda {

GraphNode* Graph::add(Operation operation, std::vector<GraphNode*> dependencies) {
  for (const GraphNode* d : dependencies)
    if (!contains(d)) throw ApiError(Status::kErrorInvalidValue);
  auto node = std::make_unique<GraphNode>();
  node->operation = std::move(operation);
  for (GraphNode* d : dependencies)
    if (std::ranges::find(node->dependencies, d) == node->dependencies.end()) node->dependencies.push_back(d);
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

void Graph::remove(GraphNode* node) {
  for (const auto& other : nodes) std::erase(other->dependencies, node);
  std::erase_if(nodes, [node](const auto& n) { return n.get() == node; });
}

bool Graph::contains(const GraphNode* node) const {
  return std::ranges::any_of(nodes, [node](const auto& n) { return n.get() == node; });
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  std::map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes) {
    auto twin = std::make_unique<GraphNode>(*node);
    twin->original = node.get();
    copies[node.get()] = twin.get();
    copy->nodes.push_back(std::move(twin));
  }
  for (const auto& node : copy->nodes)
    for (GraphNode*& dependency : node->dependencies) dependency = copies.at(dependency);
  return copy;
}

std::vector<const GraphNode*> Graph::ordered() const {
  std::map<const GraphNode*, std::size_t> missing;
  std::map<const GraphNode*, std::vector<const GraphNode*>> dependents;
  for (const auto& node : nodes) {
    missing[node.get()] = node->dependencies.size();
    for (const GraphNode* d : node->dependencies) dependents[d].push_back(node.get());
  }
  std::vector<const GraphNode*> order;
  for (const auto& node : nodes)
    if (missing[node.get()] == 0) order.push_back(node.get());
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const GraphNode* next : dependents[order[i]])
      if (--missing[next] == 0) order.push_back(next);
  if (order.size() != nodes.size()) throw ApiError(Status::kErrorInvalidValue);
  return order;
}

}  // namespace lockstep::cuda
