// The host's side: commands in list order, streams, events, and what waits for what.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "config/gpu_config.hpp"
#include "net/messages.hpp"
#include "sim/clock.hpp"
#include "trace/follow.hpp"
#include "util/types.hpp"
#include "uvm/managed_command.hpp"

namespace lockstep::host {

/// As trace::Command::Kind, which says what each one means.
struct HostCommand {
  enum class Kind : std::uint8_t {
    kCopyToDevice,
    kCopyToHost,
    kKernel,
    kWait,
    kManagedCommand,  // to managed memory
    kStreamCopyToDevice,
    kStreamCopyToHost,
    kEventRecord,
    kStreamWait,
    kEventWait,
    kStreamManagedCommand,  // to managed memory, in `stream`
    kNotice,                // to managed memory: nothing waits for it
    kFill,
    kDeviceCopy,
    kPeerCopy,
    kNetwork,  // for the agents that serve queues of kernels: nothing waits for it
    kCall,     // a host thread is busy, and makes the calls that follow
    kTask,     // of the process of `device`, in `stream`
  } kind = Kind::kKernel;
  std::uint32_t stream =
      0;  // dense number of the stream; not of plain copies, managed commands and the host's waits
  std::uint32_t kernel = 0;          // kernels: index into the launch plans
  Address address = 0;               // copies, fills
  std::uint64_t bytes = 0;           // copies, fills
  std::uint32_t event = 0;           // the event's record, counted from 0
  uvm::ManagedCommand managed = {};  // kManagedCommand, kStreamManagedCommand, kNotice; index is not used
  std::uint16_t device = 0;          // which carries it out; not of the host's waits
  Address source = 0;                // kPeerCopy: what is read; the device's own
  net::AgentNews news = {};          // kNetwork, kTask
  std::uint32_t thread = 0;          // kCall
  std::uint32_t busy_ns = 0;         // kCall: how long; kTask, kKernel: see HostQueue
  bool graph_node = false;           // kernels: as in trace::Command
};
[[nodiscard]] inline bool is_managed_command(const HostCommand& c) {
  using Kind = HostCommand::Kind;
  return c.kind == Kind::kManagedCommand || c.kind == Kind::kStreamManagedCommand || c.kind == Kind::kNotice;
}
[[nodiscard]] inline bool is_copy_to_device(const HostCommand& c) {
  return c.kind == HostCommand::Kind::kCopyToDevice || c.kind == HostCommand::Kind::kStreamCopyToDevice;
}

/// The host takes its commands one after another. Each of its threads has a time: when its calls so far are
/// finished, and at least the end of the host's last wait, on whichever thread. A thread that has not called
/// begins at the time of thread 0. Only kCall takes time; without such commands, the host's calls cost
/// nothing:
/// - a kernel, a stream copy, a fill, a copy within the device, a stream's managed command, an event's record
/// or a stream's wait goes to the end of its stream and starts when the thread's time has come and
///   the stream's command before it is complete; a record is complete at once, a stream's wait when its
///   event is;
/// - so does a task; one behind a kernel starts busy_ns after that's end, as the process has waited for the
///   kernel, and a kernel behind a task busy_ns after that's end, as the process launches it then;
/// - a plain copy in blocking mode is taken when everything before it is complete;
/// - a plain copy in overlapped mode is taken at once: it runs beside all kernels before it, started or not;
/// - a command to managed memory is taken at once, without waiting for earlier kernels;
/// - both, and a plain copy, not before the thread's time;
/// - a notice to managed memory, and what is for the agents of the network, is taken like an event's record,
///   and complete with that;
/// - any other command is taken only when every earlier plain copy and managed command is complete;
/// - at a wait nothing more is taken until everything before it, or the event, is complete.
///
/// The list may grow during the run (append, close). Nothing depends on when it does, as long as it never
/// ends before the place where at_end() says that more must be known.
class HostQueue {
 public:
  struct Ready {
    std::uint32_t command;
    Time since;  // the launch floor counts from here: the host's call or the end of the stream's command
                 // before
    friend bool operator>(const Ready& a, const Ready& b) { return a.command > b.command; }
  };

  HostQueue(const std::vector<HostCommand>& commands, std::uint32_t streams, config::CopyMode mode);

  [[nodiscard]] const HostCommand& command(std::uint32_t index) const { return commands_[index]; }

  /// How far a list that is not closed may be followed.
  using Until = trace::Until;
  /// Before the run: more commands will come.
  void open() { open_ = true; }
  void append(const std::vector<HostCommand>& commands, Until until);
  void close() { open_ = false; }
  /// Whether the commands that follow must be known now.
  [[nodiscard]] bool at_end() const {
    return open_ && next_ == commands_.size() && copies_out_ == 0 && (until_ == Until::kTaken || out_ == 0);
  }

  /// Before the run: edges of the time base in a second, in thousands, for HostCommand::busy_ns. 1 GHz unless
  /// set.
  void set_time_base(std::uint64_t khz) { time_of_ns_ = sim::ClockRatio(kNanosecondsKhz, khz); }

  /// From here on `now` is the time; never less than before.
  void advance_to(Time now);
  /// When a call of the host ends for which something waits that nothing else holds up; kNever.
  [[nodiscard]] Time next_call() const {
    const Time call = calls_.empty() ? kNever : calls_.begin()->first;
    return call < held_until_ ? call : held_until_;
  }

  /// Takes what may be taken now; calls copy(index) for each copy and managed command to start.
  template <class Copy>
  void proceed(Copy&& copy) {
    held_until_ = kNever;
    while (next_ < commands_.size() && take()) {
    }
    for (std::size_t i = 0; i < copies_.size(); ++i) copy(copies_[i]);
    copies_.clear();
  }

