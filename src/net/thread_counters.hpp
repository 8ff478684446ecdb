// What a service thread counts.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/net_operation.hpp"

namespace lockstep::net {

/// What happens to an operation, in this order; of one that is not blocking kFinished is not noted.
enum class Moment : std::uint8_t {
  kSeen,      // the service thread has read the entry's status
  kIssued,    // it has run the code that makes the command
  kRung,      // the doorbell has arrived at the NIC
  kFetched,   // the NIC has the command
  kSent,      // its first message to the other NIC leaves
  kComplete,  // all is done and acknowledged; the completion record leaves
  kNoticed,   // the service thread has read the record
  kFinished,  // it writes the entry's status
};
inline constexpr std::size_t kMoments = 8;
/// In ps from the beginning of the simulation.
using Moments = std::array<std::uint64_t, kMoments>;

/// For one kind of operation. Times in ps, from one moment to the next (Moment), each booked to the later
/// one; so they add up to the time from kSeen to the last one, which is kFinished for a blocking operation
/// and kNoticed for any other. An operation without a command (kQuiet) has kSeen, kIssued, kComplete and
/// kFinished.
struct StageTimes {
  std::uint64_t operations = 0, blocking = 0;
  std::array<std::uint64_t, kMoments> sum{}, most{};
  std::uint64_t total = 0, longest = 0;

  /// Returns the last moment.
  std::uint64_t add(const Moments& at, bool is_blocking);
};

/// An operation that has ended, by its entry. What it was before and after an agent had it is known to others
/// (EntryTimes).
struct EndedEntry {
  Address entry = 0;
  std::uint32_t ready = 0;  // trace::NetOperation
  std::uint16_t device = 0;
  trace::NetOperation::Kind kind = trace::NetOperation::Kind::kPut;
  bool blocking = false;
  std::uint64_t seen = 0, end = 0;  // ps: first and last moment
};

struct OperationLog;

struct ThreadCounters {
  std::array<StageTimes, trace::NetOperation::kKinds> kinds{};  // by trace::NetOperation::Kind
  std::uint64_t polls = 0, found = 0;                           // polls of entries, and those that found one
  std::uint64_t record_polls = 0, records = 0;                  // likewise for completion records
  std::uint64_t instructions = 0;
  std::uint64_t active_ps = 0;  // with an operation that is not finished or not complete
  std::vector<EndedEntry> ended;
  OperationLog* log = nullptr;  // keeps operations, too

  /// An operation of the device, all of whose times are known; a kind's stages end as StageTimes says.
  /// `entry`: 0 where it has none.
  void add(const trace::NetOperation& what, std::uint16_t device, Address entry, const Moments& at,
           bool is_blocking);

  template <class A>
  void persist(A& a) {
    a.members(*this, kinds, polls, found, record_polls, records, instructions, active_ps, ended,
              a.given(log));
  }
};

}  // namespace lockstep::net
