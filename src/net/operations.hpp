// The side of a NIC that carries out the operations of its own devices' service threads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "config/system_config.hpp"
#include "net/clock.hpp"
#include "net/nic_port.hpp"
#include "net/queue_depth.hpp"
#include "net/queue_pair.hpp"
#include "trace/host_task.hpp"
#include "util/request_table.hpp"
#include "util/ring.hpp"

namespace lockstep::net {

/// A command is fetched when its doorbell has come, and its operation begins in that order, one each
/// nic.op_occupancy_ps. Operations move their data concurrently, one line each in turn:
/// - a put reads each piece of its data from its device and sends it to the target's NIC as it comes; its
/// signal follows the last piece and is written after all of them;
/// - a get requests each piece from the target's NIC and writes it to its device on arrival;
/// - an atomic is done by the target's L2; its old value is written to its device.
/// Pieces end where a line of their destination does. When all is acknowledged the completion record is
/// written. At most nic.outstanding accesses are under way; each occupies one from its first message to its
/// acknowledgement.
///
/// It finishes the entries of a queue of its own in order, when all earlier ones are complete, too.
class Operations {
 public:
  struct Counters {
    std::array<std::uint64_t, trace::NetOperation::kKinds> begun{};  // by kind
    std::uint64_t doorbells = 0, commands = 0, records = 0;
    std::uint64_t accesses = 0;                  // answered
    std::uint64_t bytes_put = 0, bytes_got = 0;  // of the operations' data
  };

  Operations(NicPort& port, const config::SystemConfig& system, const Clock& clock);

  /// The doorbell of the pair's command `number`.
  void ring(Cycle now, QueuePair& pair, std::uint64_t number);
  void tick(Cycle now);
  /// To an access of its own.
  void replied(Cycle now, const link::Message& reply);

  /// After `now`.
  [[nodiscard]] Cycle next_event(Cycle now) const;
  [[nodiscard]] bool idle() const {
    return accesses_.used() == 0 && rung_.empty() && fetched_count_ == 0 && running_count_ == 0;
  }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  /// Commands whose doorbell has come: those that are not complete, and of these those that have not begun.
  [[nodiscard]] DepthCounters command_depth(std::uint64_t ps) const { return commands_.counters(ps); }
  [[nodiscard]] DepthCounters waiting_depth(std::uint64_t ps) const { return waiting_.counters(ps); }
  void dump(std::string& out) const;

  /// Precondition: idle().
  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(port_), a.given(config_), a.given(clock_), a.given(occupancy_),
              a.given(process_), a.given(nic_of_), a.given(memory_of_), a.given(signals_of_), a.given(rung_),
              a.given(fetched_), fetched_head_, fetched_count_, next_begin_, a.given(running_), free_,
              running_count_, moving_, signals_, complete_, accesses_, commands_, waiting_, counters_);
  }

 private:
  static constexpr std::uint32_t kFetches = 32;  // commands fetched ahead
  enum class Step : std::uint8_t { kFetch, kRead, kWrite, kAtomic, kRecord };
  struct Access {
    Address destination = 0;      // kRead, kAtomic
    std::uint32_t operation = 0;  // that runs; kFetch: place in fetched_
    std::uint32_t bytes = 0;
    Step step = Step::kFetch;
    std::array<SectorMask, 2> missing{};  // of the lines that are read
  };
  struct Fetched {
    QueuePair* pair = nullptr;
    std::uint32_t place = 0;
    Cycle ready = kNever;
  };
  struct Running {
    QueuePair* pair = nullptr;
    std::uint32_t place = 0;
    trace::NetOperation what;
    std::uint64_t begun = 0;      // bytes
    std::uint32_t unwritten = 0;  // pieces read and not yet written
    std::uint32_t out = 0;        // accesses
    bool signalled = true;        // or there is no signal
    bool sent = false;            // something to the target
    [[nodiscard]] Command& command() const { return pair->command[place]; }
    [[nodiscard]] bool moves() const { return begun < what.bytes; }
  };

  void place(std::uint32_t device, const config::SystemConfig& system);
  void fetch();
  void begin_operations(Cycle now);
  void begin(Cycle now, const Fetched& fetched);
  void begin_piece(Cycle now, std::uint32_t number);
  void begin_atomic(Cycle now, std::uint32_t number);
  void write_piece(Cycle now, std::uint32_t access);
  void write_signal(Cycle now, std::uint32_t number);
  void write_record(Cycle now, std::uint32_t number);
  void end(Cycle now, std::uint32_t number);
  void deal_in_order(Cycle now, QueuePair& pair);
  void write_word(QueuePair& pair, Address word, bool twice);
  void piece_read(Cycle now, std::uint32_t access);
  void settle(std::uint32_t number);
  void to_target(Cycle now, Running& running, link::Message message, std::uint32_t number, std::uint16_t at);
  void read(std::uint32_t access, unsigned which, Address begin, std::uint32_t bytes, std::uint32_t number,
            Cycle now);
  /// Where the data at an address of a process are: in its device's memory, or in its host's.
  [[nodiscard]] std::uint16_t memory_at(std::uint16_t device, Address address) const {
    return address < trace::kHostMemory ? memory_of_[device] : signals_of_[device];
  }
  [[nodiscard]] bool bulk(const Running& r) const { return r.what.bytes > kLineBytes; }
  [[nodiscard]] bool may_fetch() const { return !rung_.empty() && fetched_count_ < kFetches; }
  [[nodiscard]] bool has_place() const { return accesses_.used() < config_.outstanding; }

  NicPort* port_;
  config::NicGroup config_;
  Clock clock_;
  Cycle occupancy_, process_;
  // By device: its NIC, the endpoint whose memory its data are in, and the one that receives signals.
  std::vector<std::uint16_t> nic_of_, memory_of_, signals_of_;
  struct Rung {
    QueuePair* pair = nullptr;
    std::uint64_t number = 0;
  };
  Ring<Rung> rung_;  // doorbells whose command is not requested yet
  std::array<Fetched, kFetches> fetched_{};
  std::uint32_t fetched_head_ = 0, fetched_count_ = 0;
  Cycle next_begin_ = 0;
  std::vector<Running> running_;  // by the number of the operation
  std::vector<std::uint32_t> free_;
  std::uint32_t running_count_ = 0;
  Ring<std::uint32_t> moving_;    // operations with data left
  Ring<std::uint32_t> signals_;   // to be sent
  Ring<std::uint32_t> complete_;  // records to be written
  RequestTable<Access> accesses_;
  QueueDepth commands_, waiting_;
  Counters counters_;
};

}  // namespace lockstep::net
