#include "mem/controller.hpp"

namespace lockstep::mem {

Controller::Bursts Controller::bursts(SectorMask sectors, std::uint32_t burst_bytes) {
  Bursts result{0, 0};
  const std::uint32_t in_burst = burst_bytes / kSectorBytes;
  const auto whole = static_cast<unsigned>((1u << in_burst) - 1);
  for (unsigned s = 0; s < kSectorsPerLine; s += in_burst) {
    if (!(sectors & whole << s)) continue;
    ++result.count;
    result.covered = static_cast<SectorMask>(result.covered | whole << s);
  }
  return result;
}

void Controller::push(Cycle now, const DramPlace& p, const DramTransaction& work) {
  DramChannel& channel = channels_[p.channel];
  const Cycle visible = to_dram_.floor(now) + 1;
  run_channel(p.channel, visible);
  if (work.write) {
    channel.push_write(visible, work);
  } else {
    channel.push_read(visible, work);
  }
  next_ = std::min(next_, channel.next_event());
  next_catch_up_ = std::min(next_catch_up_, now + latency_ + 1);
  if (full_ || channel.write_room()) return;
  catch_up(visible);
  full_ = true;
}

void Controller::catch_up(Cycle end) {
  next_ = kNever;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    run_channel(c, end);
    next_ = std::min(next_, channels_[c].next_event());
  }
}

bool Controller::tick(Cycle edge, bool visit_all) {
  bool room = false;
  next_ = kNever;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    DramChannel& channel = channels_[c];
    if (visit_all) channel.mark_stale();
    if (visit_all || channel.next_event() <= edge) room |= tick_channel(c, edge, edge + 1);
    next_ = std::min(next_, channel.next_event());
  }
  return room;
}

bool Controller::tick_channel(std::size_t c, Cycle edge, Cycle end) {
  bool room = false;
  channels_[c].tick(
      edge, end,
      [&](const FillTarget& fill, Cycle data_end) {
        const Cycle at = to_l2_.ceil(data_end) + latency_;
        returns_[c].push({at, fill});
        next_return_ = std::min(next_return_, at);
      },
      [&](Cycle) { room = true; });
  return room;
}

bool Controller::idle() const { return channels_idle() && next_return_ == kNever; }

void Controller::dump(std::string& out) const {
  for (const DramChannel& channel : channels_) channel.dump(out);
}

}  // namespace lockstep::mem
