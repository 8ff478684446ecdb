// Task graphs: operations with dependences, built by hand or captured from streams.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "cuda/context.hpp"
#include "cuda/operation.hpp"
#include "cuda/stream_state.hpp"
#include "cuda/user_objects.hpp"

namespace lockstep::cuda {

struct Graph;

/// A value that kernels set (cudaGraphSetConditional) and conditional nodes read. Its handle is the address
/// of four bytes of device memory.
struct GraphCondition {
  GraphCondition(exec::DeviceMemory& device, std::uint32_t initial, bool assign)
      : memory(device, sizeof(std::uint32_t), current_device()),
        initial_value(initial),
        assigned_at_launch(assign) {}
  GraphAllocation memory;
  std::uint32_t initial_value;
  bool assigned_at_launch;
  [[nodiscard]] std::uint32_t value() const;
  void set(std::uint32_t value) const;
};

/// A conditional node: which of its body graphs runs, and how often (cudaGraphConditionalNodeType).
struct GraphChoice {
  enum Type { kIf, kWhile, kSwitch };
  Type type = kIf;
  std::shared_ptr<const GraphCondition> condition;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<Graph*> handles;  // of the bodies, as the program sees them

  /// Calls run(body) as the condition says, which the bodies may change.
  template <class Run>
  void perform(Run&& run) const {
    if (type == kWhile) {
      while (condition->value() != 0) run(*bodies[0]);
      return;
    }
    const std::size_t chosen = type == kSwitch ? condition->value() : condition->value() != 0 ? 0 : 1;
    if (chosen < bodies.size()) run(*bodies[chosen]);
  }
};

struct GraphNode {
  Operation operation;
  unsigned device = current_device();    // on which it is carried out
  std::shared_ptr<Graph> child;          // a child graph's node performs all of it, as it was when added
  std::shared_ptr<GraphChoice> choice;   // a conditional node
  std::vector<GraphNode*> dependencies;  // each once, in the order given
  const GraphNode* original = nullptr;   // in a clone: the node it was copied from
  bool enabled = true;
  std::vector<void*> arguments;  // of a kernel, in its parameters: what cudaGraphKernelNodeGetParams gives
  std::vector<BatchOperation> batch;               // of memory operations, as they were given
  std::map<int, LaunchAttributeValue> attributes;  // of a kernel: hints that were set, by their number
};

/// Nodes have stable addresses: they are the program's handles.
struct Graph {
  unsigned device = current_device();  // that it is destroyed with
  std::vector<std::unique_ptr<GraphNode>> nodes;
  std::vector<std::shared_ptr<const GraphCondition>> conditions;
  bool invalidated = false;  // a call during its capture has made that useless
  UserReferences objects;    // that live as long as it, its clones and instances

  GraphNode* add(Operation operation, const std::vector<GraphNode*>& dependencies);
  void remove(GraphNode* node);
  /// A dependence of `to` on `from`, which must not or must be there. Throw ApiError(InvalidValue).
  void connect(GraphNode* from, GraphNode* to);
  void disconnect(GraphNode* from, GraphNode* to);
  [[nodiscard]] bool contains(const GraphNode* node) const;
  /// This graph, a child of its nodes or a body of its conditional ones, to any depth, by address; nullptr
  /// where there is none.
  [[nodiscard]] Graph* find(const void* handle);
  /// The same for the one that has this node.
  [[nodiscard]] Graph* owner(const GraphNode* node);
  /// The node that was made of this one by clone(), to any depth; nullptr where there is none.
  [[nodiscard]] GraphNode* twin(const GraphNode* original);
  [[nodiscard]] bool has_choices() const;
  /// Calls visit(allocation) for the memory that its own nodes allocate.
  template <class Visit>
  void for_each_allocation(Visit&& visit) const {
    for (const auto& node : nodes)
      if (const auto* a = std::get_if<AllocateMemory>(&node->operation)) visit(*a->memory);
  }
  /// A copy whose nodes name these as their originals.
  [[nodiscard]] std::unique_ptr<Graph> clone() const;
  /// Of a graph of the same shape: its nodes are the program's for what `before`'s nodes in their places
  /// were, and enabled as these.
  void take_names_of(const Graph& before);
  /// All nodes, dependences first, otherwise in the order of adding. Throws ApiError(InvalidValue) on a
  /// cycle.
  [[nodiscard]] std::vector<const GraphNode*> ordered() const;
};

}  // namespace lockstep::cuda
