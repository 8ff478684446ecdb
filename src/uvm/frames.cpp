#include "uvm/frames.hpp"

#include <algorithm>
#include <cassert>

namespace lockstep::uvm {

Frames::Frames(std::uint64_t frames, bool root_chunks, const PageTable& table)
    : table_(&table), all_(frames), free_(frames), root_chunks_(root_chunks), chunks_(gives_chunks()) {
  assert(frames > 0);
}

void Frames::take(TreeIndex tree, std::uint64_t pages) {
  free_ -= needed(tree, pages);
  if (!chunks_) return;
  if (tree >= has_chunk_.size()) has_chunk_.resize(tree + 1);
  has_chunk_[tree] = true;
}

void Frames::give(const Run& run) {
  if (!chunks_) {
    free_ = std::min(all_, free_ + run.pages);
    return;
  }
  const Tree& tree = (*table_)[run.tree];
  if (!(tree.resident | tree.incoming | tree.leaving).empty() || !has_chunk_[run.tree]) return;
  has_chunk_[run.tree] = false;
  free_ += tree.pages;
}

void Frames::enlarge(std::uint64_t frames) {
  if (frames <= all_) return;
  const bool unused = free_ == all_;
  free_ += frames - all_;
  all_ = frames;
  if (unused) chunks_ = gives_chunks();
}

void Frames::reset(std::uint64_t taken) {
  free_ = all_ - taken;
  has_chunk_.assign(has_chunk_.size(), false);
}

}  // namespace lockstep::uvm
