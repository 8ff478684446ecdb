// The program's commands in their streams, with what they wait for.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "trace/kernel_trace.hpp"

namespace lockstep::cuda {

/// Writes the order that CUDA's streams give as records of events and waits for them. The default stream
/// (number 0) and each blocking stream wait for each other: what is put into one comes after all that the
/// other has by then (CUDA Runtime API, "Stream synchronization behavior", legacy default stream).
class StreamLog {
 public:
  [[nodiscard]] const std::vector<trace::Command>& commands() const { return commands_; }

  /// Before a command is put into `stream`: what it has to wait for. `blocking`: it was not made with
  /// cudaStreamNonBlocking.
  void enter(std::uint32_t stream, bool blocking);
  /// After enter(). A kernel, copy or event of the stream.
  void add(std::uint32_t stream, trace::Command command);
  /// What the host does itself: commands on managed memory.
  void add_host(const trace::Command& command) {
    commands_.push_back(command);
    idle_ = false;
  }
  /// After enter(). The number of the new event.
  std::uint32_t record(std::uint32_t stream);
  void stream_wait(std::uint32_t stream, std::uint32_t event);

  /// An event behind all that the stream has.
  std::uint32_t mark(std::uint32_t stream);

  // The host waits; where nothing was put in since it last did so, nothing is written.
  void wait_all();
  void wait_stream(std::uint32_t stream, bool blocking);
  void wait_event(std::uint32_t event);

  /// A command after which the host's time may be another.
  [[nodiscard]] static bool is_host_wait(const trace::Command& command) {
    return command.kind == trace::Command::Kind::kWait || command.kind == trace::Command::Kind::kEventWait;
  }

 private:
  struct Stream {
    std::uint64_t commands = 0;                // put in so far
    std::uint64_t marked = ~std::uint64_t{0};  // of these: before event `mark`, where there is one
    std::uint32_t mark = 0;
    std::uint64_t default_seen = 0;  // commands of the default stream that it comes after
    std::uint64_t waited = 0;        // commands that the host has waited for
  };
  std::vector<trace::Command> commands_;
  std::map<std::uint32_t, Stream> streams_;
  std::set<std::uint32_t>
      unseen_;  // blocking streams with commands that the default stream has not waited for
  std::uint32_t events_ = 0;
  bool idle_ = true;  // nothing since the host waited for all
};

}  // namespace lockstep::cuda
