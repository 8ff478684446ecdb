// A rank of a communicator.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libraries/common/driver.hpp"
#include "libraries/nccl/abi.hpp"
#include "libraries/nccl/job.hpp"

namespace lockstep::libraries::nccl {

[[nodiscard]] UniqueId new_unique_id();

/// The ranks that were made with the same id: where they meet.
class Clique {
 public:
  struct Place {
    Inbox* inbox = nullptr;
    int device = 0;
  };

  explicit Clique(int ranks) : places_(static_cast<std::size_t>(ranks)) {}
  /// Throws Error where another rank has that place or gave another number of ranks.
  void join(int rank, int ranks, const Place& place);
  /// The places of all, once they have joined.
  [[nodiscard]] std::vector<Place> wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Place> places_;
  int joined_ = 0;
};

/// Throws Error for an id that is not from new_unique_id() of this process.
[[nodiscard]] std::shared_ptr<Clique> clique_of(const UniqueId& id, int ranks);

class Communicator {
 public:
  /// On the current device; to be completed by meet().
  Communicator(std::shared_ptr<Clique> clique, int rank, int ranks);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Waits for the other ranks.
  void meet();

  [[nodiscard]] int rank() const { return member_.rank; }
  [[nodiscard]] int ranks() const { return member_.ranks; }
  [[nodiscard]] int device() const { return device_; }

  /// Enqueues a collective operation; all ranks have to do so in the same order. The job's number is filled
  /// in.
  void run(const std::string& kernel, unsigned blocks, Job job, Stream stream);

  struct Message {
    int peer;
    bool sends;
    char* memory;
    long long bytes;
  };
  /// Enqueues messages that are under way at once.
  void exchange(const std::vector<Message>& messages, Stream stream);

 private:
  /// Operations of a communicator come one after the other, whatever streams they are in.
  void begin(Stream stream) const;
  void end(Stream stream);

  std::mutex mutex_;
  std::shared_ptr<Clique> clique_;
  Member member_{};
  int device_ = 0;
  Inbox* inbox_ = nullptr;
  void* table_ = nullptr;  // of all ranks' inboxes, on this device
  Event last_ = nullptr;
  Stream last_stream_ = nullptr;
  bool used_ = false;
  unsigned sequence_ = 0;
  std::vector<unsigned> sent_, received_;  // messages, by rank
};

}  // namespace lockstep::libraries::nccl