  /// Kernels that a device may launch, in list order.
  [[nodiscard]] bool has_ready(std::uint16_t device = 0) const {
    return device < ready_.size() && !ready_[device].empty();
  }
  Ready pop_ready(std::uint16_t device = 0);

  /// A kernel or copy ended at `end`; what waits for it goes on at `now`, when the host learns of it.
  void kernel_done(std::uint32_t command, Time end, Time now);
  void copy_done(std::uint32_t command, Time end, Time now);

  /// When everything before the event's record was complete; empty if the host learns that after its time.
  [[nodiscard]] std::optional<Time> event_time(std::uint32_t event) const;
  /// When everything before the event's record was complete, whether or not the host has learned of it.
  [[nodiscard]] std::optional<Time> record_time(std::uint32_t event) const;
  /// When the host's last wait ended: no call is made before it any more.
  [[nodiscard]] Time host_time() const { return host_time_; }

  /// When the last call or wait of the thread that called last ended, plain copies included.
  [[nodiscard]] Time caller_time() const { return gated_ && gate_ > call_time() ? gate_ : call_time(); }

  [[nodiscard]] bool done() const {
    return !open_ && next_ == commands_.size() && copies_out_ == 0 && out_ == 0;
  }
  [[nodiscard]] std::uint32_t taken() const { return next_; }
  /// Copies and managed commands that are not complete.
  [[nodiscard]] std::uint32_t copies_out() const { return copies_out_ + stream_copies_out_; }
  [[nodiscard]] std::uint32_t kernels_out() const { return kernels_out_; }
  /// Copies and fills of the list that are not complete, those that are not taken yet among them.
  [[nodiscard]] std::size_t copies_left() const { return copies_left_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(commands_), links_, streams_, events_, awake_, copies_, a.given(event_of_),
              a.given(mode_), ready_, next_, records_, copies_out_, stream_copies_out_, kernels_out_, out_,
              latest_, host_time_, gate_, open_, gated_, copying_, until_, a.given(time_of_ns_), now_,
              threads_, caller_, calls_, held_until_, copies_left_);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::uint64_t kNanosecondsKhz = 1'000'000;
  /// An end: its time, and when the host learned of it.
  struct Moment {
    Time at = 0, heard = 0;
    void join(const Moment& other) {
      at = at < other.at ? other.at : at;
      heard = heard < other.heard ? other.heard : heard;
    }
  };
  struct Link {
    std::uint32_t next = kNone;  // in its stream
    Time taken = 0;              // when the call that asks for it has ended
  };
  struct Stream {
    std::uint32_t head = kNone, tail = kNone;             // commands that are not complete
    bool running = false;                                 // the head is a kernel or copy that has started
    HostCommand::Kind before = HostCommand::Kind::kCall;  // what the last kernel or task was; kCall: none
    Moment last;                                          // of the command before the head
  };
  struct Event {
    bool complete = false;
    Moment moment;
    std::vector<std::uint32_t> waiting;  // streams
    template <class A>
    void persist(A& a) {
      a.members(*this, complete, moment, waiting);
    }
  };

  [[nodiscard]] bool take();
  void take_call(const HostCommand& call);
  /// That of the calling thread.
  [[nodiscard]] Time call_time() const {
    return threads_[caller_] < host_time_ ? host_time_ : threads_[caller_];
  }
  /// Is the calling thread still busy? Then what it asks for is looked at again when it is not.
  [[nodiscard]] bool is_busy();
  [[nodiscard]] bool take_plain_copy();
  void enqueue(std::uint32_t command);
  void run_streams();
  [[nodiscard]] bool start_head(Stream& stream);
  void pop_head(Stream& stream);
  void complete(std::uint32_t stream, const Moment& moment);
  Event& event(std::uint32_t number);
  [[nodiscard]] Time process_call(const HostCommand& command, const Stream& stream) const;

  std::vector<HostCommand> commands_;
  std::vector<Link> links_;
  std::vector<Stream> streams_;
  std::vector<Event> events_;
  std::vector<std::uint32_t> awake_;     // streams to be looked at
  std::vector<std::uint32_t> copies_;    // to be started
  std::vector<std::uint32_t> event_of_;  // by command: number of the event that it records
  config::CopyMode mode_;
  using ReadyKernels = std::priority_queue<Ready, std::vector<Ready>, std::greater<>>;
  std::vector<ReadyKernels> ready_;  // by device
  std::uint32_t next_ = 0, records_ = 0;
  std::uint32_t copies_out_ = 0, stream_copies_out_ = 0, kernels_out_ = 0;
  std::uint32_t out_ = 0;  // taken stream commands that are not complete
  Moment latest_;          // of all ends
  Time host_time_ = 0;
  Time gate_ = 0;  // when the host learned that the last plain copy or command was complete
  bool open_ = false;
  bool gated_ = false;    // a plain copy or a managed command has held up the host
  bool copying_ = false;  // the last command taken is a plain copy
  Until until_ = Until::kTaken;
  sim::ClockRatio time_of_ns_;
  Time now_ = 0;
  std::vector<Time> threads_ = {0};                 // until when each is busy; kNever: it has not called
  std::uint32_t caller_ = 0;                        // whose calls are taken
  std::set<std::pair<Time, std::uint32_t>> calls_;  // streams whose next command is asked for by a call that
                                                    // has not ended: when it does
  Time held_until_ = kNever;                        // the list goes on no earlier
  std::size_t copies_left_ = 0;
};

}  // namespace lockstep::host
