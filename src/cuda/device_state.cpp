#include "cuda/device_state.hpp"

#include <algorithm>

namespace lockstep::cuda {

namespace {
constexpr int kLimitStack = 0, kLimitHeap = 2;
}

DeviceState::DeviceState(unsigned number, exec::DeviceMemory& memory) : number_(number), memory_(memory) {
  default_stream.number = number;
  default_stream.device = number;
  default_stream.is_default = true;
}

std::size_t DeviceState::limit(int limit) const {
  if (limit < 0 || static_cast<std::size_t>(limit) >= kLimits) throw ApiError(Status::kErrorUnsupportedLimit);
  return limits_[static_cast<std::size_t>(limit)];
}

void DeviceState::set_limit(int number, std::size_t value) {
  (void)limit(number);
  limits_[static_cast<std::size_t>(number)] = value;
  if (number == kLimitStack) stack_bytes_ = std::max(stack_bytes_, value);
}

exec::DeviceHeap& DeviceState::heap() {
  if (!heap_) heap_ = std::make_unique<exec::DeviceHeap>(memory_, limits_[kLimitHeap], number_);
  return *heap_;
}

}  // namespace lockstep::cuda
