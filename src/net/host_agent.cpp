#include "net/host_agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "net/span.hpp"

namespace lockstep::net {

using icnt::AccessKind;

unsigned HostPort::poll(Cycle now, std::uint16_t device, Address word, std::uint32_t signals,
                        const PollRequest& how) {
  if (host_->has_queues_) return poll_own(now, word, signals, how.patient);
  icnt::Request request = read_of(AccessKind::kAwait, word, host_->config_.uncached_read_bytes);
  request.set_awaited(word, signals);
  host_->send_request(device, {thread_, HostAgent::Out::What::kPoll, 0}, request);
  return 1;
}

/// The whole entry, also what the poll has read: a poll keeps nothing.
unsigned HostPort::read_entry(Cycle now, std::uint16_t device, Address entry) {
  if (host_->has_queues_) {
    host_->own_reads_.push({now + host_->memory_cycles_, thread_});
    return 1;
  }
  device_ = device;
  at_ = entry;
  left_ = trace::kNetEntryBytes;
  const std::uint64_t reads =
      (left_ + host_->config_.uncached_read_bytes - 1) / host_->config_.uncached_read_bytes;
  for (std::uint32_t i = 0; i < host_->config_.uncached_reads && left_ > 0; ++i) read_next();
  return static_cast<unsigned>(reads);
}

void HostPort::read_next() {
  const auto bytes =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(left_, host_->config_.uncached_read_bytes));
  host_->send_request(device_, {thread_, HostAgent::Out::What::kRead, 0},
                      read_of(AccessKind::kLoad, at_, bytes));
  at_ += bytes;
  left_ -= bytes;
}

void HostPort::read_more(Cycle) {
  if (left_ > 0) read_next();
}

unsigned HostPort::store(Cycle, std::uint16_t device, Address word) {
  icnt::Request request = write_of(AccessKind::kStore, word, 4);
  request.signals = true;
  if (host_->has_queues_) {
    host_->signals_.count(request);
  } else {
    host_->send_request(device, {thread_, HostAgent::Out::What::kPosted, 0}, request);
  }
  return 0;
}

unsigned HostPort::ring(Cycle, QueuePair& pair) {
  host_->send_request(pair.nic, {thread_, HostAgent::Out::What::kPosted, 0},
                      write_of(AccessKind::kStore, pair.doorbell, 8));
  return 0;
}

unsigned HostPort::poll_record(Cycle now, QueuePair& pair, std::uint64_t number, const PollRequest& how) {
  return poll_own(now, pair.record_address(number), pair.signals(number), how.patient);
}

unsigned HostPort::poll_own(Cycle now, Address word, std::uint32_t signals, bool patient) {
  const bool again = host_->lacks(word, signals);
  if (again && patient) {
    waits_ = true;
    word_ = word;
    signals_ = signals;
    since_ = now;
    return 1;
  }
  host_->threads_[thread_]->program.poll_replied(again);
  return 0;
}

void HostPort::stop_waiting(Cycle now) {
  if (!waits_) return;
  waits_ = false;
  host_->threads_[thread_]->program.found_late(now, since_, true);
}

void HostPort::signal_came(Cycle now) {
  if (!waits_ || host_->lacks(word_, signals_)) return;
  waits_ = false;
  host_->threads_[thread_]->program.found_late(now, since_, false);
}

HostAgent::Thread::Thread(HostAgent& host, std::uint32_t number, const config::NetworkConfig& config,
                          const Clock& clock)
    : port(host, number),
      program(port, config.service,
              InstructionCosts(clock, config.host_threads.khz, config.host_threads.milli_ipc), clock) {}

HostAgent::HostAgent(link::EndpointWiring wiring, const config::SystemConfig& system, const News& news,
                     const std::vector<QueuePair*>& pairs)
    : links_(std::move(wiring)),
      from_(news),
      config_(system.network.host_threads),
      memory_cycles_(Clock(system.devices.front().clock.core_khz).cycles(config_.memory_ps, 1)),
      news_(news.span),
      has_queues_(config::traits(system.network.node.design).queues_on_host) {
  const Clock clock(system.devices.front().clock.core_khz);
  const bool processes = system.served_by(config::NetDesignTraits::Server::kProcesses);
  for (std::uint32_t t = 0; !processes && !pairs.empty() && t < config_.threads; ++t)
    threads_.push_back(std::make_unique<Thread>(*this, t, system.network, clock));
  HostProcess::Host& host = *this;
  Address memory = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    place(*pairs[i], memory);
    if (processes) {
      processes_.emplace_back(host, *pairs[i], system.network, clock);
    } else {
      threads_[i % threads_.size()]->program.add_pair(*pairs[i]);
    }
  }
}

void HostAgent::place(QueuePair& pair, Address& memory) {
  const std::uint64_t bytes = pair.entries() * trace::kNetEntryBytes;
  pair.commands = memory;
  pair.records = memory + bytes;
  memory += 2 * bytes;
}

