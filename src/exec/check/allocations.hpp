// Which addresses of global memory a program may access: each allocation to its last byte. Internal to
// src/exec.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "exec/device_memory.hpp"

namespace lockstep::exec {

class CheckedAllocations {
 public:
  explicit CheckedAllocations(const DeviceMemory& memory) : memory_(memory) {}

  void allocated(const Allocation& allocation);
  void released(const Allocation& allocation);

  /// Does [address, address + bytes) lie in one allocation, or in registered memory of the host?
  [[nodiscard]] bool hold(Address address, std::uint64_t bytes);
  /// Where an address lies that none holds, as text. `freed`: in an allocation that is no more.
  struct Place {
    bool freed = false;
    std::string text;
  };
  [[nodiscard]] Place describe(Address address) const;

 private:
  const DeviceMemory& memory_;
  std::map<Address, Allocation> freed_;  // whose place no other has taken
  Address begin_ = 0;                    // of the allocation that was found last
  std::uint64_t bytes_ = 0;
};

}  // namespace lockstep::exec
