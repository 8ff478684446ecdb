// How a service thread accesses memory.
#pragma once

#include "net/idle_rounds.hpp"

namespace lockstep::net {

/// ServiceThread's `Port` is its way to memory. Its functions begin accesses and return how many of them will
/// be answered with answered() or heard():
///   wants_to_move(), move(pair)                the pair gets other memory, while nothing is under way
///   look(now, device, word, signals, ask)      at an entry; heard(again) says whether the word lacks
///                                              signals. ask.patient: may be heard late, when it does not
///                                              any more or stop_waiting() is called. ask.before: how many
///                                              earlier looks at it were not requested
///   read_entry(now, device, entry)             the rest of one that is there
///   run_call(now)                              the lines that a call's code and data touch
///   store(now, device, word)                   4 bytes of device memory, a signal
///   write_command(now, pair, number), ring(now, pair)
///   look_at_record(now, pair, number, ask)     likewise
///   elides()                                   whether the thread may sleep (IdleRounds); then noticed() is
///                                              called for what ask.watch has been asked for
///
/// What a thread asks for with a look.
struct LookAsk {
  bool patient = false;
  std::uint64_t before = 0;        // looks at the word that have not been asked for
  const Watched* watch = nullptr;  // no look: the word is to be watched
  bool uncalled = false;           // its reply is known: it only counts
};

}  // namespace lockstep::net
