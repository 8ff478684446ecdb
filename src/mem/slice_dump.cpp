// What a slice waits for, as text.
#include <fmt/format.h>

#include <iterator>

#include "mem/slice.hpp"

namespace lockstep::mem {

void Slice::dump(std::string& out) const {
  if (quiescent()) return;
  auto to = std::back_inserter(out);
  static constexpr const char* kStalls[] = {"nothing", "room in the data pipeline", "a fill",
                                            "room in the DRAM write queue", "the port to the other half"};
  fmt::format_to(
      to, "  slice {}: next event at L2 edge {}, {} requests at the port, {} lines in flight, {} replies\n",
      slice_, next_, in_.pending(), mshrs_.in_use(), pipe_.size() + atomic_pipe_.size() + passing_.size());
  for (const Latch& latch : latches_)
    if (latch.full)
      fmt::format_to(to, "    head: kind {} line {:#x} sectors {:#x} for {}, waits for {}\n",
                     static_cast<int>(latch.request.kind), latch.request.line, latch.request.sectors,
                     latch.request.reply_to, kStalls[static_cast<unsigned>(latch.stall)]);
  if (!out_.empty()) fmt::format_to(to, "    reply port: {} credits away\n", out_.credits_out());
  mshrs_.for_each(tags_, [&](std::uint16_t mshr, LineIndex index, std::uint32_t waiters) {
    fmt::format_to(to, "    mshr {}: line {:#x}{}, sectors {:#x} to come, {} requests wait\n", mshr,
                   tags_[index].address, tags_[index].far ? " of the other half" : "", tags_[index].pending,
                   waiters);
  });
  dump_locks(out);
  dump_parked(out);
  if (!far_) return;
  fmt::format_to(to,
                 "    other half: {} requests at the port, {} lines and {} writes there, {} credits away\n",
                 far_->in.pending(), far_in_flight_, far_->forwarded.size() - far_->free.size(),
                 far_->out.credits_out());
}

}  // namespace lockstep::mem
