// The devices of the process, from number 0 on.
#pragma once

#include <memory>
#include <vector>

#include "cuda/context.hpp"
#include "cuda/device_state.hpp"

namespace lockstep::cuda {

class Devices {
 public:
  Devices(unsigned count, exec::DeviceMemory& memory);

  [[nodiscard]] int count() const { return static_cast<int>(devices_.size()); }
  /// The calling thread's.
  [[nodiscard]] DeviceState& current() { return *devices_[current_device()]; }
  /// Throws ApiError(InvalidDevice).
  [[nodiscard]] DeviceState& at(int number);
  /// The number of one that is there.
  [[nodiscard]] DeviceState& operator[](unsigned number) { return *devices_[number]; }

  /// Memory of graphs that is in use, whosever it is: GraphMemory::end_use().
  [[nodiscard]] bool end_graph_use(Address address);
  /// Is it the memory of a heap?
  [[nodiscard]] bool heap_owns(Address address) const;
  /// Has any of them had a fault since its reset?
  [[nodiscard]] bool any_failed() const;

 private:
  std::vector<std::unique_ptr<DeviceState>> devices_;
};

}  // namespace lockstep::cuda
