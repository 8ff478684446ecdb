// HBM2 and later (JESD235, JESD238): each channel has a row and a column command bus.
#include "mem/dram_standard.hpp"

namespace lockstep::mem {

const DramStandard kHbm{common_dram_rules, false};

}  // namespace lockstep::mem
