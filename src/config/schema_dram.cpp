// Rows of the group dram.
#include "config/schema.hpp"

namespace lockstep::config {
namespace {

constexpr std::string_view kStandards[] = {"hbm", "gddr"};
constexpr std::string_view kRefreshes[] = {"all_banks", "single_bank"};

template <auto Field>
Binding dram() {
  return number<&GpuConfig::dram, Field>();
}

Parameter timing(const char* key, std::uint64_t min, std::uint64_t max, const char* help, Binding binding) {
  return integer(key, Measure::kDramCycles, min, max, help, binding);
}

Rows dram_shape_rows() {
  using M = Measure;
  using G = DramGroup;
  return {
      name("dram.type", "name shown in reports; the timing comes from the standard and the numbers",
           text<&GpuConfig::dram, &G::type>()),
      choice("dram.standard", kStandards,
             "hbm: row and column commands have a command bus each; gddr: they share one",
             dram<&G::standard>()),
      integer("dram.capacity_bytes", M::kBytes, std::uint64_t{1} << 21, std::uint64_t{1} << 40,
              "device memory, all partitions: what a CUDA program can allocate", dram<&G::capacity_bytes>()),
      integer("dram.channels_per_partition", M::kNone, 1, 16,
              "independent channels or pseudo-channels of a partition", dram<&G::channels_per_partition>()),
      power_of_two("dram.bank_groups", M::kNone, 1, 16, "bank groups of a channel", dram<&G::bank_groups>()),
      power_of_two("dram.banks_per_group", M::kNone, 1, 16, "banks of a bank group",
                   dram<&G::banks_per_group>()),
      power_of_two("dram.row_bytes", M::kBytes, 256, 65536, "row (page) of one bank of a channel",
                   dram<&G::row_bytes>()),
      power_of_two("dram.burst_bytes", M::kBytes, 32, 128, "moved by one column access",
                   dram<&G::burst_bytes>()),
      timing("dram.burst_cycles", 1, 64, "data bus occupation of one column access",
             dram<&G::burst_cycles>()),
  };
}

Rows dram_timing_rows() {
  using G = DramGroup;
  return {
      timing("dram.tRCD", 1, 1000, "activate to column access", dram<&G::tRCD>()),
      timing("dram.tRP", 1, 1000, "precharge to activate", dram<&G::tRP>()),
      timing("dram.tRAS", 1, 1000, "activate to precharge", dram<&G::tRAS>()),
      timing("dram.tCL", 1, 1000, "read command to first data", dram<&G::tCL>()),
      timing("dram.tCWL", 1, 1000, "write command to first data", dram<&G::tCWL>()),
      timing("dram.tCCD_S", 1, 1000, "column access to column access, other bank group", dram<&G::tCCD_S>()),
      timing("dram.tCCD_L", 1, 1000, "column access to column access, same bank group", dram<&G::tCCD_L>()),
      timing("dram.tRRD_S", 1, 1000, "activate to activate, other bank group", dram<&G::tRRD_S>()),
      timing("dram.tRRD_L", 1, 1000, "activate to activate, same bank group", dram<&G::tRRD_L>()),
      timing("dram.tFAW", 1, 1000, "at most four activates in this time", dram<&G::tFAW>()),
      timing("dram.tWTR_S", 1, 1000, "end of write data to read command, other bank group",
             dram<&G::tWTR_S>()),
      timing("dram.tWTR_L", 1, 1000, "end of write data to read command, same bank group",
             dram<&G::tWTR_L>()),
      timing("dram.tRTP", 1, 1000, "read command to precharge", dram<&G::tRTP>()),
      timing("dram.tWR", 1, 1000, "end of write data to precharge", dram<&G::tWR>()),
      timing("dram.tRTW", 1, 1000, "read command to write command of a channel", dram<&G::tRTW>()),
      timing("dram.tREFI", 100, 1000000, "between two refreshes of a bank", dram<&G::tREFI>()),
      timing("dram.tRFC", 1, 10000, "that a refresh keeps its banks busy", dram<&G::tRFC>()),
      choice("dram.refresh", kRefreshes,
             "banks of a channel that are refreshed at a time: all, or one after another",
             dram<&G::refresh>()),
  };
}

Rows dram_queue_rows() {
  using M = Measure;
  using G = DramGroup;
  return {
      integer("dram.read_queue", M::kNone, 1, 1024, "reads queued at a channel", dram<&G::read_queue>()),
      integer("dram.write_queue", M::kNone, 1, 1024, "writes queued at a channel", dram<&G::write_queue>()),
      integer("dram.write_high", M::kNone, 1, 1024, "queued writes at which the channel turns to writing",
              dram<&G::write_high>()),
      integer("dram.write_low", M::kNone, 0, 1023, "queued writes at which it turns back to reading",
              dram<&G::write_low>()),
      integer("dram.latency_ps", M::kPicoseconds, 0, 10000000,
              "controller, PHY and return path, beside the timing rules", dram<&G::latency_ns_x1000>()),
      integer("dram.fill_percent", M::kNone, 1, 100,
              "of the peak bandwidth that a fill (cudaMemset) reaches, after the launch floor",
              dram<&G::fill_percent>()),
      integer("dram.copy_percent", M::kNone, 1, 100,
              "likewise a copy within device memory, reading and writing", dram<&G::copy_percent>()),
  };
}

}  // namespace

Rows dram_rows() {
  Rows rows;
  for (Rows& group : std::vector<Rows>{dram_shape_rows(), dram_timing_rows(), dram_queue_rows()}) {
    for (Parameter& row : group) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lockstep::config