Cycle HostAgent::advance(Cycle from, Cycle to) {
  if (from_.network) news_.gather(*from_.network, from_.agent, from);
  links_.gather(from);
  Cycle now = std::max(from, next_event(from == 0 ? 0 : from - 1));
  while (now < to) {
    tick(now);
    now = next_event(now);
  }
  return std::max(now, to);
}

void HostAgent::tick(Cycle now) {
  news_.drain(now, [&](std::uint32_t, const AgentNews& news) { receive(now, news); });
  links_.drain(now, [&](const link::Message& message) { take(now, message); });
  for (; !replies_.empty() && replies_.front().due <= now; replies_.pop())
    links_.send(replies_.front().to, replies_.front().message);
  for (; !own_reads_.empty() && own_reads_.front().due <= now; own_reads_.pop())
    threads_[own_reads_.front().thread]->program.replied();
  for (const auto& thread : threads_) thread->program.tick(now);
  for (HostProcess& process : processes_) process.tick(now);
  links_.tick(now);
}

void HostAgent::receive(Cycle now, const AgentNews& news) {
  if (news.kind == AgentNews::Kind::kTask) {
    return std::ranges::find(processes_, news.device, &HostProcess::device)
        ->add(now, news.task, news.command);
  }
  if (news.kind == AgentNews::Kind::kMemory) return;  // commands and records are in its own
  if (threads_.empty()) return;                       // queues that kernels do not use
  const bool queue = news.kind == AgentNews::Kind::kQueue;
  ServiceThread<HostPort>& thread =
      threads_[(queue ? news.queue : news.operation.queue) % threads_.size()]->program;
  queue ? thread.add_queue(news) : thread.add_operation(now, news);
}

/// A NIC reads a command, or writes a record; a kernel accesses a queue; or a reply.
void HostAgent::take(Cycle now, const link::Message& message) {
  if (message.is_reply) return take_reply(now, message);
  Reply reply{now + memory_cycles_, message.from, message};
  reply.message.is_reply = true;
  if (message.access.kind == AccessKind::kAwait) reply.message.access.again = signals_.lacks(message.access);
  replies_.push(reply);
  if (!message.access.signals) return;
  signals_.count(message.access);
  if (message.access.entry_status) visible_.push_back({icnt::entry_of(message.access), now});
  for (const auto& thread : threads_) thread->port.signal_came(now);
  for (HostProcess& process : processes_) process.signal_came();
}

void HostAgent::take_reply(Cycle now, const link::Message& reply) {
  Out& under_way = out_.at(reply.access.tag);
  under_way.missing = static_cast<SectorMask>(under_way.missing & ~reply.access.sectors);
  if (under_way.missing != 0) return;
  const Out out = under_way;
  out_.free(reply.access.tag);
  if (out.what == Out::What::kPosted) return;  // as all of processes
  Thread& thread = *threads_[out.thread];
  if (out.what == Out::What::kPoll) {
    thread.program.poll_replied(reply.access.again);
  } else {
    thread.port.read_more(now);
  }
  thread.program.replied();
}

void HostAgent::send_request(std::uint16_t to, Out out, const icnt::Request& request) {
  if (icnt::is_read(request.kind)) out.missing = request.sectors;
  link::Message message;
  message.access = request;
  message.access.tag = out_.add(out);
  links_.send(to, message);
}

void HostAgent::ring(QueuePair& pair) {
  send_request(pair.nic, {0, Out::What::kPosted, 0}, write_of(AccessKind::kStore, pair.doorbell, 8));
}

void HostAgent::task_ended(Cycle now, std::uint32_t command) {
  const Time end = from_.clock.to_time.ceil(now);
  from_.ends->send(from_.agent, 0, end + from_.latency, {command, end});
}

/// Whether the word has not yet had that many signals.
bool HostAgent::lacks(Address word, std::uint32_t signals) const {
  icnt::Request poll = read_of(AccessKind::kAwait, word, 4);
  poll.set_awaited(word, signals);
  return signals_.lacks(poll);
}

Cycle HostAgent::next_event(Cycle now) const {
  Cycle next = std::min(news_.next_arrival(), links_.next_event(now));
  if (!replies_.empty()) next = std::min(next, replies_.front().due);
  if (!own_reads_.empty()) next = std::min(next, own_reads_.front().due);
  for (const auto& thread : threads_) next = std::min(next, thread->program.next_event(now));
  for (const HostProcess& process : processes_) next = std::min(next, process.next_event(now));
  return std::max(next, now + 1);
}

bool HostAgent::quiescent() const {
  return news_.size() == 0 && links_.idle() && replies_.empty() && own_reads_.empty() && out_.used() == 0 &&
         std::ranges::all_of(threads_, [](const auto& thread) { return thread->program.idle(); }) &&
         std::ranges::all_of(processes_, &HostProcess::idle);
}

void HostAgent::dump(std::string& out) const {
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t]->program.idle()) continue;
    fmt::format_to(std::back_inserter(out), "service thread {}:\n", t);
    threads_[t]->program.dump(out);
  }
  for (const HostProcess& process : processes_) process.dump(out);
}

}  // namespace lockstep::net
