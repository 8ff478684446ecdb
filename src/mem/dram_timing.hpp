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
    const Cycle b = bank_ready(c, bank), s = shared_ready(c, group_of(bank));
    return b > s ? b : s;
  }
  /// The parts of earliest(): the bank's own, and that of its group and the channel.
  [[nodiscard]] Cycle bank_ready(DramCommand c, std::uint32_t bank) const {
    return ready_[first_bank_ + bank * kCommands + static_cast<unsigned>(c)];
  }
  [[nodiscard]] Cycle shared_ready(DramCommand c, std::uint32_t group) const {
    const Cycle g = ready_[first_group_ + group * kCommands + static_cast<unsigned>(c)];
    const Cycle all = ready_[static_cast<unsigned>(c)];
    return g > all ? g : all;
  }
  [[nodiscard]] std::uint32_t group_of(std::uint32_t bank) const { return bank >> group_shift_; }

  /// A command goes out at edge `at`, which is not before earliest().
  void issue(DramCommand c, std::uint32_t bank, Cycle at);

  /// The bank rests: no activate before edge `until`.
  void rest(std::uint32_t bank, Cycle until);

 private:
  static constexpr unsigned kCommands = static_cast<unsigned>(DramCommand::kCount);
  struct Effect {  // of a command: ready_[start of its scope + then] becomes at least now + cycles
    DramScope scope;
    std::uint8_t then;
    std::uint32_t cycles;
  };

  std::array<std::vector<Effect>, kCommands> effects_;
  std::uint32_t four_activates_ = 0;  // cycles
  std::uint32_t banks_;
  unsigned group_shift_, first_group_, first_bank_;
  std::vector<Cycle> ready_;          // by command; of the channel, then of each group, then of each bank
  std::array<Cycle, 4> activates_{};  // times + four_activates_, the oldest at next_activate_
  unsigned next_activate_ = 0;
};

}  // namespace lockstep::mem
