// LPDDR4 (JESD209-4): one command bus a channel, and tPPD of four cycles between two precharges.
#include "mem/dram_standard.hpp"

namespace lockstep::mem {
namespace {

std::vector<DramRule> rules(const config::DramGroup& dram) {
  std::vector<DramRule> all = common_dram_rules(dram);
  all.push_back({DramCommand::kPrecharge, DramCommand::kPrecharge, DramScope::kChannel, 4});
  return all;
}

}  // namespace

extern const DramStandard kLpddr;
const DramStandard kLpddr{rules, true};

}  // namespace lockstep::mem
