#include "cuda/graphs.hpp"

#include <utility>

namespace lockstep::cuda {

Graph& Graphs::add(std::unique_ptr<Graph> graph) {
  Graph* const handle = graph.get();
  return *(graphs_[handle] = std::move(graph));
}

Graph& Graphs::at(void* handle) {
  for (const auto& [address, graph] : graphs_)
    if (Graph* found = graph->find(handle)) return *found;
  throw ApiError(Status::kErrorInvalidValue);
}

void Graphs::destroy(void* handle) { graphs_.erase(&at(handle)); }

Graph& Graphs::owner(const GraphNode* node) {
  for (const auto& [address, graph] : graphs_)
    if (Graph* found = graph->owner(node)) return *found;
  throw ApiError(Status::kErrorInvalidValue);
}

std::shared_ptr<const GraphCondition> Graphs::condition(Address handle) const {
  for (const auto& [address, graph] : graphs_)
    for (const auto& condition : graph->conditions)
      if (condition->memory.address() == handle) return condition;
  throw ApiError(Status::kErrorInvalidValue);
}

GraphExec& Graphs::add(std::unique_ptr<GraphExec> exec) {
  GraphExec* const handle = exec.get();
  return *(execs_[handle] = std::move(exec));
}

GraphExec& Graphs::exec(void* handle) {
  const auto found = execs_.find(static_cast<GraphExec*>(handle));
  if (found == execs_.end()) throw ApiError(Status::kErrorInvalidValue);
  return *found->second;
}

void Graphs::destroy_exec(void* handle) {
  GraphExec& gone = exec(handle);
  drop_events(gone);
  for (const auto& [device, stream] : std::exchange(gone.streams, {})) streams_.destroy_stream(stream);
  execs_.erase(&gone);
}

void Graphs::drop_events(GraphExec& exec) {
  for (const abi::Event event : std::exchange(exec.events, {})) streams_.destroy_event(event);
}

void Graphs::clear(unsigned device) {
  std::erase_if(execs_, [device](const auto& entry) { return entry.second->graph->device == device; });
  std::erase_if(graphs_, [device](const auto& entry) { return entry.second->device == device; });
}

}  // namespace lockstep::cuda
