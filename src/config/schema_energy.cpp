// Rows of the group energy.
#include "config/schema.hpp"

namespace lockstep::config {
namespace {

template <auto Field>
Parameter voltage(const char* key, const char* help) {
  return integer(key, Measure::kMillivolts, 100, 5000, help, number<&GpuConfig::energy, Field>());
}
template <auto Field>
Parameter power(const char* key, const char* help) {
  return integer(key, Measure::kMicrowatts, 0, 1'000'000'000, help, number<&GpuConfig::energy, Field>());
}
template <auto Field>
Parameter energy(const char* key, const char* help) {
  return integer(key, Measure::kFemtojoules, 0, 1'000'000'000, help, number<&GpuConfig::energy, Field>());
}

Rows power_rows() {
  using E = EnergyGroup;
  return {
      name("energy.source", "where the coefficients come from, shown in reports; none: no energy is reported",
           text<&GpuConfig::energy, &E::source>()),
      voltage<&E::voltage_mv>(
          "energy.voltage",
          "supply of SMs and caches: dynamic energies change with its square, SM powers with it"),
      voltage<&E::reference_voltage_mv>("energy.reference_voltage", "voltage at which the coefficients hold"),
      power<&E::board_power>("energy.board_power", "constant: fans, regulators, peripheral circuits"),
      power<&E::dram_power>("energy.dram_power",
                            "constant: device memory whatever it does, refresh included"),
      power<&E::idle_sm_power>("energy.idle_sm_power", "of an SM without warps"),
      power<&E::active_sm_power>("energy.active_sm_power", "of an SM with warps, one lane of each active"),
      power<&E::lane_power>("energy.lane_power",
                            "of an SM with warps, for each lane more that its instructions have on average"),
  };
}

Rows sm_energy_rows() {
  using E = EnergyGroup;
  return {
      energy<&E::instruction>("energy.instruction", "a warp instruction: fetch, decode, schedule, pipeline"),
      energy<&E::register_read>(
          "energy.register_read",
          "an operand of a warp read from the register file or its cache, with its share of the writes"),
      energy<&E::int_lane>("energy.int_lane", "a lane of an integer, logic, move or compare instruction"),
      energy<&E::int_multiply_lane>("energy.int_multiply_lane", "of an integer multiply"),
      energy<&E::fp_lane>("energy.fp_lane", "of an FP32 or FP16 instruction that does not multiply"),
      energy<&E::fp_multiply_lane>("energy.fp_multiply_lane", "of an FP32 or FP16 multiply"),
      energy<&E::fp64_lane>("energy.fp64_lane", "of an FP64 instruction"),
      energy<&E::sfu_lane>("energy.sfu_lane", "of a special-function instruction"),
      energy<&E::tensor_lane>("energy.tensor_lane", "of a matrix instruction"),
      energy<&E::texture_lane>("energy.texture_lane", "of a texture or surface instruction"),
      energy<&E::constant_load>(
          "energy.constant_load",
          "a pass over the constant cache: one for each address that a warp's load has"),
      energy<&E::shared_wavefront>("energy.shared_wavefront", "a pass over the banks of shared memory"),
  };
}

Rows memory_side_rows() {
  using E = EnergyGroup;
  return {
      energy<&E::l1_read_hit>("energy.l1_read_hit", "a sector read from the L1"),
      energy<&E::l1_read_miss>("energy.l1_read_miss", "a sector read that the L1 lacks"),
      energy<&E::l1_write_hit>("energy.l1_write_hit", "a sector written that the L1 has"),
      energy<&E::l1_write_miss>("energy.l1_write_miss", "a sector written that the L1 lacks"),
      energy<&E::l2_read_hit>("energy.l2_read_hit", "a sector read from the L2"),
      energy<&E::l2_read_miss>("energy.l2_read_miss", "a sector read that the L2 lacks"),
      energy<&E::l2_write>("energy.l2_write", "a sector written to the L2"),
      energy<&E::crossbar_sector>("energy.crossbar_sector",
                                  "a sector between SM and L2, request and reply together"),
      energy<&E::dram_read_bit>("energy.dram_read_bit", "a bit read from the DRAM"),
      energy<&E::dram_write_bit>("energy.dram_write_bit", "a bit written to the DRAM"),
      energy<&E::dram_precharge>("energy.dram_precharge", "a row's precharge"),
      energy<&E::link_bit>("energy.link_bit", "a bit on a link between devices, sender and receiver"),
  };
}

}  // namespace

Rows energy_rows() {
  Rows rows = power_rows();
  for (Rows& group : std::vector<Rows>{sm_energy_rows(), memory_side_rows()}) {
    for (Parameter& row : group) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lockstep::config
