// The driver API: queries of a graph's contents, and capturing streams into graphs.
#include "cuda/driver.hpp"
#include "cuda/graph_functions.hpp"

namespace lockstep::cuda {

namespace {

using Node = GraphNode*;

/// The runtime's functions with edges take their data before the count in one of the two libraries only.
template <class Count>
struct LastArguments {
  void* first;
  Count second;
};
LastArguments<std::size_t*> count_place(std::size_t* count) {
  return {is_cuda_12() ? count : nullptr, count};
}
LastArguments<std::size_t> edge_count(std::size_t count) {
  return {is_cuda_12() ? reinterpret_cast<void*>(count) : nullptr, count};
}

int edges(void* graph, Node* from, Node* to, std::size_t* count) {
  const auto last = count_place(count);
  return driver([&] { return cudaGraphGetEdges(graph, from, to, last.first, last.second); });
}
int dependencies(Node node, Node* nodes, std::size_t* count) {
  const auto last = count_place(count);
  return driver([&] { return cudaGraphNodeGetDependencies(node, nodes, last.first, last.second); });
}
int dependents(Node node, Node* nodes, std::size_t* count) {
  const auto last = count_place(count);
  return driver([&] { return cudaGraphNodeGetDependentNodes(node, nodes, last.first, last.second); });
}
int connect(void* graph, const Node* from, const Node* to, std::size_t count) {
  const auto last = edge_count(count);
  return driver([&] { return cudaGraphAddDependencies(graph, from, to, last.first, last.second); });
}
int disconnect(void* graph, const Node* from, const Node* to, std::size_t count) {
  const auto last = edge_count(count);
  return driver([&] { return cudaGraphRemoveDependencies(graph, from, to, last.first, last.second); });
}

}  // namespace

LOCKSTEP_CUDA_API cuGraphGetNodes(void* graph, Node* nodes, std::size_t* count) {
  return driver([&] { return cudaGraphGetNodes(graph, nodes, count); });
}
LOCKSTEP_CUDA_API cuGraphGetRootNodes(void* graph, Node* nodes, std::size_t* count) {
  return driver([&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}
LOCKSTEP_CUDA_API cuGraphNodeGetType(Node node, int* type) {
  return driver([&] { return cudaGraphNodeGetType(node, type); });
}

// The forms of CUDA 12 and, with the edges' data, of CUDA 13.
LOCKSTEP_CUDA_API cuGraphGetEdges(void* graph, Node* from, Node* to, std::size_t* count) {
  return edges(graph, from, to, count);
}
LOCKSTEP_CUDA_API cuGraphGetEdges_v2(void* graph, Node* from, Node* to, void*, std::size_t* count) {
  return edges(graph, from, to, count);
}
LOCKSTEP_CUDA_API cuGraphNodeGetDependencies(Node node, Node* nodes, std::size_t* count) {
  return dependencies(node, nodes, count);
}
LOCKSTEP_CUDA_API cuGraphNodeGetDependencies_v2(Node node, Node* nodes, void*, std::size_t* count) {
  return dependencies(node, nodes, count);
}
LOCKSTEP_CUDA_API cuGraphNodeGetDependentNodes(Node node, Node* nodes, std::size_t* count) {
  return dependents(node, nodes, count);
}
LOCKSTEP_CUDA_API cuGraphNodeGetDependentNodes_v2(Node node, Node* nodes, void*, std::size_t* count) {
  return dependents(node, nodes, count);
}
LOCKSTEP_CUDA_API cuGraphAddDependencies(void* graph, const Node* from, const Node* to, std::size_t count) {
  return connect(graph, from, to, count);
}
LOCKSTEP_CUDA_API cuGraphAddDependencies_v2(void* graph, const Node* from, const Node* to, const void*,
                                            std::size_t count) {
  return connect(graph, from, to, count);
}
LOCKSTEP_CUDA_API cuGraphRemoveDependencies(void* graph, const Node* from, const Node* to,
                                            std::size_t count) {
  return disconnect(graph, from, to, count);
}
LOCKSTEP_CUDA_API cuGraphRemoveDependencies_v2(void* graph, const Node* from, const Node* to, const void*,
                                               std::size_t count) {
  return disconnect(graph, from, to, count);
}

LOCKSTEP_CUDA_API cuStreamBeginCapture_v2(abi::Stream s, int mode) {
  return driver([&] { return cudaStreamBeginCapture(s, mode); });
}
LOCKSTEP_CUDA_API cuStreamBeginCaptureToGraph(abi::Stream s, void* graph, const Node* after,
                                              const void* edge_data, std::size_t count, int mode) {
  return driver([&] { return cudaStreamBeginCaptureToGraph(s, graph, after, edge_data, count, mode); });
}
LOCKSTEP_CUDA_API cuStreamEndCapture(abi::Stream s, void** graph) {
  return driver([&] { return cudaStreamEndCapture(s, graph); });
}
LOCKSTEP_CUDA_API cuStreamGetCaptureInfo_v2(abi::Stream s, int* status, unsigned long long* id, void** graph,
                                            const Node** dependencies, std::size_t* count) {
  return driver([&] { return cudaStreamGetCaptureInfo(s, status, id, graph, dependencies, nullptr, count); });
}
LOCKSTEP_CUDA_API cuStreamGetCaptureInfo_v3(abi::Stream s, int* status, unsigned long long* id, void** graph,
                                            const Node** dependencies, const void** edge_data,
                                            std::size_t* count) {
  return driver(
      [&] { return cudaStreamGetCaptureInfo(s, status, id, graph, dependencies, edge_data, count); });
}
LOCKSTEP_CUDA_API cuStreamUpdateCaptureDependencies(abi::Stream s, const Node* nodes, std::size_t count,
                                                    unsigned flags) {
  return driver([&] { return cudaStreamUpdateCaptureDependencies(s, nodes, nullptr, count, flags); });
}
LOCKSTEP_CUDA_API cuStreamUpdateCaptureDependencies_v2(abi::Stream s, const Node* nodes,
                                                       const void* edge_data, std::size_t count,
                                                       unsigned flags) {
  return driver([&] { return cudaStreamUpdateCaptureDependencies(s, nodes, edge_data, count, flags); });
}
LOCKSTEP_CUDA_API cuThreadExchangeStreamCaptureMode(int* mode) {
  return driver([&] { return cudaThreadExchangeStreamCaptureMode(mode); });
}

}  // namespace lockstep::cuda
