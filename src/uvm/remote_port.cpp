#include "uvm/remote_port.hpp"

#include <algorithm>

namespace lockstep::uvm {
namespace {

constexpr std::uint64_t kMilli = 1000;

}  // namespace

void RemotePort::add(Cycle now, const RemoteAccess& access) {
  if (!waiting_.empty() || (access.returns_data && tags_used_ == settings_.outstanding)) {
    waiting_.push_back(access);
  } else {
    start(now, access);
  }
}

void RemotePort::start(Cycle now, const RemoteAccess& access) {
  const std::uint64_t header = settings_.header_bytes;
  std::uint64_t end = pass(Direction::kToHost, now * kMilli, header + (access.write ? access.bytes : 0));
  if (access.returns_data) {
    ++tags_used_;
    end = pass(Direction::kToDevice, end + settings_.latency * kMilli, header + access.bytes);
  }
  flying_.push({(end + kMilli - 1) / kMilli, order_++, access});
}

std::uint64_t RemotePort::pass(Direction direction, std::uint64_t from, std::uint64_t bytes) {
  const unsigned d = index(direction);
  const std::uint64_t time = (bytes * settings_.tree_cycles[d] * kMilli + kTreeBytes - 1) / kTreeBytes;
  free_[d] = std::max(free_[d], from) + time;
  taken_[d] += time;
  bytes_[d] += bytes;
  return free_[d];
}

bool RemotePort::pop(Cycle now, RemoteAccess& access) {
  if (next() > now) return false;
  access = flying_.top().access;
  flying_.pop();
  if (!access.returns_data) return true;
  --tags_used_;
  while (!waiting_.empty() && !(waiting_.front().returns_data && tags_used_ == settings_.outstanding)) {
    start(now, waiting_.front());
    waiting_.pop_front();
  }
  return true;
}

Cycle RemotePort::taken(Direction direction) {
  std::uint64_t& taken = taken_[index(direction)];
  const Cycle whole = taken / kMilli;
  taken %= kMilli;
  return whole;
}

}  // namespace lockstep::uvm
