#include "cuda/devices.hpp"

#include <algorithm>

namespace lockstep::cuda {

Devices::Devices(unsigned count, exec::DeviceMemory& memory) {
  for (unsigned d = 0; d < count; ++d) devices_.push_back(std::make_unique<DeviceState>(d, memory));
}

DeviceState& Devices::at(int number) {
  if (number < 0 || number >= count()) throw ApiError(Status::kErrorInvalidDevice);
  return *devices_[static_cast<unsigned>(number)];
}

bool Devices::end_graph_use(Address address) {
  return std::ranges::any_of(devices_,
                             [address](auto& device) { return device->graph_memory.end_use(address); });
}

bool Devices::heap_owns(Address address) const {
  return std::ranges::any_of(devices_, [address](const auto& device) { return device->heap_owns(address); });
}

bool Devices::any_failed() const {
  return std::ranges::any_of(devices_, [](const auto& device) { return device->sticky != Status::kSuccess; });
}

}  // namespace lockstep::cuda
