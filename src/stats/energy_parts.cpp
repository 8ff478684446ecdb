#include "stats/energy_parts.hpp"

namespace lockstep::stats {
namespace {

constexpr std::array<EnergyRow, kEnergyParts> kRows{{
    {"instructions", "fetch, decode, scheduling and pipeline of warp instructions"},
    {"register_file", "operands"},
    {"int", "integer units"},
    {"fp", "FP32 and FP16 units"},
    {"fp64", "FP64 units"},
    {"sfu", "special-function units"},
    {"tensor", "tensor cores"},
    {"texture", "texture units"},
    {"constant", "constant caches"},
    {"l1", "L1 data caches"},
    {"shared", "shared memory"},
    {"l2", "L2 slices"},
    {"crossbar", "between SMs and L2"},
    {"dram", "device memory and its controllers"},
    {"active_sms", "what SMs with warps draw whatever they do: leakage, clocks"},
    {"idle_sms", "SMs without warps"},
    {"board", "constant: fans, regulators, peripheral circuits"},
}};

}  // namespace

std::span<const EnergyRow, kEnergyParts> energy_rows() { return kRows; }

}  // namespace lockstep::stats
