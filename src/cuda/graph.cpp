#include "cuda/graph.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "cuda/error.hpp"

namespace lockstep::cuda {

std::uint32_t GraphCondition::value() const {
  std::uint32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(memory.address()), sizeof value);
  return value;
}
void GraphCondition::set(std::uint32_t value) const {
  std::memcpy(reinterpret_cast<void*>(memory.address()), &value, sizeof value);
}

GraphNode* Graph::add(Operation operation, const std::vector<GraphNode*>& dependencies) {
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

void Graph::connect(GraphNode* from, GraphNode* to) {
  const bool fit = from != to && contains(from) && contains(to);
  if (!fit || std::ranges::find(to->dependencies, from) != to->dependencies.end())
    throw ApiError(Status::kErrorInvalidValue);
  to->dependencies.push_back(from);
}

void Graph::disconnect(GraphNode* from, GraphNode* to) {
  if (!contains(to) || std::erase(to->dependencies, from) == 0) throw ApiError(Status::kErrorInvalidValue);
}

bool Graph::contains(const GraphNode* node) const {
  return std::ranges::any_of(nodes, [node](const auto& n) { return n.get() == node; });
}

namespace {

/// The first that `search(graph)` gives of the graphs inside nodes.
template <class Search>
auto search_inside(const std::vector<std::unique_ptr<GraphNode>>& nodes, const Search& search)
    -> decltype(search(std::declval<Graph&>())) {
  for (const auto& node : nodes) {
    if (node->child)
      if (auto* found = search(*node->child)) return found;
    if (!node->choice) continue;
    for (const auto& body : node->choice->bodies)
      if (auto* found = search(*body)) return found;
  }
  return nullptr;
}

}  // namespace

Graph* Graph::find(const void* handle) {
  if (handle == this) return this;
  return search_inside(nodes, [&](Graph& inside) { return inside.find(handle); });
}

Graph* Graph::owner(const GraphNode* wanted) {
  if (contains(wanted)) return this;
  return search_inside(nodes, [&](Graph& inside) { return inside.owner(wanted); });
}

GraphNode* Graph::twin(const GraphNode* original) {
  for (const auto& node : nodes)
    if (node->original == original) return node.get();
  return search_inside(nodes, [&](Graph& inside) { return inside.twin(original); });
}

void Graph::take_names_of(const Graph& before) {
  const auto named = before.ordered();
  std::map<const GraphNode*, const GraphNode*> place;
  const auto own = ordered();
  for (std::size_t i = 0; i < own.size(); ++i) place[own[i]] = named[i];
  for (const auto& node : nodes) {
    const GraphNode& other = *place.at(node.get());
    node->original = other.original;
    node->enabled = other.enabled;
    if (node->child) node->child->take_names_of(*other.child);
    if (!node->choice) continue;
    for (std::size_t b = 0; b < node->choice->bodies.size(); ++b)
      node->choice->bodies[b]->take_names_of(*other.choice->bodies[b]);
  }
}

bool Graph::has_choices() const {
  return std::ranges::any_of(nodes, [](const auto& node) {
    return node->choice != nullptr || (node->child != nullptr && node->child->has_choices());
  });
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  copy->conditions = conditions;
  copy->objects = objects;
  std::map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes) {
    auto twin = std::make_unique<GraphNode>(*node);
    twin->original = node.get();
    if (node->child) twin->child = node->child->clone();
    if (node->choice) {
      twin->choice = std::make_shared<GraphChoice>(*node->choice);
      for (auto& body : twin->choice->bodies) body = body->clone();
    }
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
