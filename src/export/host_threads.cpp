#include "export/host_threads.hpp"

namespace lockstep::exporter {

HostThreads::Thread& HostThreads::thread(std::uint32_t number) {
  while (threads_.size() <= number) {
    Thread added;
    added.done.resize(ranks_);
    if (!threads_.empty()) added = threads_.front();  // it begins at the time of thread 0
    added.chains.clear();
    for (std::uint16_t r = 0; r < ranks_; ++r) added.chains.push_back(draft_->new_chain());
    threads_.push_back(std::move(added));
  }
  return threads_[number];
}

void HostThreads::call(std::uint32_t number, std::uint64_t time_ps, bool returns) {
  Thread& caller = thread(number);
  if (number != caller_ || time_ps > 0) ++version_;
  caller_ = number;
  if (time_ps == 0) return;
  for (std::uint16_t r = 0; r < ranks_; ++r) {
    Frontier before;
    merge_into(before, r);
    const std::uint32_t node =
        draft_->compute(r, {Lane::Kind::kHostThread, number}, time_ps, returns ? "return" : "call", before);
    caller.done[r].set({node, caller.chains[r]});
  }
  caller.waits = waits_;
}

void HostThreads::waited(const Frontier& until) {
  waited_.merge(until);
  ++waits_;
  ++version_;
}

void HostThreads::waited_last(const Frontier& until) {
  waited_ = until;
  ++waits_;
  ++version_;
}

void HostThreads::merge_into(Frontier& stream, std::uint16_t rank) const {
  const Thread& caller = threads_[caller_];
  stream.merge(caller.done[rank]);
  if (caller.waits != waits_) stream.merge(waited_);
}

}  // namespace lockstep::exporter
