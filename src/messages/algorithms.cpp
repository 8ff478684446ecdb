#include "messages/algorithms.hpp"

#include <bit>

namespace lockstep::messages {
namespace {

/// One process of a collective call.
struct Member {
  const Call& call;
  std::uint32_t me, members;
  CollectiveSteps& steps;

  [[nodiscard]] std::uint32_t after(std::uint32_t by) const { return (me + by) % members; }
  [[nodiscard]] std::uint32_t before(std::uint32_t by) const {
    return (me + members - by % members) % members;
  }
  /// Its number counted from the root.
  [[nodiscard]] std::uint32_t relative() const { return (me + members - call.root) % members; }
  [[nodiscard]] std::uint32_t absolute(std::uint32_t relative) const {
    return (relative + call.root) % members;
  }
  [[nodiscard]] std::uint64_t bytes() const { return call.bytes.front(); }

  void exchange(std::uint32_t to, std::uint32_t from, std::uint32_t step, std::uint64_t sent) const {
    steps.accept(from, step);
    steps.send(to, step, sent);
    steps.wait();
  }
  void receive(std::uint32_t from, std::uint32_t step) const {
    steps.accept(from, step);
    steps.wait();
  }
  void send(std::uint32_t to, std::uint32_t step, std::uint64_t sent) const {
    steps.send(to, step, sent);
    steps.wait();
  }
};

void barrier(const Member& m) {
  std::uint32_t step = 0;
  for (std::uint32_t by = 1; by < m.members; by *= 2) m.exchange(m.after(by), m.before(by), step++, 0);
}

/// The lowest bit of the number is the distance to the parent, those below it are the distances to the
/// children.
void broadcast(const Member& m) {
  const std::uint32_t self = m.relative();
  std::uint32_t bit = self == 0 ? std::bit_ceil(m.members) : self & (~self + 1);
  if (self != 0) m.receive(m.absolute(self - bit), 0);
  for (bit /= 2; bit > 0; bit /= 2)
    if (self + bit < m.members) m.steps.send(m.absolute(self + bit), 0, m.bytes());
  m.steps.wait();
}

void reduce(const Member& m) {
  const std::uint32_t self = m.relative();
  for (std::uint32_t bit = 1; bit < m.members; bit *= 2) {
    if ((self & bit) != 0) return m.send(m.absolute(self - bit), 0, m.bytes());
    if (self + bit >= m.members) continue;
    m.receive(m.absolute(self + bit), 0);
    m.steps.combine(m.bytes());
  }
}

/// As MPICH: the first 2 * rest processes work in pairs, of which one takes part in the doubling.
void double_recursively(const Member& m) {
  const std::uint32_t most = std::bit_floor(m.members), rest = m.members - most;
  const bool paired = m.me < 2 * rest;
  if (paired && m.me % 2 == 0) {
    m.send(m.me + 1, 0, m.bytes());
    return m.receive(m.me + 1, 1);
  }
  if (paired) {
    m.receive(m.me - 1, 0);
    m.steps.combine(m.bytes());
  }
  const std::uint32_t self = paired ? m.me / 2 : m.me - rest;
  std::uint32_t step = 2;
  for (std::uint32_t bit = 1; bit < most; bit *= 2) {
    const std::uint32_t other = self ^ bit, to = other < rest ? 2 * other + 1 : other + rest;
    m.exchange(to, to, step++, m.bytes());
    m.steps.combine(m.bytes());
  }
  if (paired) m.send(m.me - 1, 1, m.bytes());
}

void reduce_by_ring(const Member& m) {
  const auto chunk = [&](std::uint32_t number) {
    const std::uint64_t first = m.bytes() * number / m.members;
    return m.bytes() * (number + std::uint64_t{1}) / m.members - first;
  };
  for (std::uint32_t step = 0; step < 2 * (m.members - 1); ++step) {
    m.exchange(m.after(1), m.before(1), step, chunk(m.before(step)));
    if (step + 1 < m.members) m.steps.combine(chunk(m.before(step + 1)));
  }
}

/// Each process ends with the sum of its own block.
void reduce_scatter(const Member& m) {
  for (std::uint32_t step = 0; step + 1 < m.members; ++step) {
    m.exchange(m.after(1), m.before(1), step, m.call.bytes[m.before(step + 1)]);
    m.steps.combine(m.call.bytes[m.before(step + 2)]);
  }
}

/// What comes from below goes into the result, and all that comes into what is passed on. An exclusive result
/// begins as the first that comes.
void scan(const Member& m, bool exclusive) {
  std::uint32_t step = 0;
  bool begun = !exclusive;
  for (std::uint32_t bit = 1; bit < m.members; bit *= 2, ++step) {
    const std::uint32_t other = m.me ^ bit;
    if (other >= m.members) continue;
    m.exchange(other, other, step, m.bytes());
    m.steps.combine(m.bytes());
    if (other > m.me) continue;
    if (begun) m.steps.combine(m.bytes());
    begun = true;
  }
}

void exchange_with_neighbors(const Member& m) {
  for (const std::uint32_t from : m.call.from) m.steps.accept(from, 0);
  for (std::size_t i = 0; i < m.call.to.size(); ++i) m.steps.send(m.call.to[i], 0, m.call.bytes[i]);
  m.steps.wait();
}

void all_gather(const Member& m) {
  for (std::uint32_t step = 0; step + 1 < m.members; ++step)
    m.exchange(m.after(1), m.before(1), step, m.call.bytes[m.before(step)]);
}

void all_to_all(const Member& m) {
  for (std::uint32_t step = 1; step < m.members; ++step)
    m.exchange(m.after(step), m.before(step), step, m.call.bytes[m.after(step)]);
}

void gather(const Member& m) {
  if (m.me != m.call.root) return m.send(m.call.root, 0, m.bytes());
  for (std::uint32_t r = 0; r < m.members; ++r)
    if (r != m.me) m.steps.accept(r, 0);
  m.steps.wait();
}

void scatter(const Member& m) {
  if (m.me != m.call.root) return m.receive(m.call.root, 0);
  for (std::uint32_t r = 0; r < m.members; ++r)
    if (r != m.me) m.steps.send(r, 0, m.call.bytes[r]);
  m.steps.wait();
}

}  // namespace

void perform(const Call& call, std::uint32_t me, std::uint32_t members, AllReduce all_reduce,
             CollectiveSteps& steps) {
  const Member m{call, me, members, steps};
  switch (call.collective) {
    case Collective::kBarrier:
      return barrier(m);
    case Collective::kBroadcast:
      return broadcast(m);
    case Collective::kReduce:
      return reduce(m);
    case Collective::kAllReduce: {
      const bool doubles = all_reduce == AllReduce::kRecursiveDoubling ||
                           (all_reduce == AllReduce::kAuto && m.bytes() <= kMaxDoubledBytes);
      return doubles ? double_recursively(m) : reduce_by_ring(m);
    }
    case Collective::kAllGather:
      return all_gather(m);
    case Collective::kAllToAll:
      return all_to_all(m);
    case Collective::kGather:
      return gather(m);
    case Collective::kScatter:
      return scatter(m);
    case Collective::kReduceScatter:
      return reduce_scatter(m);
    case Collective::kScan:
      return scan(m, false);
    case Collective::kExclusiveScan:
      return scan(m, true);
    case Collective::kNeighborhood:
      return exchange_with_neighbors(m);
  }
}

}  // namespace lockstep::messages
