#include "messages/pmpi/log.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "messages/pmpi/host_time.hpp"
#include "messages/pmpi/runtime.hpp"
#include "messages/recording.hpp"

namespace lockstep_pmpi {
namespace {

constexpr const char* kFileVariable = "LOCKSTEP_MPI_LOG";  // as cli/mpi_program.cpp sets it

/// Commands that the CUDA runtime of this process has recorded: where it is loaded.
std::uint64_t position() {
  using Position = std::uint64_t (*)() noexcept;
  static Position found = nullptr;
  if (found == nullptr) found = reinterpret_cast<Position>(runtime_function("lockstep_mpi_position"));
  return found == nullptr ? 0 : found();
}

std::string text(std::uint64_t number) { return " " + std::to_string(number); }
std::string text(const void* address) { return text(reinterpret_cast<std::uint64_t>(address)); }

}  // namespace

std::uint64_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

Log& Log::instance() {
  static Log* log = new Log;  // never destroyed: programs may call MPI until their very end
  return *log;
}

void Log::write(const std::string& line) {
  if (file_ != nullptr) std::fprintf(file_, "%s\n", line.c_str());
}

void Log::begin() {
  const char* const path = std::getenv(kFileVariable);
  if (path == nullptr || file_ != nullptr) return;
  int rank = 0, size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  file_ = std::fopen(path, "w");
  if (file_ == nullptr) {
    std::fprintf(stderr, "lockstep: error: %s cannot be written\n", path);
    PMPI_Abort(MPI_COMM_WORLD, 2);
  }
  unsetenv(kFileVariable);  // programs that this one starts are not recorded
  shown_.begin();
  write("lockstep-mpi 1" + text(static_cast<std::uint64_t>(rank)) + text(static_cast<std::uint64_t>(size)));
  communicators_[MPI_COMM_WORLD] = described(MPI_COMM_WORLD, 0);
  communicators_[MPI_COMM_SELF] = described(MPI_COMM_SELF, (static_cast<std::uint64_t>(rank) + 1) << 32);
  if (!begin_host_time())
    not_simulated("host computation of a program that has not loaded the CUDA runtime by MPI_Init");
}

void Log::end() {
  const std::scoped_lock lock(mutex_);
  write("E" + text(position()));
  if (file_ != nullptr) std::fclose(file_);
  file_ = nullptr;
}

void Log::aborted(int code) {
  const std::scoped_lock lock(mutex_);
  if (file_ == nullptr) return;
  write("X" + text(static_cast<std::uint64_t>(code)));
  std::fflush(file_);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr,
               "lockstep: error: process %d has called MPI_Abort with code %d: nothing is simulated\n", rank,
               code);
}

double Log::clock() {
  const std::scoped_lock lock(mutex_);
  if (file_ == nullptr) return shown_.is_shown() ? shown_.last() : PMPI_Wtime();
  // One more than may be read says that there were too many.
  if (clock_reads_++ <= lockstep::messages::kMaxClockReads) write("T" + text(position()));
  if (!shown_.is_shown()) return PMPI_Wtime();
  if (shown_.at_end()) end_of_times();
  return shown_.next();
}

/// As MPI_Abort(2), but that nothing more is said.
void Log::end_of_times() {
  write("X 2");
  std::fflush(nullptr);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(
      stderr,
      "lockstep: error: process %d reads its clock (MPI_Wtime) more often than in the run whose times "
      "it is shown, which has %zu of them; expected the same program with the same arguments\n",
      rank, shown_.size());
  _exit(2);
}

void Log::not_simulated(const char* function) {
  const std::scoped_lock lock(mutex_);
  if (noted_.insert(function).second) write(std::string("N ") + function);
}

