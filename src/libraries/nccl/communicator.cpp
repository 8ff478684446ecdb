#include "libraries/nccl/communicator.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <string_view>

#include "libraries/common/kernels.hpp"

namespace lockstep::libraries::nccl {

std::string_view embedded_ptx(std::string_view file);

namespace {

constexpr unsigned long long kMark = 0x4c6f636b73746570;  // what ids begin with

struct IdText {
  unsigned long long mark;
  long long process;
  unsigned long long number;
};

Kernels& kernels() {
  static auto& all = *new Kernels(embedded_ptx("collective"));
  return all;
}

constexpr int kAlreadyEnabled = 704;  // cudaErrorPeerAccessAlreadyEnabled

void enable_access(int peer) {
  const int code = runtime().cudaDeviceEnablePeerAccess(peer, 0);
  if (code == kAlreadyEnabled) {
    runtime().cudaGetLastError();  // the program does not ask for this one
  } else {
    check(code, "nccl: access to another GPU's memory");
  }
}

}  // namespace

UniqueId new_unique_id() {
  static std::mutex mutex;
  static unsigned long long number = 0;
  const std::lock_guard lock(mutex);
  UniqueId id{};
  const IdText text{kMark, ::getpid(), ++number};
  std::memcpy(id.bytes, &text, sizeof text);
  return id;
}

std::shared_ptr<Clique> clique_of(const UniqueId& id, int ranks) {
  static std::mutex mutex;
  static auto& cliques = *new std::map<unsigned long long, std::shared_ptr<Clique>>;
  IdText text{};
  std::memcpy(&text, id.bytes, sizeof text);
  require(text.mark == kMark);
  if (text.process != ::getpid()) refuse("ncclCommInitRank: a communicator of several processes");
  const std::lock_guard lock(mutex);
  std::shared_ptr<Clique>& clique = cliques[text.number];
  if (clique == nullptr) clique = std::make_shared<Clique>(ranks);
  return clique;
}

void Clique::join(int rank, int ranks, const Place& place) {
  const std::lock_guard lock(mutex_);
  require(static_cast<std::size_t>(ranks) == places_.size());
  Place& own = places_[static_cast<std::size_t>(rank)];
  require(own.inbox == nullptr);
  own = place;
  ++joined_;
  changed_.notify_all();
}

std::vector<Clique::Place> Clique::wait() {
  constexpr std::chrono::seconds kLong{20};
  std::unique_lock lock(mutex_);
  const auto complete = [&] { return joined_ == static_cast<int>(places_.size()); };
  if (!changed_.wait_for(lock, kLong, complete)) {
    std::fprintf(stderr, "lockstep: ncclCommInitRank waits: %d of %zu ranks of this process are there\n",
                 joined_, places_.size());
    changed_.wait(lock, complete);
  }
  return places_;
}

Communicator::Communicator(std::shared_ptr<Clique> clique, int rank, int ranks)
    : clique_(std::move(clique)),
      sent_(static_cast<std::size_t>(ranks)),
      received_(static_cast<std::size_t>(ranks)) {
  member_.rank = rank;
  member_.ranks = ranks;
  const Runtime& rt = runtime();
  check(rt.cudaGetDevice(&device_), "cudaGetDevice");
  void* inbox = nullptr;
  check(rt.cudaMalloc(&inbox, sizeof(Inbox)), "nccl: memory for a communicator");
  inbox_ = static_cast<Inbox*>(inbox);
  check(rt.cudaMemset(inbox, 0, sizeof(Inbox)), "nccl: memory for a communicator");
  check(rt.cudaDeviceSynchronize(), "nccl: memory for a communicator");
  clique_->join(rank, ranks, {inbox_, device_});
}

Communicator::~Communicator() {
  const Runtime& rt = runtime();
  if (last_ != nullptr) rt.cudaEventDestroy(last_);
  if (table_ != nullptr) rt.cudaFree(table_);
  if (inbox_ != nullptr) rt.cudaFree(inbox_);
}

void Communicator::meet() {
  const OnDevice on(device_);
  const Runtime& rt = runtime();
  const std::vector<Clique::Place> places = clique_->wait();
  std::vector<Inbox*> inboxes;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const bool self = static_cast<int>(rank) == member_.rank;
    if (!self && places[rank].device == device_) refuse("ncclCommInitRank: two ranks on one GPU");
    if (!self) enable_access(places[rank].device);
    inboxes.push_back(places[rank].inbox);
  }
  const std::size_t bytes = inboxes.size() * sizeof(Inbox*);
  check(rt.cudaMalloc(&table_, bytes), "nccl: memory for a communicator");
  check(rt.cudaMemcpy(table_, inboxes.data(), bytes, kHostToDevice), "nccl: copying to a communicator");
  constexpr unsigned kNoTiming = 2;
  check(rt.cudaEventCreateWithFlags(&last_, kNoTiming), "nccl: an event");
  member_.inboxes = static_cast<Inbox* const*>(table_);
}

void Communicator::begin(Stream stream) const {
  require(member_.inboxes != nullptr);
  int capturing = 0;
  check(runtime().cudaStreamIsCapturing(stream, &capturing), "cudaStreamIsCapturing");
  // The number of an operation is part of its launch: a graph that is launched again would not wait.
  if (capturing != 0) refuse("NCCL in a stream that is being captured");
  if (used_ && stream != last_stream_)
    check(runtime().cudaStreamWaitEvent(stream, last_, 0),
          "nccl: waiting for the communicator's last operation");
}

void Communicator::end(Stream stream) {
  check(runtime().cudaEventRecord(last_, stream), "nccl: an event");
  last_stream_ = stream;
  used_ = true;
}

void Communicator::run(const std::string& kernel, unsigned blocks, Job job, Stream stream) {
  const std::lock_guard lock(mutex_);
  const OnDevice on(device_);
  begin(stream);
  job.sequence = ++sequence_;
  kernels().launch(kernel.c_str(), {blocks, 1, 1}, {kThreads, 1, 1}, 0, stream, member_, job);
  end(stream);
}

void Communicator::exchange(const std::vector<Message>& messages, Stream stream) {
  const std::lock_guard lock(mutex_);
  const OnDevice on(device_);
  begin(stream);
  Exchange exchange{};
  unsigned groups = 0;
  for (const Message& message : messages) {
    unsigned& number = (message.sends ? sent_ : received_)[static_cast<std::size_t>(message.peer)];
    ++number;
    unsigned group = 0;
    while (group < groups && (exchange.peers[group].peer != message.peer ||
                              (exchange.peers[group].sends != 0) != message.sends))
      ++group;
    Messages& peer = exchange.peers[group];
    if (group == groups) {
      ++groups;
      peer.peer = message.peer;
      peer.sends = message.sends ? 1 : 0;
      peer.first = number;
    }
    if (peer.count == Messages::kSize)
      refuse("ncclGroupEnd: more than 8 messages between two ranks in a group");
    peer.memory[peer.count] = message.memory;
    peer.bytes[peer.count] = message.bytes;
    ++peer.count;
  }
  kernels().launch("lockstep_nccl_messages", {groups * kReceiverBlocks, 1, 1}, {kThreads, 1, 1}, 0, stream,
                   member_, exchange);
  end(stream);
}

}  // namespace lockstep::libraries::nccl
