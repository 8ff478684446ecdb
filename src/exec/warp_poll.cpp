#include "exec/warp_poll.hpp"

#include <bit>
#include <utility>

namespace lockstep::exec {

void note_poll(WarpState& warp, LaneMask active, const Addresses& addresses, const LaneValues& value,
               bool lock) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
  Split& now = warp.now;
  std::uint64_t places = active, values = active;  // neither waits for the other
  for_lanes(active, [&](int l) {
    places = (std::rotl(places, 5) ^ addresses.lane[l]) * kMix;
    values = (std::rotl(values, 5) ^ value.lane[l]) * kMix;
  });
  const std::uint64_t hash = (std::rotl(places, 5) ^ values) * kMix;
  const bool cycle = warp.polls.add(hash + now.pc, static_cast<unsigned>(std::popcount(active)));
  unsigned place = now.poll_pc[0] == now.pc ? 0 : 1;
  if (now.poll_pc[place] == now.pc && now.poll[place] == hash) {
    ++now.spins;
  } else {
    if (now.poll_pc[place] != now.pc) {
      place = 0;
      std::swap(now.poll[0], now.poll[1]);
      std::swap(now.poll_pc[0], now.poll_pc[1]);
    }
    now.poll_pc[place] = now.pc;
    now.poll[place] = hash;
    now.spins = 0;
  }
  if (cycle && now.spins < kSpinLimit) now.spins = kSpinLimit + 1;
  if (now.spins != 0) now.locks = lock;
}

}  // namespace lockstep::exec
