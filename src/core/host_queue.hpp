// The host's side: commands in list order, streams, and what waits for what.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "config/gpu_config.hpp"
#include "util/types.hpp"
#include "uvm/order.hpp"

namespace lockstep::core {

struct HostCommand {
  enum class Kind : std::uint8_t { kCopyToDevice, kCopyToHost, kKernel, kWait, kOrder } kind = Kind::kKernel;
  std::uint32_t stream = 0;  // kernels: dense number of the stream
  std::uint32_t kernel = 0;  // kernels: index into the launch plans
  Address address = 0;       // copies
  std::uint64_t bytes = 0;   // copies
  uvm::Order order = {};     // kOrder; index is not used
};

/// The host takes its commands one after another, each in no time:
/// - a kernel goes to the end of its stream and starts when the stream's kernel before it is complete;
/// - a copy in blocking mode is taken when everything before it is complete;
/// - a copy in overlapped mode is taken at once: it runs beside all kernels before it, started or not;
/// - in both modes a kernel is taken only when every copy before it is complete;
/// - an order to managed memory is taken at once, beside all kernels before it; what comes after it waits until
///   it is complete;
/// - at a wait nothing more is taken until everything before it is complete.
class HostQueue {
 public:
  struct Ready {
    std::uint32_t command;
    Cycle
        since;  // the launch floor counts from here: the host's call or the end of the stream's kernel before
    friend bool operator>(const Ready& a, const Ready& b) { return a.command > b.command; }
  };

  HostQueue(std::vector<HostCommand> commands, std::uint32_t streams, config::CopyMode mode);

  [[nodiscard]] const HostCommand& command(std::uint32_t index) const { return commands_[index]; }

  /// Takes what may be taken at `now`; calls copy(index) for each copy and order to start.
  template <class Copy>
  void proceed(Cycle now, Copy&& copy) {
    while (next_ < commands_.size() && copies_out_ == 0) {
      if (commands_[next_].kind == HostCommand::Kind::kKernel) {
        enqueue(next_++, now);
      } else if (commands_[next_].kind == HostCommand::Kind::kWait) {
        if (kernels_out_ > 0) return;
        ++next_;
      } else if (commands_[next_].kind == HostCommand::Kind::kOrder) {
        ++copies_out_;
        copy(next_++);
      } else if (mode_ == config::CopyMode::kBlocking) {
        if (kernels_out_ > 0) return;
        ++copies_out_;
        copy(next_++);
      } else {
        take_copies(copy);
      }
    }
  }

  /// Kernels that may be launched, in list order.
  [[nodiscard]] bool has_ready() const { return !ready_.empty(); }
  Ready pop_ready();

  void kernel_done(std::uint32_t command, Cycle end);
  void copy_done() { --copies_out_; }
  [[nodiscard]] bool done() const {
    return next_ == commands_.size() && copies_out_ == 0 && kernels_out_ == 0;
  }
  [[nodiscard]] std::uint32_t taken() const { return next_; }
  /// Copies and orders that are not complete.
  [[nodiscard]] std::uint32_t copies_out() const { return copies_out_; }
  [[nodiscard]] std::uint32_t kernels_out() const { return kernels_out_; }

 private:
  [[nodiscard]] static bool is_copy(const HostCommand& c) {
    return c.kind == HostCommand::Kind::kCopyToDevice || c.kind == HostCommand::Kind::kCopyToHost;
  }
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Link {
    std::uint32_t next = kNone;  // in its stream
    Cycle taken = 0;
  };

  template <class Copy>
  void take_copies(Copy& copy) {  // neighbouring copies do not wait for each other; the link orders them
    while (next_ < commands_.size() && is_copy(commands_[next_])) {
      ++copies_out_;
      copy(next_++);
    }
  }
  void enqueue(std::uint32_t command, Cycle now);

  std::vector<HostCommand> commands_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> tail_;  // by stream: its last kernel that is not complete
  config::CopyMode mode_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::uint32_t next_ = 0, copies_out_ = 0, kernels_out_ = 0;
};

}  // namespace lockstep::core
