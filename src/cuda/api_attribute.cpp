// Attributes of streams and of kernel nodes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/access_window.hpp"
#include "cuda/api.hpp"
#include "cuda/graph_functions.hpp"
#include "cuda/launch_attributes.hpp"

namespace lockstep::cuda {

namespace {

using Node = GraphNode*;
using Value = abi::LaunchAttribute::Value;
static_assert(sizeof(Value) == sizeof(LaunchAttributeValue));

/// Attributes that are kept and have no effect are said once.
void keep(Runtime& rt, std::map<int, LaunchAttributeValue>& kept, const char* of, int id,
          const Value& value) {
  std::memcpy(kept[id].data(), &value, sizeof value);
  if (id == attribute::kAccessPolicyWindow) return;
  rt.warnings.once(fmt::format("{} attribute {} has no effect", of, id));
}
void give(const std::map<int, LaunchAttributeValue>& kept, int id, Value& value) {
  value = {};
  if (const auto found = kept.find(id); found != kept.end())
    std::memcpy(&value, found->second.data(), sizeof value);
}

int set_of_stream(abi::Stream handle, int id, const Value* value) {
  return api([&](Runtime& rt) {
    require(value != nullptr && attribute::is_among(attribute::kOfStreams, id));
    StreamState& stream = rt.streams.stream(handle);
    if (id == attribute::kAccessPolicyWindow) stream.window = window_of(*value, rt.settings.gpu.gpu.arch);
    if (id == attribute::kPriority)
      stream.priority = std::clamp(value->priority, kHighestPriority, kLowestPriority);
    else
      keep(rt, stream.attributes, "stream", id, *value);
  });
}
int of_stream(abi::Stream handle, int id, Value* value) {
  return api([&](Runtime& rt) {
    require(value != nullptr && attribute::is_among(attribute::kOfStreams, id));
    const StreamState& stream = rt.streams.stream(handle);
    give(stream.attributes, id, *value);
    if (id == attribute::kPriority) value->priority = stream.priority;
  });
}
int copy_of_stream(abi::Stream to, abi::Stream from) {
  return api([&](Runtime& rt) {
    StreamState& stream = rt.streams.stream(to);
    const StreamState& given = rt.streams.stream(from);
    stream.attributes = given.attributes;
    stream.window = given.window;
    stream.priority = given.priority;
  });
}

KernelLaunch& launch_of(Runtime& rt, Node node) {
  (void)rt.graphs.owner(node);
  auto* launch = std::get_if<KernelLaunch>(&node->operation);
  require(launch != nullptr);
  return *launch;
}

}  // namespace

LOCKSTEP_CUDA_API cudaStreamSetAttribute(abi::Stream s, int id, const Value* value) {
  return set_of_stream(s, id, value);
}
LOCKSTEP_CUDA_API cudaStreamGetAttribute(abi::Stream s, int id, Value* value) {
  return of_stream(s, id, value);
}
LOCKSTEP_CUDA_API cudaStreamCopyAttributes(abi::Stream to, abi::Stream from) {
  return copy_of_stream(to, from);
}

LOCKSTEP_CUDA_API cudaGraphKernelNodeSetAttribute(Node node, int id, const Value* value) {
  return api([&](Runtime& rt) {
    require(value != nullptr && attribute::is_among(attribute::kOfNodes, id));
    KernelLaunch& launch = launch_of(rt, node);
    const auto& cluster = value->clusterDim;
    if (id == attribute::kAccessPolicyWindow) launch.l2 = window_of(*value, rt.settings.gpu.gpu.arch);
    if (id == attribute::kCooperative)
      launch.cooperative = value->cooperative != 0;
    else if (id == attribute::kClusterDimension)
      launch.cluster = abi::dim3{cluster.x, cluster.y, cluster.z};
    else
      keep(rt, node->attributes, "kernel node", id, *value);
  });
}
LOCKSTEP_CUDA_API cudaGraphKernelNodeGetAttribute(Node node, int id, Value* value) {
  return api([&](Runtime& rt) {
    require(value != nullptr && attribute::is_among(attribute::kOfNodes, id));
    const KernelLaunch& launch = launch_of(rt, node);
    give(node->attributes, id, *value);
    if (id == attribute::kCooperative) value->cooperative = launch.cooperative ? 1 : 0;
    if (const auto& size = launch.cluster; id == attribute::kClusterDimension && size)
      value->clusterDim = {size->x, size->y, size->z};
  });
}
LOCKSTEP_CUDA_API cudaGraphKernelNodeCopyAttributes(Node to, Node from) {
  return api([&](Runtime& rt) {
    KernelLaunch& launch = launch_of(rt, to);
    const KernelLaunch& given = launch_of(rt, from);
    launch.cooperative = given.cooperative;
    launch.cluster = given.cluster;
    launch.l2 = given.l2;
    to->attributes = from->attributes;
  });
}

}  // namespace lockstep::cuda
