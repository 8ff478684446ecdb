// What serves the network requests of kernels: NICs, command processors, threads of hosts.
#pragma once

#include <cstdint>

#include "config/network_designs.hpp"

namespace lockstep::config {

/// The defaults are those of network_fields.cpp, which gives the unit, meaning and source of each.
struct NodeGroup {
  NetDesign design = NetDesign::kCompNet;
};

struct NicGroup {
  std::uint32_t op_occupancy_ps = 100'000;
  std::uint32_t process_ps = 50'000;
  std::uint32_t operations = 256;
  std::uint32_t outstanding = 1024;
  std::uint32_t queue_entries = 256;
  std::uint32_t payload_in_l2 = 0;  // icnt::CopyInL2
};

struct ServiceGroup {
  std::uint32_t poll_instructions = 12;
  std::uint32_t issue_instructions = 800;
  std::uint32_t complete_instructions = 200;
  std::uint32_t rounds_per_progress = 1;
  std::uint32_t waits_for_blocking = 0;
};

/// One per device.
struct CommandProcessorGroup {
  std::uint32_t cores = 2;
  std::uint32_t khz = 2'000'000;
  std::uint32_t milli_ipc = 800;
  std::uint32_t outstanding = 8;
  std::uint32_t data_bytes = 32 * 1024, data_ways = 8;
  std::uint32_t code_bytes = 16 * 1024, code_ways = 8;
  std::uint32_t hot_lines = 16, hot_bytes = 8 * 1024;
  std::uint32_t cold_lines = 8, cold_bytes = 64 * 1024;
  std::uint32_t lock_lines = 1, exclusive_locks = 0, unlocked_ways = 2, lock_watchdog_us = 0;
  std::uint32_t call_updates = 0;
  std::uint32_t call_code_lines = 20, call_code_bytes = 24 * 1024;
};

/// One per host.
struct HostThreadsGroup {
  std::uint32_t threads = 2;
  std::uint32_t khz = 4'000'000;
  std::uint32_t milli_ipc = 1800;
  std::uint32_t memory_ps = 80'000;
  std::uint32_t uncached_read_bytes = 32;
  std::uint32_t uncached_reads = 1;
};

/// For each device's process on its host.
struct HostProcessGroup {
  std::uint32_t threads = 16;
  std::uint32_t khz = 4'000'000;
  std::uint32_t milli_ipc = 1800;
  std::uint32_t memory_mb_per_second = 90'000;
  std::uint32_t call_ps = 1'000'000;
};

/// For the core of a service thread.
struct ServiceEnergyGroup {
  std::uint32_t core_leak_uw = 224'000, core_base_uw = 268'000, core_instruction_fj = 175'000;
  std::uint32_t host_leak_uw = 754'000, host_base_uw = 268'000, host_instruction_fj = 289'000;
};

struct NetworkConfig {
  NodeGroup node;
  NicGroup nic;
  ServiceGroup service;
  CommandProcessorGroup command_processor;
  HostThreadsGroup host_threads;
  HostProcessGroup host_process;
  ServiceEnergyGroup service_energy;
};

/// Bytes of device memory that each core of the command processor needs (trace::Command::kNetMemory):
/// commands, completion records, its own data and its code, each aligned to 128.
[[nodiscard]] std::uint64_t core_memory_bytes(const NetworkConfig& config);

}  // namespace lockstep::config
