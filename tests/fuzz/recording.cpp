// Any bytes as what the processes of an MPI program have called, one behind the other: recordings whose
// numbers are in range and whose calls can be scheduled, or one error.
#include "messages/recording.hpp"

#include <string_view>
#include <vector>

#include "messages/schedule.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "util/error.hpp"

namespace {

using namespace lockstep;
using messages::Call;
using messages::Recording;

constexpr std::string_view kHead = "lockstep-mpi ";

void require(bool holds) {
  if (!holds) __builtin_trap();
}

void check(const Recording& r) {
  require(r.rank < r.size);
  for (const auto& c : r.communicators) {
    require(!c.members.empty());
    for (const std::uint16_t member : c.members) require(member < r.size);
  }
  std::uint64_t position = 0;
  for (const Call& c : r.calls) {
    require(c.position >= position && c.peer < r.size);
    position = c.position;
    if (c.kind == Call::Kind::kClock || c.kind == Call::Kind::kComplete) continue;
    require(c.communicator < r.communicators.size());
    const auto& of = r.communicators[c.communicator];
    require(c.root < of.members.size());
    for (const std::uint32_t member : c.to) require(member < of.members.size());
    for (const std::uint32_t member : c.from) require(member < of.members.size());
    if (c.kind == Call::Kind::kOneSided || c.kind == Call::Kind::kOrder) require(of.window.has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Recording> all;
  try {
    while (!text.empty()) {
      const std::size_t next = text.find(kHead, 1), end = std::min(next, text.size());
      all.push_back(messages::read_recording(fuzz::write("calls", text.substr(0, end))));
      check(all.back());
      text.remove_prefix(end);
    }
    for (std::size_t r = 0; r < all.size(); ++r)
      if (all[r].rank != r || all[r].size != all.size()) return 0;
    if (!all.empty()) (void)messages::schedule(all, {});
  } catch (const UserError&) {
  }
  return 0;
}
