// Register dependences of the warps of an SM.
//
// Fixed-latency results are known when they are issued: the scoreboard keeps the cycle from which a register
// may be read. Results that come as events are pending until then. Instructions that leave the sub-core read
// their sources later: those registers count pending readers, and a writer waits for them (WAR).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "core/issue_table.hpp"

namespace lockstep::core {

/// Core cycles since the SM's time base; see Scoreboard::rebase.
using Tick = std::uint32_t;

class Scoreboard {
 public:
  static constexpr Tick kPendingLong = 0xfffffffe;   // global, local, texture memory
  static constexpr Tick kPendingShort = 0xffffffff;  // shared memory, shuffles, constants, special registers

  explicit Scoreboard(unsigned warps) : rows_(std::make_unique<Row[]>(warps)), warps_(warps) {}

  /// A warp that has used the first `entries` gives its slot up: no register is pending.
  void clear(unsigned warp, unsigned entries) {
    Row& row = rows_[warp];
    std::fill_n(row.ready.begin(), entries, Tick{0});
    std::fill_n(row.readers.begin(), entries, std::uint8_t{0});
  }

  /// Tick from which all registers of the instruction are there (RAW and WAW), or one of kPending*.
  [[nodiscard]] Tick ready(unsigned warp, const IssueInst& inst) const {
    const auto& r = rows_[warp].ready;
    const auto& first = inst.first_registers;  // as a rule all
    Tick latest = std::max(std::max(r[first[0]], r[first[1]]), std::max(r[first[2]], r[first[3]]));
    const unsigned n = unsigned{inst.destinations} + inst.sources;
    if (n <= first.size()) return latest;
    if (inst.op_class == trace::OpClass::kWarpgroupMma) return ready_for_product(warp, inst);
    for (auto i = static_cast<unsigned>(first.size()); i < n; ++i)
      latest = r[inst.registers[i]] > latest ? r[inst.registers[i]] : latest;
    return latest;
  }

  /// Some destination still has a reader pending.
  [[nodiscard]] bool read_pending(unsigned warp, const IssueInst& inst) const {
    const auto& r = rows_[warp].readers;
    for (unsigned i = 0; i < inst.destinations; ++i)
      if (r[inst.registers[i]]) return true;
    return false;
  }

  void write(unsigned warp, const IssueInst& inst, Tick at) {
    if (inst.destinations == 0) return;
    auto& r = rows_[warp].ready;
    r[inst.first_registers[0]] = at;  // as a rule all
    for (unsigned i = 1; i < inst.destinations; ++i) r[inst.registers[i]] = at;
  }

  void add_readers(unsigned warp, const IssueInst& inst) { change_readers(warp, inst, 1); }
  void release_readers(unsigned warp, const IssueInst& inst) { change_readers(warp, inst, -1); }

  /// The time base moves by `delta`.
  void rebase(Tick delta) {
    for (unsigned w = 0; w < warps_; ++w)
      for (Tick& t : rows_[w].ready)
        if (t < kPendingLong) t = t > delta ? t - delta : 0;
  }

 private:
  struct alignas(64) Row {
    std::array<Tick, kRegistersPerWarp> ready{};
    std::array<std::uint8_t, kRegistersPerWarp> readers{};
  };

  /// The tensor core adds products to accumulators in their order: one does not wait for the one before.
  /// Accumulators are the destinations and the last sources.
  [[gnu::noinline]] [[nodiscard]] Tick ready_for_product(unsigned warp, const IssueInst& inst) const {
    const auto& r = rows_[warp].ready;
    const unsigned n = unsigned{inst.destinations} + inst.sources;
    Tick latest = 0;
    for (unsigned i = inst.destinations; i + inst.destinations < n; ++i)
      latest = std::max(latest, r[inst.registers[i]]);
    return latest;
  }

  void change_readers(unsigned warp, const IssueInst& inst, int by) {
    auto& r = rows_[warp].readers;
    for (unsigned i = 0; i < inst.sources; ++i) {
      std::uint8_t& n = r[inst.registers[inst.destinations + i]];
      n = static_cast<std::uint8_t>(n + by);
    }
  }

  std::unique_ptr<Row[]> rows_;
  unsigned warps_;
};

}  // namespace lockstep::core
