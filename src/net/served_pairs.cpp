#include "net/served_pairs.hpp"

namespace lockstep::net {

std::uint32_t ServedPairs::of(std::uint16_t device) const {
  std::uint32_t number = 0;
  while (pairs_[number].pair->device != device) ++number;
  return number;
}

bool ServedPairs::full(std::uint32_t number) const {
  const Served& served = pairs_[number];
  return served.taken[served.pair->place(served.issued)];
}

std::uint64_t ServedPairs::write(std::uint32_t number, const OperationId& id, const Command& command) {
  Served& served = pairs_[number];
  const std::uint32_t place = served.pair->place(served.issued);
  served.taken[place] = true;
  served.operation[place] = id;
  served.blocking[place] = command.operation.blocking;
  served.pair->command[place] = command;
  return served.issued;
}

void ServedPairs::rung(std::uint32_t number) {
  ++pairs_[number].issued;
  ++pairs_[number].in_flight;
  ++in_flight_;
}

void ServedPairs::notice(std::uint32_t number, std::uint64_t ps) {
  Served& served = pairs_[number];
  Command& command = served.pair->command[served.pair->record[served.pair->place(served.noticed)]];
  command.moment(Moment::kNoticed) = ps;
  served.records.stay(command.moment(Moment::kComplete), ps);
}

ServedPairs::Completion ServedPairs::complete(std::uint32_t number) {
  Served& served = pairs_[number];
  const std::uint32_t place = served.pair->record[served.pair->place(served.noticed++)];
  served.taken[place] = false;
  --served.in_flight;
  --in_flight_;
  return {served.operation[place], served.blocking[place], &served.pair->command[place]};
}

void ServedPairs::restart() {
  for (Served& served : pairs_) served.pair->first = served.issued;
}

DepthCounters ServedPairs::record_depth(std::uint64_t ps) const {
  DepthCounters all;
  for (const Served& served : pairs_) all.add(served.records.counters(ps));
  return all;
}

}  // namespace lockstep::net
