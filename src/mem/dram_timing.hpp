// Applies the timing rules of a DRAM channel.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"
#include "mem/dram_standard.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// When each command may come next, for each bank.
class DramTiming {
 public:
  explicit DramTiming(const config::DramGroup& dram)
      : DramTiming(dram, dram_standard(dram.standard).rules(dram)) {}
  /// Banks and bank groups of `dram`, under other rules. Throws std::invalid_argument for a count of 0
  /// or more than 65,535 cycles.
  DramTiming(const config::DramGroup& dram, const std::vector<DramRule>& rules);

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

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(effects_), a.given(first_effect_), windows_, a.given(groups_), a.given(banks_),
              a.given(group_shift_), a.given(first_group_), a.given(first_bank_), ready_);
  }

 private:
  static constexpr unsigned kCommands = static_cast<unsigned>(DramCommand::kCount);
  struct Effect {  // a rule of count 1: ready_[start of its scope + then] becomes at least now + cycles
    DramScope scope;
    std::uint8_t then;
    std::uint16_t cycles;
  };
  /// A rule of a higher count, with the last `count` commands of each bank, group or of the channel.
  struct Window {
    Effect effect;
    std::uint32_t count;
    std::vector<Cycle> ends;            // time of the command + cycles; a ring for each place
    std::vector<std::uint32_t> oldest;  // of each place: position in its ring

    /// Notes a command and says from when the next `then` may come.
    [[nodiscard]] Cycle note(std::uint32_t place, Cycle at);
    template <class A>
    void persist(A& a) {
      a.members(*this, a.given(effect), a.given(count), ends, oldest);
    }
  };

  void add(const DramRule& rule);
  [[nodiscard]] std::uint32_t places(DramScope scope) const;

  std::vector<Effect> effects_;                              // of each command, one command after the other
  std::array<std::uint16_t, kCommands + 1> first_effect_{};  // of a command; then the end
  std::array<std::vector<Window>, kCommands> windows_;
  std::uint32_t groups_, banks_;
  unsigned group_shift_, first_group_, first_bank_;
  std::vector<Cycle> ready_;  // by command; of the channel, then of each group, then of each bank
};

}  // namespace lockstep::mem
