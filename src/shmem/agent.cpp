#include "shmem/agent.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "shmem/effects.hpp"
#include "util/error.hpp"

namespace lockstep::shmem {

namespace {

using CommandKind = trace::Command::Kind;

Address address_of(const void* p) { return reinterpret_cast<Address>(p); }
bool within(Address address, const void* begin, std::uint64_t bytes) {
  return address - address_of(begin) < bytes;
}
/// Or the largest number, where 64 bits do not hold it.
std::uint64_t bytes_of_queues(const World& world) {
  std::uint64_t bytes = std::uint64_t{world.queues} * world.depth;
  return __builtin_mul_overflow(bytes, sizeof(Entry), &bytes) ? ~std::uint64_t{0} : bytes;
}

}  // namespace

void Agent::check_range(unsigned device, const void* begin, std::uint64_t bytes, const char* what) const {
  const Address at = address_of(begin);
  const auto found = memory_.find(at);
  if (!found || found->device != device || found->kind != exec::MemoryKind::kDevice ||
      bytes > found->bytes - (at - found->begin) || at % sizeof(Entry) != 0)
    throw UserError(
        fmt::format("shmem: the {} of PE {} must be {} bytes of memory of device {}, aligned to {}", what,
                    device, bytes, device, sizeof(Entry)));
}

void Agent::check(const World& world) const {
  if (attached()) throw UserError("shmem: a program has one set of PEs at a time");
  if (world.version != kLayoutVersion)
    throw UserError(fmt::format("shmem: the program was built with version {} of shmem.cuh; expected {}",
                                world.version, kLayoutVersion));
  if (world.pes != memory_.devices() || world.pe == nullptr)
    throw UserError(
        fmt::format("shmem: {} PEs; expected one for each of the {} devices", world.pes, memory_.devices()));
  if (world.queues == 0 || !std::has_single_bit(world.depth))
    throw UserError(fmt::format("shmem: {} queues of {} entries; expected some, of a power of two of entries",
                                world.queues, world.depth));
  for (unsigned d = 0; d < world.pes; ++d) {
    const PeMemory& pe = world.pe[d];
    const std::uint64_t queues = world.queues;
    check_range(d, pe.heap, pe.heap_bytes, "symmetric heap");
    check_range(d, pe.entries, bytes_of_queues(world), "queues");
    check_range(d, pe.controls, queues * sizeof(QueueControl), "read indices");
    check_range(d, pe.agent, pe.agent_bytes, "agent's memory");
  }
}

void Agent::attach(const World& world) {
  check(world);
  depth_ = world.depth;
  pes_.assign(world.pe, world.pe + world.pes);
  queues_.resize(world.pes);
  for (unsigned d = 0; d < world.pes; ++d) {
    Queues& own = queues_[d];
    own.number += static_cast<std::uint32_t>(own.next.size());  // of those that were attached before
    own.next.assign(world.queues, 0);
    if (keeps_) record_queues(d);
  }
}

void Agent::detach() { pes_.clear(); }

void Agent::record_queues(unsigned device) {
  const PeMemory& pe = pes_[device];
  trace::Command command{CommandKind::kNetMemory, address_of(pe.agent), pe.agent_bytes};
  command.device = static_cast<std::uint16_t>(device);
  commands_.push_back(command);
  command.kind = CommandKind::kNetQueue;
  command.bytes = depth_ * sizeof(Entry);
  for (std::uint32_t queue = 0; queue < queues_[device].next.size(); ++queue) {
    command.address = address_of(&entry(device, queue, 0));
    command.source = address_of(&pe.controls[queue].served);
    commands_.push_back(command);
  }
}

Entry& Agent::entry(unsigned device, std::uint32_t queue, std::uint32_t index) const {
  return pes_[device].entries[std::size_t{queue} * depth_ + (index & (depth_ - 1))];
}

bool Agent::serve_one(unsigned device, std::uint32_t queue) {
  std::uint32_t& next = queues_[device].next[queue];
  Entry& place = entry(device, queue, next);
  if (place.status == Entry::kFree) return false;
  const EntryPlace where{device, queue, next & (depth_ - 1)};
  if (place.status != Entry::kReady)
    throw BadEntry(fmt::format("device {}, network queue {}, entry {}: status {}; expected 0 or {}", device,
                               queue, where.entry, place.status, Entry::kReady));
  Request request = read_request(place, where, pes_, memory_);
  request.operation.queue = queues_[device].number + queue;
  request.operation.ready = signals_.signals(address_of(&place.status));
  perform(request, memory_, signals_);
  ++next;
  write_signalling(signals_, address_of(&place.status), &Entry::kFree, sizeof Entry::kFree);
  write_signalling(signals_, address_of(&pes_[device].controls[queue].served), &next, sizeof next);
  if (!keeps_) return true;
  trace::Command command{CommandKind::kNetOperation};
  command.device = static_cast<std::uint16_t>(device);
  command.operation = request.operation;
  commands_.push_back(command);
  return true;
}

bool Agent::serve(unsigned device) {
  if (!attached()) return false;
  const PeMemory& pe = pes_[device];
  const std::size_t queues = queues_[device].next.size();
  if (!memory_.accessible(address_of(pe.entries), queues * depth_ * sizeof(Entry)) ||
      !memory_.accessible(address_of(pe.controls), queues * sizeof(QueueControl)))
    throw BadEntry(fmt::format("device {}: the memory of its network queues has been freed", device));
  bool any = false;
  for (std::uint32_t queue = 0; queue < queues; ++queue) any |= serve_one(device, queue);
  return any;
}

std::vector<trace::Command> Agent::take_commands() { return std::exchange(commands_, {}); }

std::string Agent::describe(Address address) const {
  for (unsigned d = 0; d < pes_.size(); ++d) {
    const PeMemory& pe = pes_[d];
    const std::size_t queues = queues_[d].next.size();
    if (within(address, pe.heap, pe.heap_bytes))
      return fmt::format("offset {:#x} of PE {}'s symmetric heap", address - address_of(pe.heap), d);
    if (within(address, pe.entries, queues * depth_ * sizeof(Entry))) {
      const std::size_t number = (address - address_of(pe.entries)) / sizeof(Entry);
      return fmt::format("entry {} of PE {}'s network queue {}", number % depth_, d, number / depth_);
    }
    if (within(address, pe.controls, queues * sizeof(QueueControl)))
      return fmt::format("the read index of PE {}'s network queue {}", d,
                         (address - address_of(pe.controls)) / sizeof(QueueControl));
  }
  return {};
}

}  // namespace lockstep::shmem
