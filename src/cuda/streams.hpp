// Streams and events by their handles.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "cuda/abi.hpp"
#include "cuda/devices.hpp"
#include "cuda/recording.hpp"
#include "cuda/stream_state.hpp"

namespace lockstep::cuda {

/// cudaDeviceGetStreamPriorityRange: lower numbers are higher priorities.
inline constexpr int kLowestPriority = 0, kHighestPriority = -5;

/// In place of a stream: the default one, and the host waits until the copy is complete.
inline const abi::Stream kBlocking = reinterpret_cast<abi::Stream>(~std::uintptr_t{0});

class Streams {
 public:
  /// Both must outlive this. Streams that are made are numbered behind the default streams of `devices`.
  Streams(Devices& devices, Recording& recording)
      : devices_(devices), recording_(recording), next_(static_cast<std::uint32_t>(devices.count())) {}

  /// The state behind a handle; 0, 1 and 2 are the calling thread's device's default stream. Throws
  /// ApiError(InvalidResourceHandle), as the functions below.
  [[nodiscard]] StreamState& stream(abi::Stream handle);
  [[nodiscard]] EventState& event(abi::Event handle);
  /// Also one that was destroyed while it was kept.
  [[nodiscard]] EventState& kept_event(abi::Event handle);

  /// A stream of the runtime's own, for events of the whole device. No work of the program's is in it.
  enum class Own : std::uint8_t { kRecords, kWaits };
  [[nodiscard]] StreamState& own_stream(unsigned device, Own which);

  // Of the calling thread's device.
  [[nodiscard]] abi::Stream create_stream(unsigned flags, int priority);
  [[nodiscard]] abi::Event create_event(unsigned flags);
  void destroy_stream(abi::Stream handle);
  void destroy_event(abi::Event handle);
  /// Whether the states of streams and events that are destroyed stay, since held work names them. False:
  /// none of those that have stayed is needed any more.
  void keep_destroyed(bool keep);

  /// Whether all that was captured into the origin's graph comes before what it would capture next.
  [[nodiscard]] bool is_joined(const StreamState& origin) const;
  /// No stream is captured into the graph any more.
  void end_capture(const Graph* graph);
  /// Captures of streams of the device cannot be ended well any more. Were there any?
  [[nodiscard]] bool invalidate_captures(unsigned device);

 private:
  Devices& devices_;
  Recording& recording_;
  std::uint32_t next_;
  bool keeps_ = false;
  std::map<StreamState*, std::unique_ptr<StreamState>> streams_, gone_streams_;
  std::map<EventState*, std::unique_ptr<EventState>> events_, gone_events_;
  std::map<std::pair<unsigned, Own>, StreamState> own_streams_;  // that were needed
};

}  // namespace lockstep::cuda
