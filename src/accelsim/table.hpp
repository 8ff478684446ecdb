// The tables of Accel-Sim's options: which of them are mapped and how, and which have no counterpart and why.
// Translation, docs/accelsim.md and the tests all come from them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "accelsim/context.hpp"

namespace lockstep::accelsim {

/// An option that a rule reads, and what Accel-Sim takes where it is not given.
struct Input {
  std::string_view option, fallback;
};

/// Applied when at least one of its options is given. Rules run in the order of the table; a later one may
/// read what an earlier one has set.
struct Rule {
  std::vector<Input> inputs;  // each option belongs to the first rule that names it
  std::string_view keys;      // that it sets, for the documentation: "gpu.sms, gpu.sms_per_tpc"
  std::string_view how;       // units and conversion
  void (*apply)(Context&);
};
[[nodiscard]] const std::vector<Rule>& rules();

/// An option that has no effect here. `modelled`: the value that describes what Lockstep does; another one is
/// pointed out. Empty: no value would change a simulated cycle.
struct IgnoredOption {
  std::string_view option, modelled, reason;
};
[[nodiscard]] std::span<const IgnoredOption> ignored_options();
[[nodiscard]] std::span<const IgnoredOption> ignored_booksim_keys();

/// Accel-Sim's default of an option of some rule; "" for others.
[[nodiscard]] std::string_view default_of(std::string_view option);

// Options that more than one of the parts below reads.
inline constexpr std::string_view kNetworkMode = "-network_mode", kSchedulers = "-gpgpu_num_sched_per_core";

// The parts of rules().
[[nodiscard]] std::vector<Rule> machine_rules();  // GPU, clocks, SM, register file, instruction cache
[[nodiscard]] std::vector<Rule> memory_rules();   // L1, shared memory, interconnect, L2
[[nodiscard]] std::vector<Rule> pipe_rules();     // execution pipes, specialised units
[[nodiscard]] std::vector<Rule> dram_rules();     // DRAM
[[nodiscard]] std::vector<Rule> launch_rules();   // kernel launch and copies

}  // namespace lockstep::accelsim
