// The timing rules of a DRAM channel: a table of data, and the engine that applies it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

enum class DramCommand : std::uint8_t { kActivate, kPrecharge, kRead, kWrite, kCount };
enum class DramScope : std::uint8_t { kBank, kGroup, kChannel };

/// "After `count` times `first` (the last one at t counting back), `then` in the same `scope` comes no
/// earlier than `cycles` after the first of them." All times in command-clock edges.
struct DramRule {
  DramCommand first, then;
  DramScope scope;
  std::uint32_t cycles;
  std::uint32_t count = 1;  // 1, or 4: the window of four activates
};

[[nodiscard]] std::vector<DramRule> dram_rules(const config::DramGroup& dram);

/// When each command may come next, for each bank. Row commands (activate, precharge) and column commands
/// (read, write) have a command bus each, as in HBM; a bus carries one command a cycle.
class DramTiming {
 public:
  explicit DramTiming(const config::DramGroup& dram);

  [[nodiscard]] Cycle earliest(DramCommand c, std::uint32_t bank) const {
    const auto k = static_cast<unsigned>(c);
    const Cycle b = banks_[bank][k], g = groups_[bank >> group_shift_][k];
    const Cycle m = b > g ? b : g;
    return m > channel_[k] ? m : channel_[k];
  }

  /// The part of earliest() that is the bank's own.
  [[nodiscard]] Cycle bank_ready(DramCommand c, std::uint32_t bank) const {
    return banks_[bank][static_cast<unsigned>(c)];
  }

  /// A command goes out at edge `at`, which is not before earliest().
  void issue(DramCommand c, std::uint32_t bank, Cycle at);

  /// All banks rest: no activate before edge `until`.
  void rest(Cycle until);

 private:
  static constexpr unsigned kCommands = static_cast<unsigned>(DramCommand::kCount);
  using Ready = std::array<Cycle, kCommands>;
  struct Effect {  // of a command on one scope: earliest time of each command after it
    std::array<std::uint32_t, kCommands> bank{}, group{}, channel{};
  };

  std::array<Effect, kCommands> effects_{};
  std::uint32_t four_activates_ = 0;  // cycles
  unsigned group_shift_ = 0;
  std::vector<Ready> banks_, groups_;
  Ready channel_{};
  std::array<Cycle, 4> activates_{};  // times + four_activates_, the oldest at next_activate_
  unsigned next_activate_ = 0;
};

}  // namespace lockstep::mem
