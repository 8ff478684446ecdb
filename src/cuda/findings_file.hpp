// The file with what the checks of this process have found.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cuda/settings.hpp"
#include "cuda/warnings.hpp"
#include "exec/check/checker.hpp"
#include "exec/device_memory.hpp"

namespace lockstep::cuda {

/// Where `settings` ask for no check, every function does nothing.
class FindingsFile {
 public:
  /// `memory` and `warnings` must outlive this.
  FindingsFile(const Settings& settings, exec::DeviceMemory& memory, Warnings& warnings);

  /// nullptr: nothing is checked.
  [[nodiscard]] exec::Checker* checker() { return checker_.get(); }
  /// What has been found so far, where it is more than the file says.
  void save();
  /// At the end of the process: allocations that still exist, except for those that according to `owned` are
  /// not the program's.
  void find_leaks(const std::function<bool(const exec::Allocation&)>& owned);

 private:
  std::string folder_;
  Warnings& warnings_;
  std::unique_ptr<exec::Checker> checker_;
  std::uint64_t saved_ = ~std::uint64_t{0};  // errors and warnings
};

}  // namespace lockstep::cuda
