// What happens to memory, for the recorded trace: copies and fills in their streams, managed memory that host
// and devices touch, whose memory is where.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "cuda/host_pages.hpp"
#include "cuda/operation.hpp"
#include "cuda/preferred_host.hpp"
#include "cuda/stream_log.hpp"
#include "exec/device_memory.hpp"

namespace lockstep::cuda {

class MemoryLog {
 public:
  explicit MemoryLog(const exec::DeviceMemory& memory) : memory_(memory) {}

  /// Where notes go from now on; earlier ones are dropped. The log must outlive this.
  void record_into(StreamLog& log) { log_ = &log; }

  /// What the program itself did with managed memory since the last call. Its accesses are not watched until
  /// watch(): what runs on a device has all rights.
  void note_host();
  void watch() {
    if (host_pages_ && watches_) host_pages_->watch();
  }
  /// Are the program's accesses of any interest from now on? Allocations always are.
  void set_watching(bool watches);
  /// cudaMemAdvise; `advice`: 1 to 6. The place that is named is the host, or `device`.
  void advise(Address begin, std::uint64_t bytes, int advice, bool host, std::uint16_t device);
  /// With several devices: a range of addresses is this device's memory from now on.
  void place(unsigned device, Address begin, std::uint64_t bytes);
  /// A range of multicast addresses is this device's memory from `memory` on, beside that of other devices.
  void multicast(unsigned device, Address begin, std::uint64_t bytes, Address memory);
  // What has been done in a stream.
  void copy(const Copy& copy, const StreamState& stream);
  void fill(const Fill& fill, const StreamState& stream);
  // The same of work that is not recorded: only what it comes after, and that the host waits for it.
  void order(const Copy& copy, const StreamState& stream);
  void order(const Fill& fill, const StreamState& stream);

 private:
  /// Who writes and reads in a copy: the host where that is managed memory, a device.
  struct Sides {
    bool host_writes, host_reads;
    bool to_device, from_device;
    [[nodiscard]] bool cross() const { return to_device != from_device; }
  };
  [[nodiscard]] Sides sides_of(const Copy& copy) const;
  [[nodiscard]] bool host_waits(const Copy& copy, const Sides& sides) const;
  void note_allocations();
  [[nodiscard]] bool is_on_device(const std::byte* address) const;
  [[nodiscard]] bool is_managed(const std::byte* address) const;
  [[nodiscard]] bool between_devices(const Copy& copy) const;
  [[nodiscard]] bool host_touches(const std::byte* address, int kind, int naming_kind) const;
  void touch(const CopyEnd& end, std::uint64_t bytes, bool write, bool host, const StreamState& stream);
  void copy_inside(const Copy& copy, const StreamState& stream);

  const exec::DeviceMemory& memory_;
  StreamLog* log_ = nullptr;                  // nullptr: nothing is recorded
  bool watches_ = true;                       // the program's own accesses, where there is a log
  std::unique_ptr<HostPages> host_pages_;     // from the first managed allocation on
  std::map<Address, std::uint64_t> managed_;  // managed allocations that are known: bytes
  PreferredHost preferred_host_;
};

}  // namespace lockstep::cuda
