#include "energy/model.hpp"

#include <algorithm>
#include <array>

namespace lockstep::energy {
namespace {

__extension__ using Wide = unsigned __int128;
using config::EnergyGroup;
using stats::EnergyPart;
using stats::KernelCounters;
using stats::UnitClass;

template <UnitClass Unit>
std::uint64_t lanes(const KernelCounters& c) {
  return c.sm.lanes[static_cast<unsigned>(Unit)];
}

/// A counted event, its energy, and the component to which it belongs.
struct Event {
  EnergyPart part;
  std::uint32_t EnergyGroup::*femtojoules;
  std::uint64_t (*count)(const KernelCounters&);
};
using E = EnergyGroup;
using P = EnergyPart;

/// Events on the chip, whose energy scales with the voltage.
constexpr std::array kEvents{
    Event{P::kInstructions, &E::instruction, [](const auto& c) { return c.sm.warp_instructions; }},
    Event{P::kRegisterFile, &E::register_read, [](const auto& c) { return c.sm.rf_reads + c.sm.rfc_hits; }},
    Event{P::kInt, &E::int_lane, lanes<UnitClass::kInt>},
    Event{P::kInt, &E::int_multiply_lane, lanes<UnitClass::kIntMultiply>},
    Event{P::kFp, &E::fp_lane, lanes<UnitClass::kFp>},
    Event{P::kFp, &E::fp_multiply_lane, lanes<UnitClass::kFpMultiply>},
    Event{P::kFp64, &E::fp64_lane, lanes<UnitClass::kFp64>},
    Event{P::kSfu, &E::sfu_lane, lanes<UnitClass::kSfu>},
    Event{P::kTensor, &E::tensor_lane, lanes<UnitClass::kTensor>},
    Event{P::kTexture, &E::texture_lane, lanes<UnitClass::kTexture>},
    Event{P::kConstant, &E::constant_load, [](const auto& c) { return c.sm.const_passes; }},
    Event{P::kL1, &E::l1_read_hit, [](const auto& c) { return c.sm.l1.read_hits; }},
    Event{P::kL1, &E::l1_read_miss, [](const auto& c) { return c.sm.l1.sectors_read - c.sm.l1.read_hits; }},
    Event{P::kL1, &E::l1_write_hit, [](const auto& c) { return c.sm.l1.write_hits; }},
    Event{P::kL1, &E::l1_write_miss,
          [](const auto& c) { return c.sm.l1.sectors_written - c.sm.l1.write_hits; }},
    Event{P::kShared, &E::shared_wavefront, [](const auto& c) { return c.sm.shared_wavefronts; }},
    Event{P::kL2, &E::l2_read_hit, [](const auto& c) { return c.mem.l2.read_hits; }},
    Event{P::kL2, &E::l2_read_miss, [](const auto& c) { return c.mem.l2.sectors_read - c.mem.l2.read_hits; }},
    Event{P::kL2, &E::l2_write, [](const auto& c) { return c.mem.l2.sectors_written; }},
    Event{P::kCrossbar, &E::crossbar_sector,
          [](const auto& c) {
            return c.sm.l1_load_sectors_sent + c.sm.l1_store_sectors_sent + c.sm.l1_atomic_sectors_sent +
                   c.mem.l2_fetches;
          }},
};

constexpr std::uint64_t kPicojoules = 1000;  // in uW * cycles / kHz

std::uint64_t rounded(Wide numerator, Wide denominator) {
  return static_cast<std::uint64_t>((numerator + denominator / 2) / denominator);
}

std::uint64_t& in(stats::EnergyParts& parts, EnergyPart part) {
  return parts.picojoules[static_cast<unsigned>(part)];
}

}  // namespace

Model::Model(const config::GpuConfig& config)
    : energy_(config.energy),
      core_khz_(config.clock.core_khz),
      sms_(config.gpu.sms),
      subcores_(config.sm.subcores),
      burst_bits_(std::uint64_t{config.dram.burst_bytes} * 8) {}

std::optional<stats::EnergyParts> Model::of(const KernelCounters& counters, Cycle cycles) const {
  if (energy_.source == "none") return std::nullopt;
  stats::EnergyParts parts;
  add_events(counters, parts);
  add_memory(counters.mem, cycles, parts);
  add_powers(counters, cycles, parts);
  return parts;
}

std::optional<std::uint64_t> Model::of_link(std::uint64_t bytes) const {
  if (energy_.source == "none") return std::nullopt;
  return rounded(Wide{bytes} * 8 * energy_.link_bit, 1000);
}

void Model::add_events(const KernelCounters& counters, stats::EnergyParts& parts) const {
  std::array<Wide, stats::kEnergyParts> femtojoules{};
  for (const Event& event : kEvents)
    femtojoules[static_cast<unsigned>(event.part)] +=
        Wide{event.count(counters)} * (energy_.*event.femtojoules);
  const Wide voltage = energy_.voltage_mv, reference = energy_.reference_voltage_mv;
  for (unsigned i = 0; i < stats::kEnergyParts; ++i)
    parts.picojoules[i] = rounded(femtojoules[i] * voltage * voltage, reference * reference * 1000);
}

void Model::add_memory(const stats::PartitionCounters& m, Cycle cycles, stats::EnergyParts& parts) const {
  const Wide events = Wide{m.dram_reads} * burst_bits_ * energy_.dram_read_bit +
                      Wide{m.dram_writes} * burst_bits_ * energy_.dram_write_bit +
                      Wide{m.dram_precharges} * energy_.dram_precharge;
  const Wide power = Wide{energy_.dram_power} * cycles * kPicojoules;
  in(parts, EnergyPart::kDram) = rounded(events * core_khz_ + power * 1000, Wide{core_khz_} * 1000);
}

void Model::add_powers(const KernelCounters& counters, Cycle cycles, stats::EnergyParts& parts) const {
  std::uint64_t active = 0;  // sub-core cycles
  for (unsigned i = 0; i < static_cast<unsigned>(stats::Stall::kEmpty); ++i) active += counters.sm.stalls[i];
  const std::uint64_t all = cycles * sms_ * subcores_;
  const std::uint64_t idle = all > active ? all - active : 0;
  const Wide per_sm = Wide{core_khz_} * subcores_;
  const Wide voltage = energy_.voltage_mv, reference = energy_.reference_voltage_mv;
  // Mean lanes - 1, as a fraction.
  const std::uint64_t instructions = std::max<std::uint64_t>(1, counters.sm.warp_instructions);
  const std::uint64_t more = std::max(counters.sm.thread_instructions, instructions) - instructions;
  const Wide microwatts = Wide{energy_.active_sm_power} * instructions + Wide{energy_.lane_power} * more;
  in(parts, EnergyPart::kActiveSms) =
      rounded(microwatts * active / instructions * kPicojoules * voltage, per_sm * reference);
  in(parts, EnergyPart::kIdleSms) =
      rounded(Wide{energy_.idle_sm_power} * idle * kPicojoules * voltage, per_sm * reference);
  in(parts, EnergyPart::kBoard) = rounded(Wide{energy_.board_power} * cycles * kPicojoules, core_khz_);
}

}  // namespace lockstep::energy
