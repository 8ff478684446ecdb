// The process of a device on its host: a program of tasks that compute, send and receive.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "config/network_config.hpp"
#include "net/clock.hpp"
#include "net/messages.hpp"
#include "net/queue_pair.hpp"
#include "net/service_thread.hpp"
#include "trace/host_task.hpp"
#include "util/ring.hpp"

namespace lockstep::net {

struct ProcessCounters {
  struct Tasks {
    std::uint64_t count = 0, total_ps = 0, longest_ps = 0;  // from begin to end
  };
  std::array<Tasks, trace::HostTask::kCountedKinds> kinds{};  // by trace::HostTask::Kind, as counted_as()
  std::uint64_t instructions = 0, memory_bytes = 0;           // of kCompute itself
  std::uint64_t bytes_sent = 0;
};

/// Time of a computing task in ps: that of its instructions on all threads or of its bytes at the host's
/// memory bandwidth, whichever is longer (a roofline). Rounded up.
[[nodiscard]] std::uint64_t compute_ps(const config::HostProcessGroup& config, const trace::HostTask& task);

/// Carries out its tasks one after another:
/// - kCompute: compute_ps();
/// - kSend: a call, then a command to the NIC, as soon as it has room for one more; a put whose signal goes
///   to the receiver's host;
/// - kReceive: a call, then until the next message from the other process is there;
/// - kFlush: a call, then until all commands have their completion records;
/// - kMessage, kOffer: a call, then a command as of kSend; kOffer's only says that there is a message;
/// - kAccept: a call. When the message is offered, a command tells its sender so, who then commands the NIC
///   to send the data. Neither takes time of a process: as where NICs match messages themselves;
/// - kArrived, kSent: a call, then until it is so;
/// - kPut, kGet, kAtomic: a call, then a command as of kSend; kDone: a call, then until its record is there;
/// - kEnter: a call;
/// - kCall: as long as the machine says;
/// - kElapse: as long as it says itself.
/// A call takes host_process.call_ps; within a library call that is already counted, it takes only the
/// instructions that a service thread needs for a command or a completion. Polls hit the host's cache: what
/// is waited for is seen as soon as it arrives.
class HostProcess {
 public:
  /// What the process needs of its host.
  class Host {
   public:
    virtual ~Host() = default;
    /// Whether a word of the host's memory has not yet had that many signals.
    [[nodiscard]] virtual bool lacks(Address word, std::uint32_t signals) const = 0;
    virtual void ring(QueuePair& pair) = 0;
    virtual void task_ended(Cycle now, std::uint32_t command) = 0;
  };
  HostProcess(Host& host, QueuePair& pair, const config::NetworkConfig& config, const Clock& clock)
      : host_(&host),
        pair_(&pair),
        config_(config.host_process),
        service_(config.service),
        clock_(clock),
        costs_(clock, config_.khz, config_.milli_ipc),
        taken_(pair.entries()) {}

  void add(Cycle now, const trace::HostTask& task, std::uint32_t command);
  /// Goes on as far as it can in cycle `now`.
  void tick(Cycle now);
  /// After `now`; what it waits for is a message, which is the host's event.
  [[nodiscard]] Cycle next_event(Cycle now) const {
    return tasks_.empty() || waits_ ? kNever : std::max(free_from_, now + 1);
  }
  /// A signal has arrived, perhaps the one that it waits for.
  void signal_came() { waits_ = false; }

  [[nodiscard]] bool idle() const {
    return tasks_.empty() && in_flight_ == 0 && offers_.empty() && accepts_.empty();
  }
  [[nodiscard]] std::uint16_t device() const { return pair_->device; }
  [[nodiscard]] const ProcessCounters& counters() const { return counters_; }
  /// Counters of its messages.
  [[nodiscard]] const ThreadCounters& messages() const { return messages_; }
  [[nodiscard]] DepthCounters record_depth(std::uint64_t ps) const { return records_.counters(ps); }
  /// Before the run: keeps what it does. Not owned.
  void record(OperationLog& log) { messages_.log = &log; }
  void dump(std::string& out) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(host_), a.given(pair_), a.given(config_), a.given(service_), a.given(clock_),
              a.given(costs_), tasks_, state_, waits_, free_from_, begun_, issued_, noticed_, in_flight_,
              taken_, offers_, accepts_, one_sided_, sent_, got_, counters_, messages_, records_);
  }

 private:
  static constexpr std::size_t kMaxDevices = 64;  // trace::Command::kMaxDevices
  enum class State : std::uint8_t {
    kBegin,
    kSend,   // the call has been made
    kAwait,  // likewise, of kReceive and kFlush
    kEnd,
  };
  struct Task {
    trace::HostTask what;
    std::uint32_t command = 0;
  };
  /// A message by rendezvous that is not complete.
  struct Offer {
    trace::HostTask what;
    bool begun = false;  // its data are commanded
  };
  /// A one-sided operation without its record.
  struct OneSided {
    std::uint16_t peer = 0;
    std::uint32_t place = 0;  // of its command
    std::uint64_t number = 0;
  };
  void step(Cycle now);
  void begin(Cycle now);
  [[nodiscard]] Cycle time_of(const trace::HostTask& task) const;
  void send(Cycle now);
  [[nodiscard]] trace::NetOperation operation_of(const trace::HostTask& task);
  [[nodiscard]] trace::NetOperation put_of(const trace::HostTask& task);
  [[nodiscard]] bool has_place() const { return !taken_[pair_->place(issued_)]; }
  void command(Cycle now, Cycle seen, const trace::NetOperation& put);
  void go_on_with_messages(Cycle now);
  void await(Cycle now);
  void end(Cycle now);
  void take_records(Cycle now);
  [[nodiscard]] bool is_there() const;

  Host* host_;
  QueuePair* pair_;
  config::HostProcessGroup config_;
  config::ServiceGroup service_;
  Clock clock_;
  InstructionCosts costs_;
  Ring<Task> tasks_;
  State state_ = State::kBegin;
  bool waits_ = false;
  Cycle free_from_ = 0, begun_ = 0;
  std::uint64_t issued_ = 0, noticed_ = 0;  // commands, records
  std::uint32_t in_flight_ = 0;
  std::vector<bool> taken_;                                // by place
  std::vector<Offer> offers_;                              // in the order of sending
  std::vector<trace::HostTask> accepts_;                   // not told to their senders
  std::vector<OneSided> one_sided_;                        // in the order of their commands
  std::array<std::uint64_t, kMaxDevices> sent_{}, got_{};  // messages, by the other process
  ProcessCounters counters_;
  ThreadCounters messages_;
  StayDepth records_;
};

}  // namespace lockstep::net
