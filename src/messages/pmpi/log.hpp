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

namespace lockstep_pmpi {

/// A communicator as all its processes know it.
struct Communicator {
  std::uint64_t number = 0;  // of this process's lines: from 0
  std::vector<int> members;  // ranks in MPI_COMM_WORLD
};

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
  /// Nothing will complete it.
  void drop(MPI_Request request);

  /// A collective call: `bytes` as recording.hpp says for each.
  void collective(const char* name, MPI_Comm c, int root, const void* send, const void* receive,
                  const std::vector<std::uint64_t>& bytes);

 private:
  struct Request {
    std::uint64_t number = 0;
    bool receives = false;
    std::vector<int> members;  // of the communicator
  };
  void write(const std::string& line);
  void add_with(MPI_Comm made, std::uint64_t id);

  std::recursive_mutex mutex_;
  std::FILE* file_ = nullptr;
  std::map<MPI_Comm, Communicator> communicators_;
  // By handle: MPI may use one handle for several requests that are complete at once.
  std::map<MPI_Request, std::deque<Request>> requests_;
  std::uint64_t next_request_ = 0, next_communicator_ = 0, made_ = 0;
  std::set<std::string> noted_;
};

/// What a process of `count` elements sends.
std::uint64_t bytes_of(int count, MPI_Datatype type);

}  // namespace lockstep_pmpi
