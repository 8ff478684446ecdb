// Capturing streams into graphs.
#include "cuda/api.hpp"

namespace lockstep::cuda {

namespace {

enum CaptureStatus { kNone, kActive };

int begin(abi::Stream handle, void* graph) {
  return api([&](Runtime& rt) {
    require(handle != nullptr, Status::kErrorStreamCaptureUnsupported);
    StreamState& stream = rt.stream(handle);
    require(stream.capture == nullptr, Status::kErrorIllegalState);
    if (graph == nullptr) {
      auto made = std::make_unique<Graph>();
      graph = made.get();
      rt.graphs[made.get()] = std::move(made);
    }
    stream.capture = &rt.graph(graph);
    stream.capture_origin = true;
    stream.capture_tail.clear();
  });
}

int end(abi::Stream handle, void** graph) {
  return api([&](Runtime& rt) {
    StreamState& stream = rt.stream(handle);
    require(graph != nullptr && stream.capture != nullptr && stream.capture_origin,
            Status::kErrorIllegalState);
    *graph = stream.capture;
    rt.end_capture(stream.capture);
  });
}

int is_capturing(abi::Stream handle, int* status) {
  return api([&](Runtime& rt) {
    require(status != nullptr);
    *status = rt.stream(handle).capture != nullptr ? kActive : kNone;
  });
}

}  // namespace

LOCKSTEP_CUDA_API cudaStreamBeginCapture(abi::Stream s, int) { return begin(s, nullptr); }
LOCKSTEP_CUDA_API cudaStreamBeginCapture_ptsz(abi::Stream s, int) { return begin(s, nullptr); }
LOCKSTEP_CUDA_API cudaStreamEndCapture(abi::Stream s, void** graph) { return end(s, graph); }
LOCKSTEP_CUDA_API cudaStreamEndCapture_ptsz(abi::Stream s, void** graph) { return end(s, graph); }
LOCKSTEP_CUDA_API cudaStreamIsCapturing(abi::Stream s, int* status) { return is_capturing(s, status); }
LOCKSTEP_CUDA_API cudaStreamIsCapturing_ptsz(abi::Stream s, int* status) { return is_capturing(s, status); }

}  // namespace lockstep::cuda
