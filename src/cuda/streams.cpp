#include "cuda/streams.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "cuda/graph.hpp"

namespace lockstep::cuda {

namespace {

template <class Map>
auto& owned(Map& map, void* handle) {
  const auto found = map.find(static_cast<typename Map::key_type>(handle));
  if (found == map.end()) throw ApiError(Status::kErrorInvalidResourceHandle);
  return *found->second;
}

}  // namespace

StreamState& Streams::stream(abi::Stream handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= abi::kPerThreadStream)
    return devices_.current().default_stream;
  return owned(streams_, handle);
}

EventState& Streams::event(abi::Event handle) { return owned(events_, handle); }

EventState& Streams::kept_event(abi::Event handle) {
  const auto gone = gone_events_.find(reinterpret_cast<EventState*>(handle));
  return gone != gone_events_.end() ? *gone->second : event(handle);
}

StreamState& Streams::own_stream(unsigned device, Own which) {
  const auto [found, fresh] = own_streams_.try_emplace({device, which});
  StreamState& own = found->second;
  if (fresh) {
    own.number = next_++;
    own.device = device;
    own.flags = kStreamNonBlocking;
  }
  return own;
}

abi::Stream Streams::create_stream(unsigned flags, int priority) {
  if ((flags & kStreamNonBlocking) != 0) recording_.end_order();
  auto made = std::make_unique<StreamState>();
  made->number = next_++;
  made->device = current_device();
  made->flags = flags;
  made->priority = std::clamp(priority, kHighestPriority, kLowestPriority);
  auto* const handle = made.get();
  streams_[handle] = std::move(made);
  return reinterpret_cast<abi::Stream>(handle);
}

abi::Event Streams::create_event(unsigned flags) {
  auto made = std::make_unique<EventState>();
  made->device = current_device();
  made->context = &current_context();
  made->flags = flags;
  auto* const handle = made.get();
  events_[handle] = std::move(made);
  return reinterpret_cast<abi::Event>(handle);
}

void Streams::destroy_stream(abi::Stream handle) {
  (void)owned(streams_, handle);
  auto gone = streams_.extract(reinterpret_cast<StreamState*>(handle));
  if (keeps_) gone_streams_.insert(std::move(gone));
}

void Streams::destroy_event(abi::Event handle) {
  (void)owned(events_, handle);
  auto gone = events_.extract(reinterpret_cast<EventState*>(handle));
  if (keeps_) gone_events_.insert(std::move(gone));
}

void Streams::keep_destroyed(bool keep) {
  keeps_ = keep;
  if (keep) return;
  gone_streams_.clear();
  gone_events_.clear();
}

bool Streams::is_joined(const StreamState& origin) const {
  std::vector<const GraphNode*> open(origin.capture_tail.begin(), origin.capture_tail.end());
  std::set<const GraphNode*> before(open.begin(), open.end());
  while (!open.empty()) {
    const GraphNode* const node = open.back();
    open.pop_back();
    for (const GraphNode* dependency : node->dependencies)
      if (before.insert(dependency).second) open.push_back(dependency);
  }
  return std::ranges::all_of(streams_, [&](const auto& entry) {
    const StreamState& stream = *entry.second;
    return stream.capture != origin.capture ||
           std::ranges::all_of(stream.capture_tail,
                               [&](const GraphNode* node) { return before.contains(node); });
  });
}

void Streams::end_capture(const Graph* graph) {
  for (const auto& [handle, state] : streams_) {
    if (state->capture != graph) continue;
    state->capture = nullptr;
    state->capture_origin = false;
    state->capture_makes_graph = false;
    state->capture_tail.clear();
  }
  for (const auto& [handle, state] : events_)
    if (state->capture == graph) state->capture = nullptr;
}

bool Streams::invalidate_captures(unsigned device) {
  bool any = false;
  for (const auto& [handle, state] : streams_) {
    if (state->capture == nullptr || state->device != device) continue;
    state->capture->invalidated = true;
    any = true;
  }
  return any;
}

}  // namespace lockstep::cuda
