// Register dependences of the warps of an SM.
//
// Fixed-latency results are known when they are issued: the scoreboard keeps the cycle from which a register
// may be read. Results that come as events are pending until then. Instructions that leave the sub-core read
// their sources later: those registers count pending readers, and a writer waits for them (WAR).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/issue_table.hpp"

namespace lockstep::core {

/// Core cycles since the SM's time base; see Scoreboard::rebase.
using Tick = std::uint32_t;

class Scoreboard {
 public:
  static constexpr Tick kPendingLong = 0xfffffffe;   // global, local, texture memory
  static constexpr Tick kPendingShort = 0xffffffff;  // shared memory, shuffles, constants, special registers

  explicit Scoreboard(unsigned warps)
      : ready_(std::size_t{warps} * kRegistersPerWarp),
        readers_(std::size_t{warps} * kRegistersPerWarp),
        used_(warps) {}

  /// A warp slot is taken by a new warp, which uses the first `vector_registers`: no register is waited for.
  void clear(unsigned warp, unsigned vector_registers) {
    clear(warp, 0, used_[warp]);
    clear(warp, kUniformBase, kRegistersPerWarp);
    used_[warp] = vector_registers;
  }

  /// Tick from which all registers of the instruction are there (RAW and WAW), or one of kPending*.
  [[nodiscard]] Tick ready(unsigned warp, const IssueInst& inst) const {
    const Tick* r = &ready_[base(warp)];
    const auto& first = inst.first_registers;  // as a rule all
    Tick latest = std::max(std::max(r[first[0]], r[first[1]]), std::max(r[first[2]], r[first[3]]));
    const unsigned n = unsigned{inst.destinations} + inst.sources;
    for (auto i = static_cast<unsigned>(first.size()); i < n; ++i)
      latest = r[inst.registers[i]] > latest ? r[inst.registers[i]] : latest;
    return latest;
  }

  /// Some destination still has a reader pending.
  [[nodiscard]] bool read_pending(unsigned warp, const IssueInst& inst) const {
    const std::uint8_t* r = &readers_[base(warp)];
    for (unsigned i = 0; i < inst.destinations; ++i)
      if (r[inst.registers[i]]) return true;
    return false;
  }

  void write(unsigned warp, const IssueInst& inst, Tick at) {
    Tick* r = &ready_[base(warp)];
    for (unsigned i = 0; i < inst.destinations; ++i) r[inst.registers[i]] = at;
  }

  void add_readers(unsigned warp, const IssueInst& inst) { change_readers(warp, inst, 1); }
  void release_readers(unsigned warp, const IssueInst& inst) { change_readers(warp, inst, -1); }

  /// The time base moves by `delta`.
  void rebase(Tick delta) {
    for (Tick& t : ready_)
      if (t < kPendingLong) t = t > delta ? t - delta : 0;
  }

 private:
  void clear(unsigned warp, unsigned begin, unsigned end) {
    std::fill_n(&ready_[base(warp) + begin], end - begin, Tick{0});
    std::fill_n(&readers_[base(warp) + begin], end - begin, std::uint8_t{0});
  }
  static std::size_t base(unsigned warp) { return std::size_t{warp} * kRegistersPerWarp; }
  void change_readers(unsigned warp, const IssueInst& inst, int by) {
    std::uint8_t* r = &readers_[base(warp)];
    for (unsigned i = 0; i < inst.sources; ++i) {
      std::uint8_t& n = r[inst.registers[inst.destinations + i]];
      n = static_cast<std::uint8_t>(n + by);
    }
  }

  std::vector<Tick> ready_;
  std::vector<std::uint8_t> readers_;
  std::vector<unsigned> used_;  // vector registers of the warp in each slot
};

}  // namespace lockstep::core
