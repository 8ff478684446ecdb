// A host: threads that serve the queues of its devices' kernels, or the devices' processes, and the part of
// its memory that NICs use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/system_config.hpp"
#include "icnt/entry_log.hpp"
#include "link/endpoint.hpp"
#include "mem/signal_counts.hpp"
#include "net/host_process.hpp"
#include "net/messages.hpp"
#include "net/service_thread.hpp"
#include "sim/domain.hpp"
#include "sim/inbox.hpp"
#include "util/request_table.hpp"
#include "util/ring.hpp"

namespace lockstep::net {

class HostAgent;

/// The ServiceThread's port of a thread of a host (see there). It reads device memory by uncached reads and
/// writes it by posted stores; its own memory, where its pairs are, and in some designs the queues, is in its
/// cache. A line that a device has written since is read from memory once.
class HostPort {
 public:
  HostPort(HostAgent& host, std::uint32_t thread) : host_(&host), thread_(thread) {}

  [[nodiscard]] static bool wants_to_move() { return false; }
  void move(QueuePair&) {}
  /// It does not elide polls: they are few if they cross PCIe, and cheap otherwise.
  [[nodiscard]] static bool elides() { return false; }
  unsigned poll(Cycle now, std::uint16_t device, Address word, std::uint32_t signals, const PollRequest& how);
  unsigned read_entry(Cycle now, std::uint16_t device, Address entry);
  unsigned run_call(Cycle) { return 0; }
  unsigned store(Cycle now, std::uint16_t device, Address word);
  unsigned write_command(Cycle, QueuePair&, std::uint64_t) { return 0; }
  unsigned ring(Cycle now, QueuePair& pair);
  unsigned poll_record(Cycle now, QueuePair& pair, std::uint64_t number, const PollRequest& how);
  void stop_waiting(Cycle now);

  /// The reply to one of the reads of an entry.
  void read_more(Cycle now);
  /// A word of the host's memory has received a signal.
  void signal_came(Cycle now);

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(host_), a.given(thread_), device_, at_, left_, waits_, word_, signals_, since_);
  }

 private:
  void read_next();
  unsigned poll_own(Cycle now, Address word, std::uint32_t signals, bool patient);

  HostAgent* host_;
  std::uint32_t thread_;
  std::uint16_t device_ = 0;  // of the entry that is read
  Address at_ = 0;            // what is read of it next
  std::uint64_t left_ = 0;    // bytes
  bool waits_ = false;        // patiently, for signals of a word
  Address word_ = 0;
  std::uint32_t signals_ = 0;
  Cycle since_ = 0;
};

/// Domain and end of links, in the core clock of device 0. Queues go to its threads by their numbers, modulo
/// the number of threads. In designs without threads, each of its devices has a process.
class HostAgent final : public sim::Domain, private HostProcess::Host {
 public:
  /// How it receives news from the host's program, and replies.
  struct News {
    const AgentNetwork* network = nullptr;  // null: it has no work
    std::uint32_t agent = 0;                // its destination there
    Cycle span = 64;                        // cycles that news may be ahead
    TaskNetwork* ends = nullptr;            // of tasks; it is source `agent` there
    sim::DomainClock clock = {};            // of the engine's time base and this domain
    Time latency = 0;                       // of an end
  };
  /// `pairs`: of each thread in turn, one for each device of the host; of processes, one for each device;
  /// none where the host has no work.
  HostAgent(link::EndpointWiring wiring, const config::SystemConfig& system, const News& news,
            const std::vector<QueuePair*>& pairs);
  HostAgent(const HostAgent&) = delete;
  HostAgent& operator=(const HostAgent&) = delete;

  /// Before the run: keep what a thread, or a process, does. Not owned.
  void record_thread(std::size_t number, OperationLog& log) { threads_[number]->program.record(log); }
  void record_process(std::size_t number, OperationLog& log) { processes_[number].record(log); }

  [[nodiscard]] Cycle advance(Cycle from, Cycle to) override;
  void settle(Cycle) override {}
  void dump(std::string& out) const override;

  [[nodiscard]] bool quiescent() const;
  /// When status words of entries in its memory have been written by kernels.
  [[nodiscard]] const std::vector<icnt::EntryTime>& visible_entries() const { return visible_; }
  [[nodiscard]] const std::vector<link::Wire>& wires() const { return links_.wires(); }
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }
  [[nodiscard]] const ServiceThread<HostPort>& program(std::size_t number) const {
    return threads_[number]->program;
  }
  [[nodiscard]] const std::vector<HostProcess>& processes() const { return processes_; }

  template <class A>
  void persist(A& a) {
    a.members(*this, links_, a.given(from_), a.given(config_), a.given(memory_cycles_), news_,
              a.given(has_queues_), signals_, visible_, replies_, own_reads_, out_, threads_, processes_);
  }

 private:
  friend class HostPort;
  struct Thread {
    Thread(HostAgent& host, std::uint32_t number, const config::NetworkConfig& config, const Clock& clock);
    HostPort port;
    ServiceThread<HostPort> program;
    template <class A>
    void persist(A& a) {
      a.members(*this, port, program);
    }
  };
  struct Out {
    std::uint32_t thread = 0;
    enum class What : std::uint8_t { kPoll, kRead, kPosted } what = What::kPoll;
    SectorMask missing = 0;  // of a read
  };
  struct Reply {
    Cycle due = 0;
    std::uint16_t to = 0;
    link::Message message;
  };
  void place(QueuePair& pair, Address& memory);
  void ring(QueuePair& pair) override;
  void task_ended(Cycle now, std::uint32_t command) override;
  void tick(Cycle now);
  void receive(Cycle now, const AgentNews& news);
  void take(Cycle now, const link::Message& message);
  void take_reply(Cycle now, const link::Message& reply);
  void send_request(std::uint16_t to, Out out, const icnt::Request& request);
  [[nodiscard]] bool lacks(Address word, std::uint32_t signals) const override;
  [[nodiscard]] Cycle next_event(Cycle now) const;

  link::Endpoint links_;
  News from_;
  config::HostThreadsGroup config_;
  Cycle memory_cycles_;
  sim::Inbox<AgentNews> news_;
  bool has_queues_;            // in its memory
  mem::SignalCounts signals_;  // of its own memory
  std::vector<icnt::EntryTime> visible_;
  Ring<Reply> replies_;  // by their time
  struct OwnRead {
    Cycle due = 0;
    std::uint32_t thread = 0;
  };
  Ring<OwnRead> own_reads_;  // likewise
  RequestTable<Out> out_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<HostProcess> processes_;
};

}  // namespace lockstep::net
