// The calls of a process of an MPI program as what its host does about single messages.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "messages/algorithms.hpp"
#include "messages/recording.hpp"

namespace lockstep::messages {

/// What tells the messages from one process to another apart: communicator, call of a collective there (-1:
/// point to point), tag or step.
using Key = std::tuple<std::uint64_t, std::int64_t, std::int64_t>;

struct Step {
  enum class What : std::uint8_t {
    kSend,
    kAccept,
    kSent,     // waits for what `begun` has sent
    kArrived,  // waits for what `begun` accepts
    kCombine,
    kEnter,  // a call, no more
    kClock,  // the clock is read
    kPut,
    kGet,
    kAtomic,
    kDone,  // waits for the one-sided operation that `begun` began
  } what = What::kSend;
  std::uint64_t position = 0;
  bool within = false;
  std::uint16_t peer = 0;
  Key key{};                           // kSend, kAccept
  std::uint64_t order = 0;             // kAccept: among those with its key, which match in this order
  std::uint64_t bytes = 0;             // kSend, kCombine, one-sided operations
  Address address = 0;                 // kSend, kAccept, one-sided operations
  Address remote = 0;                  // one-sided operations: at the peer
  std::size_t begun = 0;               // kSent, kArrived, kDone: index of the step
  std::optional<std::size_t> match{};  // kSend, kAccept: index of the other process's step
  std::uint64_t part_of = 0;           // what is left of a collective call with a request: its number, from 1
  std::size_t since = 0;               // of that: how many steps come before it in any case
  std::uint64_t number = 0;            // kSend: among all to that process; one-sided operations: likewise
};
[[nodiscard]] constexpr bool is_one_sided(Step::What what) {
  return what == Step::What::kPut || what == Step::What::kGet || what == Step::What::kAtomic;
}

/// By the window's id and process.
using Windows = std::map<std::pair<std::uint64_t, std::uint16_t>, Window>;

/// In the order of the calls. Of a collective call with a request, what comes before its first wait is done
/// when it is made, and the rest by the call that completes it (but see
/// progress.hpp). Throws UserError.
[[nodiscard]] std::vector<Step> steps_of(const Recording& recording, const Windows& windows,
                                         AllReduce all_reduce);

}  // namespace lockstep::messages
