// How a service thread accesses memory.
#pragma once

#include "net/idle_rounds.hpp"

namespace lockstep::net {

/// ServiceThread's `Port` is its way to memory. Its functions begin accesses and return how many replies
/// will come, by replied() or poll_replied():
///   wants_to_move(), move(pair)                the pair gets other memory, while nothing is under way
///   poll(now, device, word, signals, request)  of an entry; poll_replied(again) says whether the word lacks
///                                              signals. request.patient: the reply may come late, when
///                                              it does not any more or stop_waiting() is called.
///                                              request.before: how many earlier polls of it were not sent
///   read_entry(now, device, entry)             the rest of one that is there
///   run_call(now)                              the lines that a call's code and data touch
///   store(now, device, word)                   4 bytes of device memory, a signal
///   write_command(now, pair, number), ring(now, pair)
///   poll_record(now, pair, number, request)    likewise
///   elides()                                   whether the thread may sleep (IdleRounds); then noticed() is
///                                              called for what request.watch names
///
/// How a thread polls.
struct PollRequest {
  bool patient = false;
  std::uint64_t before = 0;        // polls of the word that were not sent
  const Watched* watch = nullptr;  // no poll: the word is to be watched
  bool uncalled = false;           // its reply is known: it is sent only to be counted
};

}  // namespace lockstep::net
