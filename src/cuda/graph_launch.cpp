#include "cuda/graph_launch.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "cuda/api.hpp"

namespace lockstep::cuda {

GraphLaunch::GraphLaunch(Runtime& rt, GraphExec& exec, abi::Stream stream)
    : rt_(rt),
      exec_(exec),
      stream_(stream),
      device_(rt.streams.stream(stream).device),
      choices_(exec.graph->has_choices()) {
  require(rt.streams.stream(stream).capture == nullptr || !choices_, Status::kErrorStreamCaptureUnsupported);
  check_choices();
}

void GraphLaunch::check_choices() const {
  if (choices_ && rt_.held.holds(rt_.streams.stream(stream_)))
    throw ApiError(Status::kErrorNotSupported,
                   "a graph with conditional nodes behind a kernel that waits for a write of the host");
}

abi::Stream GraphLaunch::stream_of(unsigned device) {
  if (device == device_) return stream_;
  const auto [found, fresh] = exec_.streams.try_emplace(device);
  if (fresh) {
    rt_.held.catch_up();
    found->second = rt_.streams.create_stream(kStreamNonBlocking, 0);
  }
  return found->second;
}

Issue GraphLaunch::issue() {
  return {std::exchange(called_, true) ? Issue::As::kGraphBehind : Issue::As::kGraph};
}

void GraphLaunch::submit(unsigned device, Operation operation) {
  {
    const OnDevice on(device);
    rt_.submit(stream_of(device), std::move(operation), issue());
  }
  check_choices();
}

abi::Event GraphLaunch::mark(unsigned device) {
  const OnDevice on(device);
  const abi::Event event = rt_.streams.create_event(kEventDisableTiming);
  exec_.events.push_back(event);
  rt_.submit(stream_of(device), RecordEvent{event}, issue());
  return event;
}

void GraphLaunch::perform(const GraphNode& node) {
  if (!node.enabled) return;
  if (node.child) return run(*node.child, node.device);
  if (!node.choice) return submit(node.device, node.operation);
  node.choice->perform([&](const Graph& body) { run(body, node.device); });
}

void GraphLaunch::run(const Graph& graph, unsigned device) {
  const bool across =
      std::ranges::any_of(graph.nodes, [device](const auto& node) { return node->device != device; });
  if (across) return run_across(graph, device);
  for (const GraphNode* node : graph.ordered()) perform(*node);
}

void GraphLaunch::run_across(const Graph& graph, unsigned device) {
  std::set<unsigned> others;
  std::set<const GraphNode*> awaited;  // by nodes of other devices
  for (const auto& node : graph.nodes) {
    if (node->device != device) others.insert(node->device);
    for (const GraphNode* before : node->dependencies)
      if (before->device != node->device) awaited.insert(before);
  }
  const abi::Event begin = mark(device);
  for (const unsigned other : others) wait(other, begin);
  std::map<const GraphNode*, abi::Event> ends;
  for (const GraphNode* node : graph.ordered()) {
    for (const GraphNode* before : node->dependencies)
      if (before->device != node->device) wait(node->device, ends.at(before));
    perform(*node);
    if (awaited.contains(node)) ends[node] = mark(node->device);
  }
  for (const unsigned other : others) wait(device, mark(other));
}

}  // namespace lockstep::cuda
