#include "trace/chunk_team.hpp"

#include <chrono>
#include <utility>

namespace lockstep::trace {

namespace {

constexpr std::uint64_t kMaxEarly = 64;  // CTAs that wait for one before them; some megabytes each at most

template <class T, class... Arguments>
std::unique_ptr<T> take(std::vector<std::unique_ptr<T>>& spare, Arguments&&... arguments) {
  if (spare.empty()) return std::make_unique<T>(std::forward<Arguments>(arguments)...);
  auto taken = std::move(spare.back());
  spare.pop_back();
  return taken;
}

}  // namespace

void ChunkTeam::begin(const KernelHeader& header) {
  header_ = &header;
  for (auto& [index, cta] : early_) spare_.push_back(std::move(cta));
  early_.clear();
  open_->clear();
  jobs_.clear();
  packed_.clear();
  next_ = closed_ = written_ = 0;
}

void ChunkTeam::add(std::span<CtaTrace> ctas, const std::atomic<bool>& failed) {
  Lock lock(mutex_);
  for (CtaTrace& cta : ctas) {
    wait_for_room(lock, cta.index, failed);
    CtaTrace memory;
    if (!spare_.empty()) {
      memory = std::move(spare_.back());
      spare_.pop_back();
    }
    std::swap(memory, cta);
    early_.emplace(memory.index, std::move(memory));
    gather();
  }
  room_.notify_all();
  work(lock);
}

/// The thread that has the CTA for which the others wait never waits.
void ChunkTeam::wait_for_room(Lock& lock, std::uint64_t index, const std::atomic<bool>& failed) {
  using namespace std::chrono_literals;
  while (index != next_ && early_.size() >= kMaxEarly && !failed) room_.wait_for(lock, 1ms);
}

/// Moves CTAs that are next into the open chunk.
void ChunkTeam::gather() {
  for (auto at = early_.begin(); at != early_.end() && at->first == next_; at = early_.erase(at), ++next_) {
    const bool full = open_->add(at->second);
    spare_.push_back(std::move(at->second));
    if (full) close();
  }
}

void ChunkTeam::close() {
  jobs_.push_back({closed_++, std::move(open_)});
  open_ = take(spare_chunks_);
}

void ChunkTeam::work(Lock& lock) {
  while (!jobs_.empty()) {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    pack(lock, std::move(job));
  }
}

/// Without the lock; then writes all chunks that are next.
void ChunkTeam::pack(Lock& lock, Job job) {
  auto packer = take(packers_, level_);
  auto packed = take(spare_packed_);
  lock.unlock();
  packer->pack(*header_, job.chunk->ctas(), *packed);
  job.chunk->clear();
  lock.lock();
  packers_.push_back(std::move(packer));
  spare_chunks_.push_back(std::move(job.chunk));
  packed_.emplace(job.number, std::move(packed));
  for (auto at = packed_.begin(); at != packed_.end() && at->first == written_;
       at = packed_.erase(at), ++written_) {
    file_.add_packed(*at->second);
    spare_packed_.push_back(std::move(at->second));
  }
}

void ChunkTeam::finish() {
  Lock lock(mutex_);
  if (!open_->ctas().empty()) close();
  work(lock);
}

}  // namespace lockstep::trace