Communicator Log::described(MPI_Comm c, std::uint64_t id) {
  MPI_Group group, world;
  PMPI_Comm_group(c, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), members(ranks.size());
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  PMPI_Group_translate_ranks(group, size, ranks.data(), world, members.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  std::string line = "C" + text(next_communicator_) + text(id) + text(members.size());
  for (const int member : members) line += text(static_cast<std::uint64_t>(member));
  write(line);
  return {next_communicator_++, std::move(members)};
}

std::uint64_t Log::agreed_id(MPI_Comm c) {
  int rank = 0, world = 0;
  PMPI_Comm_rank(c, &rank);
  PMPI_Comm_rank(MPI_COMM_WORLD, &world);
  std::uint64_t id = 0;
  if (rank == 0) id = ((static_cast<std::uint64_t>(world) + 1) << 32) + ++made_;
  PMPI_Bcast(&id, 1, MPI_UINT64_T, 0, c);
  return id;
}

void Log::add(MPI_Comm made) {
  if (made == MPI_COMM_NULL || file_ == nullptr) return;
  int is_inter = 0;
  PMPI_Comm_test_inter(made, &is_inter);
  if (is_inter != 0) return;
  const std::scoped_lock lock(mutex_);
  communicators_[made] = described(made, agreed_id(made));
}

void Log::forget(MPI_Comm gone) {
  const std::scoped_lock lock(mutex_);
  communicators_.erase(gone);
}

const Communicator* Log::find(MPI_Comm communicator, const char* function) {
  const std::scoped_lock lock(mutex_);
  if (file_ == nullptr) return nullptr;
  const auto found = communicators_.find(communicator);
  if (found != communicators_.end()) return &found->second;
  not_simulated((std::string(function) + " in a communicator of another function's making").c_str());
  return nullptr;
}

void Log::send(MPI_Comm c, const char* function, int to, int tag, std::uint64_t bytes, const void* data,
               MPI_Request request, bool within) {
  const std::scoped_lock lock(mutex_);
  const Communicator* const found = to == MPI_PROC_NULL ? nullptr : find(c, function);
  if (found == nullptr) return;
  const auto peer = static_cast<std::uint64_t>(found->members.at(static_cast<std::size_t>(to)));
  write("S" + text(position()) + text(within) + text(next_request_) + text(found->number) + text(peer) +
        text(static_cast<std::uint64_t>(tag)) + text(bytes) + text(data));
  requests_[request].push_back({next_request_++, false, {}});
}

void Log::receive(MPI_Comm c, const char* function, void* data, MPI_Request request, bool within) {
  const std::scoped_lock lock(mutex_);
  const Communicator* const found = find(c, function);
  if (found == nullptr) return;
  write("R" + text(position()) + text(within) + text(next_request_) + text(found->number) + text(data));
  requests_[request].push_back({next_request_++, true, found->members});
}

bool Log::complete(MPI_Request request, const MPI_Status& status, bool within) {
  const std::scoped_lock lock(mutex_);
  const auto found = requests_.find(request);
  if (found == requests_.end()) return false;
  const Request done = found->second.front();
  drop(request);
  std::string line = "W" + text(position()) + text(within) + text(done.number);
  if (done.receives) {
    int cancelled = 0;
    PMPI_Test_cancelled(&status, &cancelled);
    if (cancelled != 0 || status.MPI_SOURCE == MPI_PROC_NULL) return false;
    line += text(static_cast<std::uint64_t>(done.members.at(static_cast<std::size_t>(status.MPI_SOURCE)))) +
            text(static_cast<std::uint64_t>(status.MPI_TAG));
  }
  write(line);
  return true;
}

void Log::drop(MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  const auto found = requests_.find(request);
  if (found == requests_.end()) return;
  found->second.pop_front();
  if (found->second.empty()) requests_.erase(found);
}

void Log::freed(MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  drop(request);
  persistent_.erase(request);
}

void Log::keep(MPI_Request request, const Persistent& what) {
  const std::scoped_lock lock(mutex_);
  persistent_[request] = what;
}

bool Log::started(MPI_Request before, MPI_Request now, bool within) {
  const std::scoped_lock lock(mutex_);
  const auto found = persistent_.find(before);
  if (found == persistent_.end()) return false;
  const Persistent what = found->second;
  if (now != before) {
    persistent_.erase(found);
    persistent_[now] = what;
  }
  const std::uint64_t first = next_request_;
  if (what.sends) {
    send(what.communicator, "MPI_Start", what.to, what.tag, what.bytes, what.data, now, within);
  } else {
    receive(what.communicator, "MPI_Start", what.data, now, within);
  }
  return next_request_ != first;
}

void Log::matched(MPI_Comm c, const char* function, MPI_Message message) {
  const std::scoped_lock lock(mutex_);
  if (message == MPI_MESSAGE_NO_PROC || message == MPI_MESSAGE_NULL) return;
  const Communicator* const found = find(c, function);
  if (found != nullptr) matched_[message] = {*found, next_request_++};
}

void Log::receive_matched(MPI_Message message, void* data, MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  const auto found = matched_.find(message);
  if (found == matched_.end()) return;
  const auto& [communicator, number] = found->second;
  write("R" + text(position()) + text(false) + text(number) + text(communicator.number) + text(data));
  requests_[request].push_back({number, true, communicator.members});
  matched_.erase(found);
}

std::string Log::described(const CollectiveCall& call) {
  const Communicator* const found = find(call.communicator, call.name);
  if (found == nullptr) return {};
  std::string line = " " + std::string(call.name) + text(found->number) +
                     text(static_cast<std::uint64_t>(call.root)) +
                     text(call.send == MPI_IN_PLACE ? call.receive : call.send) + text(call.receive) +
                     text(call.bytes.size());
  for (const std::uint64_t b : call.bytes) line += text(b);
  if (call.name != std::string_view(kNeighborhood)) return line;
  for (const int member : call.to) line += text(static_cast<std::uint64_t>(member));
  line += text(call.from.size());
  for (const int member : call.from) line += text(static_cast<std::uint64_t>(member));
  return line;
}

void Log::collective(const CollectiveCall& call) {
  const std::scoped_lock lock(mutex_);
  const std::string line = described(call);
  if (!line.empty()) write("K" + text(position()) + line);
}

void Log::collective(const CollectiveCall& call, MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  const std::string line = described(call);
  if (line.empty()) return;
  write("I" + text(position()) + text(next_request_) + line);
  requests_[request].push_back({next_request_++, false, {}});
}

void Log::add_window(MPI_Win made, MPI_Comm c, const void* base, int unit) {
  const std::scoped_lock lock(mutex_);
  if (file_ == nullptr) return;
  const Communicator& window = windows_[made] = described(c, agreed_id(c));
  write("V" + text(window.number) + text(base) + text(static_cast<std::uint64_t>(unit)));
}

void Log::forget_window(MPI_Win gone) {
  const std::scoped_lock lock(mutex_);
  windows_.erase(gone);
}

const Communicator* Log::find_window(MPI_Win window, const char* function) {
  if (file_ == nullptr) return nullptr;
  const auto found = windows_.find(window);
  if (found != windows_.end()) return &found->second;
  not_simulated((std::string(function) + " in a window of another function's making").c_str());
  return nullptr;
}

bool Log::write_operation(const Operation& what) {
  const Communicator* const window =
      what.target == MPI_PROC_NULL ? nullptr : find_window(what.window, what.name);
  if (window == nullptr) return false;
  const auto peer = static_cast<std::uint64_t>(window->members.at(static_cast<std::size_t>(what.target)));
  write("O" + text(position()) + text(next_request_++) + " " + what.name + text(window->number) + text(peer) +
        text(what.bytes) + text(what.local) + text(what.result) +
        text(static_cast<std::uint64_t>(what.displacement)));
  return true;
}

void Log::operation(const Operation& what) {
  const std::scoped_lock lock(mutex_);
  write_operation(what);
}

void Log::operation(const Operation& what, MPI_Request request) {
  const std::scoped_lock lock(mutex_);
  if (write_operation(what)) requests_[request].push_back({next_request_ - 1, false, {}});
}

void Log::synchronisation(const char* name, MPI_Win window, const std::vector<int>& ranks) {
  const std::scoped_lock lock(mutex_);
  const Communicator* const found = find_window(window, name);
  if (found == nullptr) return;
  std::string line = "Y" + text(position()) + " " + name + text(found->number) + text(ranks.size());
  for (const int rank : ranks) line += text(static_cast<std::uint64_t>(rank));
  write(line);
}

}  // namespace lockstep_pmpi
