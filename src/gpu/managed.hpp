// Which memory of a trace is managed, and how much of the device there is for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/system_config.hpp"
#include "trace/kernel_trace.hpp"
#include "uvm/address_space.hpp"

namespace lockstep::gpu {

/// GPUs translate 49 bits since Pascal (its whitepaper).
inline constexpr Address kAddressEnd = Address{1} << 49;

/// Device memory for managed data: bytes, or a share of the footprint in millionths. The footprint of a
/// program's own managed memory (kTrace) is what it has allocated so far, so that it can be known beside the
/// running program; the share grows with it and never shrinks.
struct ManagedMemory {
  std::uint64_t bytes = 0;  // 0: what the configuration says
  std::uint64_t millionths = 0;
};

/// `lockstep run --managed`. Where no memory is managed nothing of it exists.
struct ManagedOptions {
  /// kTrace: what the trace names as managed; kNone: none, also where it does.
  enum class Kind : std::uint8_t { kTrace, kNone, kAll, kRanges, kCopies } kind = Kind::kTrace;
  std::vector<std::pair<Address, std::uint64_t>> ranges;  // kRanges: first byte, bytes
  ManagedMemory memory;
};

/// "none", "all", "memcpy", or ADDR+SIZE several times, separated by commas; sizes with or without
/// a unit (util/size.hpp). What begins with none of these and no digit is the path of a file of allocations
/// (managed_file.hpp). Throws UserError, InputError.
[[nodiscard]] ManagedOptions parse_managed(std::string_view text);
/// "0.8x", or a size. Throws UserError.
[[nodiscard]] ManagedMemory parse_gpu_memory(std::string_view text);

/// The program has this memory managed from now on. Rounded outward to pages; what was managed before keeps
/// its allocation. Throws UserError.
void manage(uvm::AddressSpace& space, const trace::Command& command);

/// The managed memory of a run: one allocation for each range, rounded outward to pages; ranges that share a
/// page become one. kTrace: the trace's managed allocations, in its order (manage()). kCopies: the targets of
/// the trace's copies to the device. kAll: everything below 2^49, and all of the devices' regions
/// (trace::device_region). Local memory, constants and code are never managed. Throws UserError where nothing
/// is managed although something was asked for.
[[nodiscard]] uvm::AddressSpace managed_space(const trace::TraceSet& trace, const ManagedOptions& options);

/// Throws UserError where the options can hold for no trace: a share of no known footprint, memory for
/// nothing.
void check(const ManagedOptions& options);

/// Nothing is managed: throws UserError where an amount of memory is given for it.
void check_memory_is_managed(const trace::TraceSet& trace, const ManagedOptions& options);

/// Whether the device memory grows with the program's allocations.
[[nodiscard]] bool grows(const ManagedOptions& options);
/// Bytes; `memory` is a share.
[[nodiscard]] std::uint64_t share_of(const uvm::AddressSpace& space, const ManagedMemory& memory);
/// Pages of device memory for it when the run begins, at least 1: one where it grows. `capacity`: bytes of
/// the device. Throws UserError.
[[nodiscard]] std::uint64_t managed_frames(const uvm::AddressSpace& space, const ManagedOptions& options,
                                           std::uint64_t capacity);
/// The page frames of each device of a system.
[[nodiscard]] std::vector<std::uint64_t> managed_frames(const uvm::AddressSpace& space,
                                                        const ManagedOptions& options,
                                                        const config::SystemConfig& system);

}  // namespace lockstep::gpu
