// What the MPI calls of this process are written to: one line each, in their order.
// src/messages/recording.hpp says what stands in a line, and reads them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <initializer_list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "messages/pmpi/clock.hpp"

namespace lockstep_pmpi {

/// A communicator as all its processes know it.
struct Communicator {
  std::uint64_t number = 0;  // of this process's lines: from 0
  std::vector<int> members;  // ranks in MPI_COMM_WORLD
};

/// A request that is made once and started again and again.
struct Persistent {
  bool sends = false;
  MPI_Comm communicator = MPI_COMM_NULL;
  int to = 0, tag = 0;      // of one that sends
  std::uint64_t bytes = 0;  // likewise
  void* data = nullptr;
};

/// The name of all neighbourhood collectives in the log.
inline constexpr const char* kNeighborhood = "MPI_Neighbor_alltoall";

/// What a collective call says of itself: recording.hpp.
struct CollectiveCall {
  const char* name = "";
  MPI_Comm communicator = MPI_COMM_NULL;
  int root = 0;
  const void *send = nullptr, *receive = nullptr;
  std::vector<std::uint64_t> bytes{};
  std::vector<int> to{}, from{};  // of a neighbourhood: ranks
};

/// A one-sided operation.
struct Operation {
  const char* name = "";  // as in the log
  MPI_Win window = MPI_WIN_NULL;
  int target = MPI_PROC_NULL;  // its rank
  std::uint64_t bytes = 0;
  const void* local = nullptr;
  void* result = nullptr;  // where the old value goes; null: nowhere
  MPI_Aint displacement = 0;
};

/// Where a call's status goes: what has been received is logged also where the program ignores it.
[[nodiscard]] inline MPI_Status* status_or(MPI_Status* given, MPI_Status& own) {
  return given == MPI_STATUS_IGNORE ? &own : given;
}

/// One for the process. Where the environment names no file, nothing is written.
class Log {
 public:
  static Log& instance();

  /// After MPI_Init.
  void begin();
  void end();
  void aborted(int code);
  /// Said once for each function.
  void not_simulated(const char* function);

  /// A communicator that MPI has made, collectively called by its processes.
  void add(MPI_Comm made);
  void forget(MPI_Comm gone);
  /// Null: one that is not simulated, which is noted.
  const Communicator* find(MPI_Comm communicator, const char* function);

  // Point to point. `within`: a call of MPI of which a line came before.
  void send(MPI_Comm c, const char* function, int to, int tag, std::uint64_t bytes, const void* data,
            MPI_Request request, bool within);
  void receive(MPI_Comm c, const char* function, void* data, MPI_Request request, bool within);
  /// A request, by the handle that it had, is complete. True: a line was written.
  bool complete(MPI_Request request, const MPI_Status& status, bool within);
  /// The program has freed it: nothing will complete it.
  void freed(MPI_Request request);

  // Persistent requests: made, and started, by which MPI may change the handle. True: a line was written.
  void keep(MPI_Request request, const Persistent& what);
  bool started(MPI_Request before, MPI_Request now, bool within);
  // A message that a probe has matched, and the receive of it. The receive's place among the others, and its
  // request's number, is that of the probe.
  void matched(MPI_Comm c, const char* function, MPI_Message message);
  void receive_matched(MPI_Message message, void* data, MPI_Request request);

  /// Blocking, or with a request that completes it.
  void collective(const CollectiveCall& call);
  void collective(const CollectiveCall& call, MPI_Request request);

  /// MPI_Wtime: what it returns. Where an earlier run is shown, its times one after another; the process ends
  /// where that has no more.
  double clock();
  [[nodiscard]] double clock_tick() const {
    return shown_.is_shown() ? ShownClock::kSecondsOfPs : PMPI_Wtick();
  }
  /// A window that MPI has made, collectively called by the processes of `c`.
  void add_window(MPI_Win made, MPI_Comm c, const void* base, int unit);
  void forget_window(MPI_Win gone);
  void operation(const Operation& what);
  /// With a request that completes it.
  void operation(const Operation& what, MPI_Request request);
  /// A call that orders operations, of `ranks` of the window where it names some.
  void synchronisation(const char* name, MPI_Win window, const std::vector<int>& ranks = {});

 private:
  struct Request {
    std::uint64_t number = 0;
    bool receives = false;
    std::vector<int> members;  // of the communicator
  };
  void write(const std::string& line);
  void drop(MPI_Request request);
  /// Nothing: a communicator that is not simulated.
  [[nodiscard]] std::string described(const CollectiveCall& call);
  [[noreturn]] void end_of_times();
  bool write_operation(const Operation& what);
  const Communicator* find_window(MPI_Win window, const char* function);
  /// The same number in all processes of `c`, which all call this.
  [[nodiscard]] std::uint64_t agreed_id(MPI_Comm c);
  /// Writes it.
  [[nodiscard]] Communicator described(MPI_Comm c, std::uint64_t id);

  std::recursive_mutex mutex_;
  std::FILE* file_ = nullptr;
  std::map<MPI_Comm, Communicator> communicators_;
  std::map<MPI_Win, Communicator> windows_;
  // By handle: MPI may use one handle for several requests that are complete at once.
  std::map<MPI_Request, std::deque<Request>> requests_;
  std::map<MPI_Request, Persistent> persistent_;
  struct Matched {
    Communicator communicator;
    std::uint64_t request = 0;
  };
  std::map<MPI_Message, Matched> matched_;
  std::uint64_t next_request_ = 0, next_communicator_ = 0, made_ = 0, clock_reads_ = 0;
  ShownClock shown_;
  std::set<std::string> noted_;
};

/// What a process of `count` elements sends.
std::uint64_t bytes_of(int count, MPI_Datatype type);

}  // namespace lockstep_pmpi
