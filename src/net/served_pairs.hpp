// The queue pairs of a service thread, and its commands under way in them.
#pragma once

#include <cstdint>
#include <vector>

#include "net/queue_depth.hpp"
#include "net/queue_pair.hpp"
#include "net/served_queues.hpp"

namespace lockstep::net {

/// One pair for each device that the thread serves. Pairs are numbered in the order of adding.
class ServedPairs {
 public:
  /// A command that is complete.
  struct Completion {
    OperationId id;
    bool blocking = false;
    const Command* command = nullptr;
  };

  void add(QueuePair& pair) { pairs_.emplace_back(pair); }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(pairs_.size()); }
  /// The pair of the device.
  [[nodiscard]] std::uint32_t of(std::uint16_t device) const;
  [[nodiscard]] QueuePair& pair(std::uint32_t number) { return *pairs_[number].pair; }

  /// Number of commands whose completion has not been noticed: in all pairs, in one.
  [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }
  [[nodiscard]] std::uint32_t in_flight(std::uint32_t number) const { return pairs_[number].in_flight; }

  /// Whether the pair has no place for another command.
  [[nodiscard]] bool full(std::uint32_t number) const;
  /// Returns the number of the command that is written. Precondition: not full.
  [[nodiscard]] std::uint64_t write(std::uint32_t number, const OperationId& id, const Command& command);
  /// The doorbell of the one written last has been rung.
  void rung(std::uint32_t number);

  /// Of the next completion record.
  [[nodiscard]] std::uint64_t next_record(std::uint32_t number) const { return pairs_[number].noticed; }
  /// That is there.
  void notice(std::uint32_t number, std::uint64_t ps);
  /// Takes it.
  [[nodiscard]] Completion complete(std::uint32_t number);

  /// The next command, and the next record, are the first of their rings. Precondition: none in flight.
  void restart();
  /// How many completion records have been written and not yet noticed.
  [[nodiscard]] DepthCounters record_depth(std::uint64_t ps) const;

  template <class A>
  void persist(A& a) {
    a.members(*this, pairs_, in_flight_);
  }

 private:
  struct Served {
    explicit Served(QueuePair& of)
        : pair(&of), operation(of.entries()), taken(of.entries()), blocking(of.entries()) {}
    QueuePair* pair;
    std::uint64_t issued = 0, noticed = 0;  // commands, records
    std::uint32_t in_flight = 0;
    std::vector<OperationId> operation;  // by place
    std::vector<bool> taken, blocking;   // by place
    StayDepth records;
    template <class A>
    void persist(A& a) {
      a.members(*this, a.given(pair), issued, noticed, in_flight, operation, taken, blocking, records);
    }
  };
  std::vector<Served> pairs_;
  std::uint32_t in_flight_ = 0;
};

}  // namespace lockstep::net
