#include "config/network_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/suggest.hpp"
#include "config/value.hpp"
#include "util/error.hpp"
#include "util/types.hpp"

namespace lockstep::config {
namespace {

constexpr std::uint64_t kEntryBytes = 64;  // of a command, of a completion record

template <auto Group, auto Field>
NetworkField row(const char* section, const char* key, Measure measure, std::uint64_t min, std::uint64_t max,
                 const char* help, const char* source) {
  return {section, integer(key, measure, min, max, help, {}), source,
          [](NetworkConfig& c) -> std::uint32_t& { return (c.*Group).*Field; }};
}

using NetworkRows = std::vector<NetworkField>;
constexpr std::uint64_t kMaxPs = 1'000'000'000, kMaxSetBytes = 1 << 24;

NetworkRows nic_rows() {
  using N = NicGroup;
  using M = Measure;
  constexpr auto kGroup = &NetworkConfig::nic;
  return {
      row<kGroup, &N::op_occupancy_ps>("nic", "op_occupancy_ps", M::kPicoseconds, 0, kMaxPs,
                                       "from the start of an operation to that of the next",
                                       "assumed: 10 million operations per second"),
      row<kGroup, &N::process_ps>(
          "nic", "process_ps", M::kPicoseconds, 0, kMaxPs,
          "from a fetched command to its first access, and from a request of another NIC to its own",
          "assumed"),
      row<kGroup, &N::operations>("nic", "operations", M::kNone, 1, 4096, "operations under way at once",
                                  "assumed: more than op_occupancy_ps lets begin while one travels"),
      row<kGroup, &N::outstanding>("nic", "outstanding", M::kNone, 1, 1 << 16,
                                   "lines of its operations under way at once",
                                   "assumed: 128 KiB, more than 12.5 GB/s for the 3 us of a put"),
      row<kGroup, &N::queue_entries>("nic", "queue_entries", M::kNone, 1, 4096,
                                     "commands of a service thread that are not complete", "assumed"),
      row<kGroup, &N::payload_in_l2>(
          "nic", "payload_in_l2", M::kNone, 0, 2,
          "what the NIC writes to a GPU in whole sectors, for operations of more than 128 bytes, goes to "
          "DRAM and 0: is "
          "placed in the L2; 1: updates lines that are there; 2: drops them",
          "assumed; ComP-Net does not say"),
  };
}

NetworkRows service_rows() {
  using S = ServiceGroup;
  using M = Measure;
  constexpr auto kGroup = &NetworkConfig::service;
  constexpr const char* kAssumed = "assumed; no figure is public";
  return {
      row<kGroup, &S::poll_instructions>("service", "poll_instructions", M::kNone, 1, 1'000'000,
                                         "instructions of a poll of a queue or a completion record",
                                         kAssumed),
      row<kGroup, &S::issue_instructions>("service", "issue_instructions", M::kNone, 1, 1'000'000,
                                          "instructions from an entry to its command", kAssumed),
      row<kGroup, &S::complete_instructions>("service", "complete_instructions", M::kNone, 1, 1'000'000,
                                             "instructions for a completion", kAssumed),
      row<kGroup, &S::rounds_per_progress>("service", "rounds_per_progress", M::kNone, 1, 1 << 16,
                                           "rounds over all queues before completion records are polled",
                                           "assumed; ComP-Net has \"a predefined number\""),
      row<kGroup, &S::waits_for_blocking>("service", "waits_for_blocking", M::kNone, 0, 1,
                                          "1: the thread itself waits until an operation that blocks is "
                                          "complete, and serves no other queue meanwhile",
                                          "ComP-Net: requests that block become ones that do not"),
  };
}

NetworkRows core_rows() {
  using C = CommandProcessorGroup;
  using M = Measure;
  constexpr auto kGroup = &NetworkConfig::command_processor;
  constexpr const char* kSection = "command_processor";
  constexpr const char* kTable = "ComP-Net, table 1";
  constexpr const char* kAssumed = "assumed; ComP-Net has a loss that locking the queues' lines leaves";
  return {
      row<kGroup, &C::cores>(kSection, "cores", M::kNone, 1, 16, "cores of each device", kTable),
      row<kGroup, &C::khz>(kSection, "khz", M::kKilohertz, 100'000, 10'000'000, "clock of a core", kTable),
      row<kGroup, &C::milli_ipc>(kSection, "milli_ipc", M::kNone, 1, 16'000,
                                 "instructions per cycle, in 1/1000, while no access is waited for",
                                 "assumed, of a 2-wide core"),
      row<kGroup, &C::outstanding>(kSection, "outstanding", M::kNone, 1, 64,
                                   "loads of a core under way at once", "assumed"),
      row<kGroup, &C::data_bytes>(kSection, "data_bytes", M::kBytes, 1024, kMaxSetBytes,
                                  "L1 data cache of a core; lines of 128 bytes", kTable),
      row<kGroup, &C::data_ways>(kSection, "data_ways", M::kNone, 1, 64, "its ways", kTable),
      row<kGroup, &C::code_bytes>(kSection, "code_bytes", M::kBytes, 1024, kMaxSetBytes,
                                  "L1 instruction cache of a core; lines of 128 bytes", kTable),
      row<kGroup, &C::code_ways>(kSection, "code_ways", M::kNone, 1, 64, "its ways", kTable),
      row<kGroup, &C::hot_lines>(kSection, "hot_lines", M::kNone, 0, 1024,
                                 "lines of 64 bytes of a small set that a call touches", kAssumed),
      row<kGroup, &C::hot_bytes>(kSection, "hot_bytes", M::kBytes, 128, kMaxSetBytes, "that set", kAssumed),
      row<kGroup, &C::cold_lines>(kSection, "cold_lines", M::kNone, 0, 1024,
                                  "lines of 64 bytes of a large set that a call touches", kAssumed),
      row<kGroup, &C::cold_bytes>(kSection, "cold_bytes", M::kBytes, 128, kMaxSetBytes, "that set", kAssumed),
      row<kGroup, &C::lock_lines>(
          kSection, "lock_lines", M::kNone, 0, 2,
          "1: stores to the status words of entries lock their lines in the L2 until a core "
          "has accessed them; 2: those to their other fields, too",
          "ComP-Net, section 4"),
      row<kGroup, &C::exclusive_locks>(
          kSection, "exclusive_locks", M::kNone, 0, 1,
          "1: what is neither of a core nor such a store waits until a core has accessed the line",
          "assumed: work-groups may poll a line while it is locked"),
      row<kGroup, &C::unlocked_ways>(kSection, "unlocked_ways", M::kNone, 1, 64,
                                     "ways of a set of the L2 that such stores leave unlocked, at least",
                                     "assumed: one for a line on its way, and one more"),
      row<kGroup, &C::lock_watchdog_us>(
          kSection, "lock_watchdog_us", M::kNone, 0, 1'000'000,
          "a line that has been locked for more microseconds ends the run as a deadlock, when the watchdog "
          "looks (every 2^20 core cycles); 0: never",
          "assumed: a lock lasts as long as a core needs to come round to a queue, which has no bound"),
      row<kGroup, &C::call_updates>(
          kSection, "call_updates", M::kNone, 0, 16,
          "read-modify-writes of a line that the cores of a device share in a call, each "
          "of which locks that line in the L2",
          "assumed: what cores share is not on the way of a call"),
      row<kGroup, &C::call_code_lines>(kSection, "call_code_lines", M::kNone, 0, 1024,
                                       "lines of 64 bytes of its code that a call runs through", kAssumed),
      row<kGroup, &C::call_code_bytes>(kSection, "call_code_bytes", M::kBytes, 128, kMaxSetBytes, "that code",
                                       kAssumed),
  };
}

NetworkRows host_rows_of_network() {
  using H = HostThreadsGroup;
  using M = Measure;
  constexpr auto kGroup = &NetworkConfig::host_threads;
  constexpr const char* kSection = "host_threads";
  return {
      row<kGroup, &H::threads>(kSection, "threads", M::kNone, 1, 64, "service threads of each host",
                               "assumed: as many as cores of a command processor"),
      row<kGroup, &H::khz>(kSection, "khz", M::kKilohertz, 100'000, 10'000'000, "clock of a host's core",
                           "ComP-Net, table 1"),
      row<kGroup, &H::milli_ipc>(kSection, "milli_ipc", M::kNone, 1, 16'000,
                                 "instructions per cycle, in 1/1000, while no access is waited for",
                                 "assumed, of an 8-wide core"),
      row<kGroup, &H::memory_ps>(kSection, "memory_ps", M::kPicoseconds, 1000, kMaxPs,
                                 "host memory, for accesses of NICs", "assumed"),
      row<kGroup, &H::uncached_read_bytes>(kSection, "uncached_read_bytes", M::kBytes, 8, 64,
                                           "of one read of device memory", "assumed: a vector register"),
      row<kGroup, &H::uncached_reads>(kSection, "uncached_reads", M::kNone, 1, 8,
                                      "such reads of an entry under way at once",
                                      "assumed: such reads are in order"),
  };
}

NetworkRows process_rows() {
  using P = HostProcessGroup;
  using M = Measure;
  constexpr auto kGroup = &NetworkConfig::host_process;
  constexpr const char* kSection = "host_process";
  return {
      row<kGroup, &P::threads>(kSection, "threads", M::kNone, 1, 1024,
                               "threads that a device's process computes with, one on each core",
                               "ComP-Net, table 1: 16 cores"),
      row<kGroup, &P::khz>(kSection, "khz", M::kKilohertz, 100'000, 10'000'000, "clock of their cores",
                           "ComP-Net, table 1"),
      row<kGroup, &P::milli_ipc>(kSection, "milli_ipc", M::kNone, 1, 16'000,
                                 "instructions per cycle of a thread that computes, in 1/1000",
                                 "assumed, as host_threads.milli_ipc"),
      row<kGroup, &P::memory_mb_per_second>(
          kSection, "memory_mb_per_second", M::kNone, 1, 4'000'000'000,
          "bytes that the process reads and writes in the host's memory, in 10^6 a second",
          "assumed: what is sustained of 153.6 GB/s, 8 channels of DDR4-2400 (ComP-Net, table 1)"),
      row<kGroup, &P::call_ps>(kSection, "call_ps", M::kPicoseconds, 0, kMaxPs,
                               "a call that sends, receives or waits for messages",
                               "NCCL's model of what posting to the network takes an Intel host: 1.0 us"),
  };
}

NetworkRows energy_rows_of_network() {
  using E = ServiceEnergyGroup;
  using M = Measure;
  constexpr auto kGroup = &NetworkConfig::service_energy;
  constexpr const char* kSection = "service_energy";
  constexpr const char* kMcpat =
      "McPAT 1.3 at 22 nm, 350 K (not the input of ComP-Net's authors, which is not public)";
  constexpr std::uint64_t kMaxEnergy = 4'000'000'000;
  return {
      row<kGroup, &E::core_leak_uw>(kSection, "core_leak_uw", M::kMicrowatts, 0, kMaxEnergy,
                                    "leakage of a core of a command processor", kMcpat),
      row<kGroup, &E::core_base_uw>(kSection, "core_base_uw", M::kMicrowatts, 0, kMaxEnergy,
                                    "its clocks without instructions", kMcpat),
      row<kGroup, &E::core_instruction_fj>(kSection, "core_instruction_fj", M::kFemtojoules, 0, kMaxEnergy,
                                           "its energy of an instruction", kMcpat),
      row<kGroup, &E::host_leak_uw>(kSection, "host_leak_uw", M::kMicrowatts, 0, kMaxEnergy,
                                    "leakage of a core of the host", kMcpat),
      row<kGroup, &E::host_base_uw>(kSection, "host_base_uw", M::kMicrowatts, 0, kMaxEnergy,
                                    "its clocks without instructions", kMcpat),
      row<kGroup, &E::host_instruction_fj>(kSection, "host_instruction_fj", M::kFemtojoules, 0, kMaxEnergy,
                                           "its energy of an instruction", kMcpat),
  };
}

void check_cache(const char* name, std::uint32_t bytes, std::uint32_t ways) {
  if (bytes % (ways * kLineBytes) != 0)
    throw UserError(
        fmt::format("command_processor.{}_bytes is {}, expected a multiple of "
                    "command_processor.{}_ways ({}) lines of {} bytes",
                    name, bytes, name, ways, kLineBytes));
}

/// Rounds bytes up to whole lines.
std::uint64_t in_lines(std::uint64_t bytes) { return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes; }

}  // namespace

const std::vector<NetworkField>& network_fields() {
  static const NetworkRows fields = [] {
    NetworkRows all;
    for (const NetworkRows& rows : {nic_rows(), service_rows(), core_rows(), host_rows_of_network(),
                                    process_rows(), energy_rows_of_network()})
      all.insert(all.end(), rows.begin(), rows.end());
    return all;
  }();
  return fields;
}

bool is_network_section(std::string_view section) {
  return section == "node" ||
         std::ranges::find(network_fields(), section, &NetworkField::section) != network_fields().end();
}

void set_network_value(NetworkConfig& to, std::string_view section, const std::string& key,
                       const std::string& value) {
  if (section == "node") {
    if (key != "design") unknown_key(key, {"design"});
    to.node.design = net_design(value);
    return;
  }
  std::vector<std::string_view> names;
  for (const NetworkField& field : network_fields()) {
    if (field.section != section) continue;
    if (field.parameter.key == key) {
      field.field(to) = static_cast<std::uint32_t>(number_of(field.parameter, value));
      return;
    }
    names.push_back(field.parameter.key);
  }
  unknown_key(key, names);
}

void check_network(const NetworkConfig& config) {
  const CommandProcessorGroup& core = config.command_processor;
  check_cache("data", core.data_bytes, core.data_ways);
  check_cache("code", core.code_bytes, core.code_ways);
}

std::uint64_t core_memory_bytes(const NetworkConfig& config) {
  const CommandProcessorGroup& core = config.command_processor;
  return 2 * in_lines(config.nic.queue_entries * kEntryBytes) + in_lines(core.hot_bytes) +
         in_lines(core.cold_bytes) + in_lines(core.call_code_bytes);
}

std::string network_markdown() {
  const NetworkConfig defaults;
  std::string out = "| key | default | may be | what | source of the default |\n|---|---|---|---|---|\n";
  for (const NetworkField& field : network_fields())
    out +=
        fmt::format("| `{}.{}` | {} | {} | {} | {} |\n", field.section, field.parameter.key,
                    field.get(defaults), expected_text(field.parameter), field.parameter.help, field.source);
  return out;
}

}  // namespace lockstep::config
