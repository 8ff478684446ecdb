// Two PEs, and kernels that a test stands for.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "shmem/agent.hpp"
#include "shmem/effects.hpp"

namespace lockstep::shmem::test {

inline constexpr std::uint32_t kQueues = 3, kDepth = 4;
inline constexpr std::uint64_t kHeapBytes = 4096, kAgentBytes = 1024;

struct TwoPes {
  exec::DeviceMemory memory{std::uint64_t{64} << 20, 2};
  exec::SignalLog log;
  Agent agent{memory, log};
  std::vector<PeMemory> pes;
  std::map<std::pair<unsigned, std::uint32_t>, std::uint32_t> written;

  TwoPes() {
    for (unsigned d = 0; d < 2; ++d) {
      const auto get = [&](std::uint64_t bytes) {
        return reinterpret_cast<void*>(memory.allocate(bytes, exec::MemoryKind::kDevice, 256, d).value());
      };
      PeMemory pe{};
      pe.heap = get(pe.heap_bytes = kHeapBytes);
      pe.entries = static_cast<Entry*>(get(kQueues * kDepth * sizeof(Entry)));
      pe.controls = static_cast<QueueControl*>(get(kQueues * sizeof(QueueControl)));
      pe.agent = get(pe.agent_bytes = kAgentBytes);
      pes.push_back(pe);
    }
  }
  [[nodiscard]] World world() const { return {kLayoutVersion, 2, kQueues, kDepth, pes.data()}; }
  [[nodiscard]] Address heap(unsigned pe, std::uint64_t offset = 0) const {
    return reinterpret_cast<Address>(pes[pe].heap) + offset;
  }
  template <class T>
  T& at(unsigned pe, std::uint64_t offset) const {
    return *reinterpret_cast<T*>(heap(pe, offset));
  }
  /// A kernel's entry: as it writes it, its status word with a signal.
  Entry& post(unsigned device, std::uint32_t queue, const Entry& entry) {
    Entry& posted = pes[device].entries[queue * kDepth + written[{device, queue}]++ % kDepth];
    posted = entry;
    posted.status = 0;
    posted.context = queue;
    write_signalling(log, reinterpret_cast<Address>(&posted.status), &Entry::kReady, sizeof posted.status);
    return posted;
  }
  Entry put(unsigned device, std::uint32_t pe, std::uint64_t from, std::uint64_t to,
            std::uint64_t bytes) const {
    Entry e{};
    e.pe = pe;
    e.local = heap(device, from);
    e.remote = to;
    e.bytes = bytes;
    return e;
  }
  /// How many rounds there were, of one entry of each queue.
  int serve_all(unsigned device) {
    int rounds = 0;
    while (agent.serve(device)) ++rounds;
    return rounds;
  }
  [[nodiscard]] std::uint32_t signals(const void* word) const {
    return log.signals(reinterpret_cast<Address>(word));
  }
};

}  // namespace lockstep::shmem::test
