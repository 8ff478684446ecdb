#include "net/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "net/span.hpp"

namespace lockstep::net {

using icnt::AccessKind;
using OperationKind = trace::NetOperation::Kind;

Operations::Operations(NicPort& port, const config::SystemConfig& system, const Clock& clock)
    : port_(&port),
      config_(system.network.nic),
      clock_(clock),
      occupancy_(clock.cycles(config_.op_occupancy_ps, 1)),
      process_(clock.cycles(config_.process_ps)),
      running_(config_.operations) {
  for (std::uint32_t d = 0; d < system.devices.size(); ++d) place(d, system);
  for (std::uint32_t i = config_.operations; i > 0; --i) free_.push_back(i - 1);
}

void Operations::place(std::uint32_t device, const config::SystemConfig& system) {
  const bool processes = system.served_by(config::NetDesignTraits::Server::kProcesses);
  const std::uint32_t memory = system.memory_of(device);
  nic_of_.push_back(static_cast<std::uint16_t>(system.nic_of(device)));
  memory_of_.push_back(static_cast<std::uint16_t>(memory));
  signals_of_.push_back(static_cast<std::uint16_t>(processes ? system.host_of(device) : memory));
}

void Operations::ring(Cycle now, QueuePair& pair, std::uint64_t number) {
  ++counters_.doorbells;
  const std::uint64_t ps = clock_.ps(now);
  pair.command[pair.place(number)].moment(Moment::kRung) = ps;
  commands_.enter(ps);
  waiting_.enter(ps);
  rung_.push({&pair, number});
}

void Operations::tick(Cycle now) {
  begin_operations(now);
  while (has_place()) {
    if (!complete_.empty()) {
      write_record(now, complete_.front());
      complete_.pop();
    } else if (!signals_.empty()) {
      write_signal(now, signals_.front());
      signals_.pop();
    } else if (may_fetch()) {
      fetch();
    } else if (!moving_.empty()) {
      const std::uint32_t number = moving_.front();
      moving_.pop();
      begin_piece(now, number);
      if (running_[number].moves()) moving_.push(number);
    } else {
      return;
    }
  }
}

void Operations::fetch() {
  const auto [pair, number] = rung_.front();
  rung_.pop();
  const std::uint32_t at = (fetched_head_ + fetched_count_++) % kFetches;
  fetched_[at] = {pair, pair->place(number), kNever};
  link::Message message;
  message.access = read_of(AccessKind::kLoad, pair->command_address(number), trace::kNetEntryBytes);
  message.access.tag = accesses_.add({0, at, 0, Step::kFetch, {message.access.sectors, 0}}) << 1;
  port_->send(pair->owner, message);
}

void Operations::begin_operations(Cycle now) {
  while (fetched_count_ > 0 && !free_.empty()) {
    const Fetched& first = fetched_[fetched_head_];
    if (first.ready > now || next_begin_ > now) return;
    next_begin_ = now + occupancy_;
    begin(now, first);
    fetched_head_ = (fetched_head_ + 1) % kFetches;
    --fetched_count_;
  }
}

void Operations::begin(Cycle now, const Fetched& fetched) {
  const std::uint32_t number = free_.back();
  free_.pop_back();
  ++running_count_;
  Running& running = running_[number];
  running = {fetched.pair, fetched.place, fetched.pair->command[fetched.place].operation, 0, 0, 0,
             true,         false};
  const trace::NetOperation& what = running.what;
  running.signalled = what.kind != OperationKind::kPut || what.signal == 0;
  running.command().moment(Moment::kSent) = clock_.ps(now);  // until something is sent
  waiting_.leave(clock_.ps(now));
  ++counters_.begun[static_cast<std::size_t>(what.kind)];
  (what.kind == OperationKind::kGet ? counters_.bytes_got : counters_.bytes_put) += what.bytes;
  if (running.moves()) return moving_.push(number);
  settle(number);
}

/// Reads the next piece of a put that is not inlined, or of a get.
void Operations::begin_piece(Cycle now, std::uint32_t number) {
  Running& running = running_[number];
  const trace::NetOperation& what = running.what;
  if (what.kind == OperationKind::kAtomic) return begin_atomic(now, number);
  const bool put = what.kind == OperationKind::kPut;
  const Address source = (put ? what.local : what.remote) + running.begun;
  const Address destination = (put ? what.remote : what.local) + running.begun;
  const std::uint32_t bytes = bytes_in_line(destination, what.bytes - running.begun);
  running.begun += bytes;
  ++running.unwritten;
  ++running.out;
  const std::uint32_t access = accesses_.add({destination, number, bytes, Step::kRead, {}});
  if (put && what.inlined) return write_piece(now, access);
  const std::uint32_t first = bytes_in_line(source, bytes);
  accesses_.at(access).missing = {sectors_of(source, first),
                                  bytes > first ? sectors_of(source + first, bytes - first) : SectorMask{0}};
  read(access, 0, source, first, number, now);
  if (bytes > first) read(access, 1, source + first, bytes - first, number, now);
}

void Operations::read(std::uint32_t access, unsigned which, Address begin, std::uint32_t bytes,
                      std::uint32_t number, Cycle now) {
  Running& running = running_[number];
  link::Message message;
  message.access = read_of(bulk(running) ? AccessKind::kCopyRead : AccessKind::kLoad, begin, bytes);
  message.access.tag = access << 1 | which;
  if (running.what.kind == OperationKind::kPut)
    return port_->send(memory_at(running.pair->device, begin), message);
  to_target(now, running, message, number, memory_at(running.what.target, begin));
}

void Operations::begin_atomic(Cycle now, std::uint32_t number) {
  Running& running = running_[number];
  const auto bytes = static_cast<std::uint32_t>(running.what.bytes);
  running.begun = running.what.bytes;
  ++running.out;
  link::Message message;
  message.access = write_of(AccessKind::kAtomic, running.what.remote, bytes);
  message.access.operations = static_cast<std::uint8_t>(bytes / 4);
  message.access.signals = true;
  message.access.tag = accesses_.add({running.what.local, number, bytes, Step::kAtomic, {}}) << 1;
  to_target(now, running, message, number, memory_at(running.what.target, running.what.remote));
}

/// All of the piece is there.
void Operations::write_piece(Cycle now, std::uint32_t access) {
  Access& piece = accesses_.at(access);
  piece.step = Step::kWrite;
  const std::uint32_t number = piece.operation;
  Running& running = running_[number];
  const trace::NetOperation& what = running.what;
  const bool whole = piece.destination % kSectorBytes == 0 && piece.bytes % kSectorBytes == 0;
  link::Message message;
  message.access = write_of(bulk(running) && whole ? AccessKind::kCopy : AccessKind::kStore,
                            piece.destination, piece.bytes);
  message.access.copy = static_cast<icnt::CopyInL2>(config_.payload_in_l2);
  message.access.signals = what.kind == OperationKind::kPut && what.bytes <= trace::kMaxSignallingPut;
  message.access.tag = access << 1;
  --running.unwritten;
  if (what.kind == OperationKind::kPut) {
    to_target(now, running, message, number, memory_at(what.target, piece.destination));
  } else {
    port_->send(memory_at(running.pair->device, piece.destination), message);
  }
  settle(number);
}

void Operations::write_signal(Cycle now, std::uint32_t number) {
  Running& running = running_[number];
  link::Message message;
  message.access = write_of(AccessKind::kStore, running.what.signal, 8);
  message.access.signals = true;
  message.access.tag = accesses_.add({0, number, 0, Step::kWrite, {}}) << 1;
  message.after_data = true;
  to_target(now, running, message, number, signals_of_[running.what.target]);
}

void Operations::write_record(Cycle now, std::uint32_t number) {
  const Running& running = running_[number];
  QueuePair& pair = *running.pair;
  const std::uint32_t place = running.place;
  end(now, number);
  if (pair.counters != nullptr) {
    pair.record[place] = 1;
    return deal_in_order(now, pair);
  }
  const std::uint64_t record = pair.records_written++;
  pair.record[pair.place(record)] = place;
  ++counters_.records;
  write_word(pair, pair.record_address(record), false);
}

void Operations::end(Cycle now, std::uint32_t number) {
  running_[number].command().moment(Moment::kComplete) = clock_.ps(now);
  commands_.leave(clock_.ps(now));
  free_.push_back(number);
  --running_count_;
}

/// The status word lacks the signal of its kernel's store, which has rung the doorbell.
void Operations::deal_in_order(Cycle now, QueuePair& pair) {
  for (std::uint32_t place = pair.place(pair.records_written); pair.record[place] != 0;
       place = pair.place(++pair.records_written)) {
    pair.record[place] = 0;
    ++counters_.records;
    ++pair.counters->records;
    write_word(pair, pair.command_address(pair.records_written), true);
    write_word(pair, pair.index, false);
    Command& command = pair.command[place];
    command.moment(Moment::kNoticed) = command.moment(Moment::kFinished) = clock_.ps(now);
    pair.entries_open.leave(clock_.ps(now));
    pair.counters->add(command.operation, pair.device, pair.command_address(pair.records_written), command.at,
                       command.operation.blocking);
  }
}

void Operations::write_word(QueuePair& pair, Address word, bool twice) {
  link::Message message;
  message.access = write_of(AccessKind::kStore, word, 4);
  message.access.signals = true;
  message.access.signals_twice = twice;
  message.access.tag = accesses_.add({0, 0, 0, Step::kRecord, {}}) << 1;
  port_->send(pair.owner, message);
}

/// To the target's NIC, for the memory of endpoint `at`.
void Operations::to_target(Cycle now, Running& running, link::Message message, std::uint32_t number,
                           std::uint16_t at) {
  if (!running.sent) running.command().moment(Moment::kSent) = clock_.ps(now);
  running.sent = true;
  message.set_device(at);
  message.operation = static_cast<std::uint16_t>(number);
  port_->send(nic_of_[running.what.target], message);
}

void Operations::replied(Cycle now, const link::Message& reply) {
  const icnt::Request& got = reply.access;
  const std::uint32_t number = got.tag >> 1;
  Access& access = accesses_.at(number);
  SectorMask& missing = access.missing[got.tag & 1];
  missing = static_cast<SectorMask>(missing & ~got.sectors);
  if ((access.missing[0] | access.missing[1]) != 0) return;
  ++counters_.accesses;
  const Access done = access;
  if (done.step == Step::kRead) return write_piece(now, number);
  if (done.step == Step::kAtomic && done.destination != 0) {
    ++running_[done.operation].unwritten;
    return write_piece(now, number);
  }
  accesses_.free(number);
  if (done.step == Step::kFetch) {
    Fetched& fetched = fetched_[done.operation];
    fetched.ready = now + process_;
    fetched.pair->command[fetched.place].moment(Moment::kFetched) = clock_.ps(now);
    ++counters_.commands;
  } else if (done.step != Step::kRecord) {
    --running_[done.operation].out;
    settle(done.operation);
  }
}

/// What is to be done next, once all data are on their way, and once all is acknowledged.
void Operations::settle(std::uint32_t number) {
  Running& running = running_[number];
  if (running.moves() || running.unwritten > 0) return;
  if (!running.signalled) {
    running.signalled = true;
    signals_.push(number);
    ++running.out;
    return;
  }
  if (running.out == 0) complete_.push(number);
}

Cycle Operations::next_event(Cycle now) const {
  const bool work = !complete_.empty() || !signals_.empty() || may_fetch() || !moving_.empty();
  if (work && has_place()) return now + 1;
  if (fetched_count_ == 0 || free_.empty()) return kNever;
  const Cycle ready = fetched_[fetched_head_].ready;
  return ready == kNever ? kNever : std::max({ready, next_begin_, now + 1});
}

void Operations::dump(std::string& out) const {
  fmt::format_to(std::back_inserter(out),
                 "  {} operations run, {} accesses under way, {} doorbells and {} commands wait\n",
                 running_count_, accesses_.used(), rung_.size(), fetched_count_);
}

}  // namespace lockstep::net
