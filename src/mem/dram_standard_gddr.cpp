// GDDR5X (JESD232), GDDR6 (JESD250) and GDDR6X: one command and address bus a channel.
#include "mem/dram_standard.hpp"

namespace lockstep::mem {

const DramStandard kGddr{common_dram_rules, true};

}  // namespace lockstep::mem
