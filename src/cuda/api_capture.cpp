// Capturing streams into graphs.
#include <utility>

#include "cuda/api.hpp"
#include "cuda/graph_functions.hpp"

namespace lockstep::cuda {

namespace {

enum CaptureStatus { kNotCapturing, kCapturing, kInvalidated };

CaptureStatus status_of(const StreamState& stream) {
  if (stream.capture == nullptr) return kNotCapturing;
  return stream.capture->invalidated ? kInvalidated : kCapturing;
}

int begin(abi::Stream handle, void* graph, std::vector<GraphNode*> after = {}) {
  return api([&](Runtime& rt) {
    constexpr std::uintptr_t kLegacy = 1;
    require(reinterpret_cast<std::uintptr_t>(handle) > kLegacy, Status::kErrorStreamCaptureUnsupported);
    StreamState& stream = rt.streams.stream(handle);
    require(stream.capture == nullptr, Status::kErrorIllegalState);
    stream.capture = graph != nullptr ? &rt.graphs.at(graph) : &rt.graphs.add(std::make_unique<Graph>());
    stream.capture_origin = true;
    stream.capture_makes_graph = graph == nullptr;
    stream.capture_tail = std::move(after);
    for (const GraphNode* node : stream.capture_tail) require(stream.capture->contains(node));
  });
}

int end(abi::Stream handle, void** graph) {
  return api([&](Runtime& rt) {
    StreamState& stream = rt.streams.stream(handle);
    require(stream.capture != nullptr, Status::kErrorIllegalState);
    require(stream.capture_origin, Status::kErrorStreamCaptureUnmatched);
    Graph* const captured = stream.capture;
    const bool makes_graph = stream.capture_makes_graph;
    const bool joined = rt.streams.is_joined(stream);
    const bool valid = !std::exchange(captured->invalidated, false);
    rt.streams.end_capture(captured);
    if (makes_graph && !(joined && valid)) rt.graphs.destroy(captured);
    if (graph != nullptr) *graph = joined && valid ? captured : nullptr;
    require(valid, Status::kErrorStreamCaptureInvalidated);
    require(joined, Status::kErrorStreamCaptureUnjoined);
  });
}

int is_capturing(abi::Stream handle, int* status) {
  return api([&](Runtime& rt) {
    require(status != nullptr);
    *status = status_of(rt.streams.stream(handle));
  });
}

int begin_to_graph(abi::Stream handle, void* graph, GraphNode* const* after, std::size_t count) {
  if (graph == nullptr || (count > 0 && after == nullptr)) return finish(Status::kErrorInvalidValue);
  return begin(handle, graph, {after, after + count});
}

/// Outputs that are null are left out.
struct CaptureInfo {
  int* status;
  unsigned long long* id;
  void** graph;
  GraphNode* const** dependencies;
  const void** edges;
  std::size_t* count;
};
int info_of(abi::Stream handle, const CaptureInfo& out) {
  return api([&](Runtime& rt) {
    const StreamState& stream = rt.streams.stream(handle);
    require(out.status != nullptr);
    *out.status = status_of(stream);
    if (*out.status != kCapturing) return;
    if (out.id != nullptr) *out.id = reinterpret_cast<std::uintptr_t>(stream.capture);
    if (out.graph != nullptr) *out.graph = stream.capture;
    if (out.dependencies != nullptr) *out.dependencies = stream.capture_tail.data();
    if (out.edges != nullptr) *out.edges = nullptr;  // no edge carries data
    if (out.count != nullptr) *out.count = stream.capture_tail.size();
  });
}
int update(abi::Stream handle, GraphNode* const* nodes, std::size_t count, unsigned flags) {
  return api([&](Runtime& rt) {
    constexpr unsigned kSet = 1;
    StreamState& stream = rt.streams.stream(handle);
    require(stream.capture != nullptr, Status::kErrorIllegalState);
    require((count == 0 || nodes != nullptr) && flags <= kSet);
    for (std::size_t i = 0; i < count; ++i) require(stream.capture->contains(nodes[i]));
    if (flags == kSet) stream.capture_tail.clear();
    stream.capture_tail.insert(stream.capture_tail.end(), nodes, nodes + count);
  });
}

}  // namespace

/// The mode says which calls of which threads are errors during a capture; here none are.
LOCKSTEP_CUDA_API cudaThreadExchangeStreamCaptureMode(int* mode) {
  return api([&](Runtime&) {
    enum { kGlobal, kThreadLocal, kRelaxed };
    static thread_local int current = kGlobal;
    require(mode != nullptr && *mode >= kGlobal && *mode <= kRelaxed);
    *mode = std::exchange(current, *mode);
  });
}
LOCKSTEP_CUDA_API cudaStreamBeginCapture(abi::Stream s, int) { return begin(s, nullptr); }
LOCKSTEP_CUDA_API cudaStreamBeginCapture_ptsz(abi::Stream s, int) { return begin(s, nullptr); }
LOCKSTEP_CUDA_API cudaStreamEndCapture(abi::Stream s, void** graph) { return end(s, graph); }
LOCKSTEP_CUDA_API cudaStreamEndCapture_ptsz(abi::Stream s, void** graph) { return end(s, graph); }
LOCKSTEP_CUDA_API cudaStreamIsCapturing(abi::Stream s, int* status) { return is_capturing(s, status); }
LOCKSTEP_CUDA_API cudaStreamIsCapturing_ptsz(abi::Stream s, int* status) { return is_capturing(s, status); }
LOCKSTEP_CUDA_API cudaStreamBeginCaptureToGraph(abi::Stream s, void* graph, GraphNode* const* after,
                                                const void*, std::size_t count, int) {
  return begin_to_graph(s, graph, after, count);
}
LOCKSTEP_CUDA_API cudaStreamBeginCaptureToGraph_ptsz(abi::Stream s, void* graph, GraphNode* const* after,
                                                     const void*, std::size_t count, int) {
  return begin_to_graph(s, graph, after, count);
}
LOCKSTEP_CUDA_API cudaStreamGetCaptureInfo(abi::Stream s, int* status, unsigned long long* id, void** graph,
                                           GraphNode* const** dependencies, const void** edges,
                                           std::size_t* count) {
  return info_of(s, {status, id, graph, dependencies, edges, count});
}
LOCKSTEP_CUDA_API cudaStreamGetCaptureInfo_ptsz(abi::Stream s, int* status, unsigned long long* id,
                                                void** graph, GraphNode* const** dependencies,
                                                const void** edges, std::size_t* count) {
  return info_of(s, {status, id, graph, dependencies, edges, count});
}
LOCKSTEP_CUDA_API cudaStreamUpdateCaptureDependencies(abi::Stream s, GraphNode* const* nodes, const void*,
                                                      std::size_t count, unsigned flags) {
  return update(s, nodes, count, flags);
}
LOCKSTEP_CUDA_API cudaStreamUpdateCaptureDependencies_ptsz(abi::Stream s, GraphNode* const* nodes,
                                                           const void*, std::size_t count, unsigned flags) {
  return update(s, nodes, count, flags);
}

}  // namespace lockstep::cuda
