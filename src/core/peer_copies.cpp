#include "core/peer_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace lockstep::core {
namespace {

/// Those that [begin, begin + bytes) of one line touches.
SectorMask sectors_of(Address begin, std::uint64_t bytes) {
  const unsigned first = sector_in_line(begin), last = sector_in_line(begin + bytes - 1);
  return static_cast<SectorMask>((2u << last) - (1u << first));
}

}  // namespace

void PeerCopies::add(const icnt::CopyCommand& command, std::uint16_t to, Cycle asked) {
  lanes_[to].jobs.push_back({command, asked});
  note_readable(to);
}

void PeerCopies::add(const uvm::DirectoryCommand& order) {
  std::deque<Job>& jobs = lanes_[order.place].jobs;
  order.pages.for_each_run([&](unsigned first, unsigned pages) {
    Job job;
    job.command.index = order.id;
    job.command.address = job.command.source = order.base + std::uint64_t{first} * uvm::kPageBytes;
    job.command.bytes = std::uint64_t{pages} * uvm::kPageBytes;
    job.ordered = true;
    job.leaves = order.how == uvm::DirectoryCommand::How::kMove;
    job.last = false;
    job.tree = order.tree;
    jobs.push_back(job);
  });
  jobs.back().last = true;
  note_readable(order.place);
}

void PeerCopies::note_readable(std::size_t to) {
  const Lane& lane = lanes_[to];
  const bool may = !lane.jobs.empty() && lane.read < lane.jobs.front().command.bytes && lane.out < lines_;
  may ? readable_.insert(to) : readable_.erase(to);
}

std::optional<PeerCopies::Line> PeerCopies::next_line() {
  if (!has_line()) return std::nullopt;
  turn_ = readable_.next_after(turn_);
  Lane& lane = lanes_[turn_];
  const icnt::CopyCommand& copy = lane.jobs.front().command;
  const Address source = copy.source + lane.read;
  const std::uint64_t bytes = std::min(copy.bytes - lane.read, line_of(source) + kLineBytes - source);
  const Line line{static_cast<std::uint16_t>(turn_), line_of(source), line_of(copy.address + lane.read),
                  sectors_of(source, bytes), lane.jobs.front().leaves};
  lane.read += bytes;
  ++lane.out;
  note_readable(turn_);
  return line;
}

std::optional<PeerCopies::Done> PeerCopies::written(std::uint16_t to, Cycle now) {
  Lane& lane = lanes_[to];
  --lane.out;
  note_readable(to);
  if (lane.out > 0 || lane.read < lane.jobs.front().command.bytes) return std::nullopt;
  const Job job = lane.jobs.front();
  const icnt::CopyDone done{job.command.index, std::max(job.asked, lane.free_since), now};
  lane.free_since = now;
  lane.jobs.pop_front();
  lane.read = 0;
  note_readable(to);
  if (!job.last) return std::nullopt;
  return Done{done, job.ordered, job.tree};
}

bool PeerCopies::idle() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.jobs.empty(); });
}

void PeerCopies::dump(std::string& out) const {
  for (std::size_t to = 0; to < lanes_.size(); ++to) {
    const Lane& lane = lanes_[to];
    if (lane.jobs.empty()) continue;
    fmt::format_to(
        std::back_inserter(out),
        "  copy to device {}, command {}: {} of {} bytes read, {} lines under way, {} copies behind it\n", to,
        lane.jobs.front().command.index, lane.read, lane.jobs.front().command.bytes, lane.out,
        lane.jobs.size() - 1);
  }
}

}  // namespace lockstep::core
