// Which pages of managed memory the program itself touches between its kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/device_memory.hpp"
#include "util/types.hpp"

namespace lockstep::cuda {

/// Pages [address, address + bytes) that the host read, or wrote as well.
struct HostAccess {
  Address address = 0;
  std::uint64_t bytes = 0;
  bool write = false;
  friend bool operator==(const HostAccess&, const HostAccess&) = default;
};

/// Takes the access rights of all managed pages away; the first read and the first write of each page is then
/// noted by a handler of SIGSEGV, which gives the right back. Other faults go to the handler that was there
/// before. After kFine pages between two calls of give() the unit is the 2 MiB block, written: Linux limits
/// the number of mappings (vm.max_map_count, 65530). System calls do not raise SIGSEGV: what hands them such
/// a buffer must touch it first (preload/touch.cpp). Other threads of the program may run.
///
/// One at a time in a process.
class HostPages {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;
  static constexpr std::uint64_t kFine = 16384;

  explicit HostPages(const exec::DeviceMemory& memory);
  ~HostPages();
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;

  /// From here on accesses are noted.
  void watch();
  /// Everybody has all rights again. What was touched since watch(), ascending, pages of one kind in a row as
  /// one; the same for every order of the touches.
  [[nodiscard]] std::vector<HostAccess> give();

 private:
  [[nodiscard]] bool set_rights(int rights) const;
  void protect(int rights) const;

  const exec::DeviceMemory* memory_;
  bool watching_ = false;
};

}  // namespace lockstep::cuda
