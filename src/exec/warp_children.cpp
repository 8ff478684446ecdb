// Dynamic parallelism: the device runtime's functions that launch kernels and what goes with them (names and
// arguments: CUDA 13's cuda_device_runtime_api.h).
#include <bit>
#include <cstring>

#include "exec/cta.hpp"
#include "exec/error_text.hpp"
#include "exec/warp.hpp"

namespace lockstep::exec {

namespace {

// cudaError_t.
constexpr std::uint32_t kSuccess = 0, kInvalidValue = 1, kMemoryAllocation = 2, kInvalidConfiguration = 9,
                        kInvalidDeviceFunction = 98;
constexpr std::uint64_t kTailStream = 3;  // cudaStreamTailLaunch
constexpr std::uint64_t kFirstStream = 0x100;
constexpr std::uint64_t kRuntimeVersion = 13000;
constexpr std::uint64_t kBufferAlign = 256, kMostThreads = 1024;

template <class F>
void for_lanes(LaneMask mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

}  // namespace

Dim3 Warp::dim3_argument(const CallValue& value, std::uint32_t l) {
  std::uint32_t d[3] = {1, 1, 1};
  if (value.in_frame && value.bytes >= sizeof d)
    std::memcpy(d, local(l, frame_local_ + value.offset), sizeof d);
  return {d[0], d[1], d[2]};
}

/// cudaGetParameterBufferV2: device memory for the parameters of `function`, which the launch then takes.
Address Warp::parameter_buffer(const CallSite& site, std::uint32_t l) {
  const auto& arguments = site.arguments;
  const Address target = argument(arguments[0], l);
  const ptx::Program& program = machine_->kernel.program();
  const std::uint64_t id = (target - kCodeWindow) >> kCodeAddressShift;
  const bool kernel = target >= kCodeWindow && id < program.functions.size() && program.functions[id].entry;
  ChildLaunch child;
  child.grid = dim3_argument(arguments[1], l);
  child.block = dim3_argument(arguments[2], l);
  child.dynamic_shared_bytes = static_cast<std::uint32_t>(argument(arguments[3], l));
  const bool sane = child.grid.count() > 0 && child.block.count() > 0 && child.block.count() <= kMostThreads;
  if (!kernel || !sane) {
    note_error(l, kernel ? kInvalidConfiguration : kInvalidDeviceFunction);
    return 0;
  }
  child.function = static_cast<std::uint32_t>(id);
  std::uint64_t bytes = 1;
  for (const auto& p : program.functions[id].parameters) bytes = std::max(bytes, p.offset + p.size);
  child.parameters.resize(bytes);
  const auto buffer =
      machine_->memory.allocate(bytes, MemoryKind::kDevice, kBufferAlign, machine_->launch.device);
  if (!buffer) {
    note_error(l, kMemoryAllocation);
    return 0;
  }
  machine_->buffers.emplace(*buffer, std::move(child));
  return *buffer;
}

std::uint32_t Warp::launch_child(const CallSite& site, std::uint32_t l) {
  const auto found = machine_->buffers.find(argument(site.arguments[0], l));
  if (found == machine_->buffers.end()) return note_error(l, kInvalidValue);
  ChildLaunch child = std::move(found->second);
  std::memcpy(child.parameters.data(), reinterpret_cast<const void*>(found->first), child.parameters.size());
  machine_->memory.release(found->first);
  machine_->buffers.erase(found);
  child.tail = argument(site.arguments[1], l) == kTailStream;
  add_child(std::move(child));
  return kSuccess;
}

void Warp::add_child(ChildLaunch child) {
  if (!machine_->options.children)
    fault(FaultKind::kIllegalInstruction, now_.mask, 0, "kernels that launch kernels cannot run here");
  machine_->options.children->push_back(std::move(child));
}

/// cudaMemcpyAsync and cudaMemsetAsync: at their place among the launches.
std::uint32_t Warp::child_copy(const CallSite& site, std::uint32_t l, bool fill) {
  ChildLaunch child;
  child.kind = fill ? ChildLaunch::Kind::kFill : ChildLaunch::Kind::kCopy;
  child.to = argument(site.arguments[0], l);
  const std::uint64_t second = argument(site.arguments[1], l);
  (fill ? child.value : child.from) = second;
  child.bytes = argument(site.arguments[2], l);
  child.tail = argument(site.arguments.back(), l) == kTailStream;
  add_child(std::move(child));
  return kSuccess;
}

std::uint32_t Warp::note_error(std::uint32_t l, std::uint32_t error) {
  machine_->last_errors[{cta_->index(), index_ * kWarpSize + l}] = error;
  return error;
}

/// The last error of a lane's thread; `take` forgets it.
std::uint32_t Warp::last_error(std::uint32_t l, bool take) {
  const auto found = machine_->last_errors.find({cta_->index(), index_ * kWarpSize + l});
  if (found == machine_->last_errors.end()) return kSuccess;
  const std::uint32_t error = found->second;
  if (take) machine_->last_errors.erase(found);
  return error;
}

/// A text of the host in the device's heap.
Address Warp::device_text(const char* text) {
  const std::size_t bytes = std::strlen(text) + 1;
  const Address at_byte = machine_->heap->allocate(bytes);
  if (at_byte != 0) std::memcpy(reinterpret_cast<void*>(at_byte), text, bytes);
  machine_->memory.wrote(at_byte, bytes);
  return at_byte;
}

/// Writes a result through a pointer that the kernel gave.
void Warp::put_result(std::uint32_t l, Address to, std::uint64_t value, std::uint32_t bytes) {
  std::byte* const where = resolve_one(Reach::kGeneric, l, bytes, to);
  if (!where) fault(FaultKind::kIllegalAddress, LaneMask{1} << l, to, "a result of the device runtime");
  std::memcpy(where, &value, bytes);
  machine_->memory.wrote(to, bytes);
}

std::uint64_t Warp::device_runtime(const CallSite& site, std::uint32_t l) {
  const auto& arguments = site.arguments;
  const auto value = [&](std::size_t i) { return argument(arguments[i], l); };
  switch (site.runtime) {
    case Runtime::kParameterBuffer:
      return parameter_buffer(site, l);
    case Runtime::kLaunchDevice:
      return launch_child(site, l);
    case Runtime::kMemcpyAsync:
      return child_copy(site, l, false);
    case Runtime::kMemsetAsync:
      return child_copy(site, l, true);
    case Runtime::kTakeError:
    case Runtime::kPeekError:
      return last_error(l, site.runtime == Runtime::kTakeError);
    case Runtime::kErrorText:
      return device_text(error_text(static_cast<int>(value(0))));
    case Runtime::kErrorName:
      return device_text(error_name(static_cast<int>(value(0))));
    case Runtime::kDeviceMalloc: {
      const Address given = machine_->heap->allocate(value(1));
      put_result(l, value(0), given, 8);
      return given != 0 ? kSuccess : note_error(l, kMemoryAllocation);
    }
    case Runtime::kDeviceFree:
      return machine_->heap->release(value(0)) ? kSuccess : note_error(l, kInvalidValue);
    case Runtime::kCreateHandle:  // streams and events: what is launched runs in the order of the launches
      put_result(l, value(0), kFirstStream + machine_->handles++, 8);
      return kSuccess;
    case Runtime::kGetDevice:
      put_result(l, value(0), 0, 4);
      return kSuccess;
    case Runtime::kDeviceCount:
      put_result(l, value(0), 1, 4);
      return kSuccess;
    case Runtime::kVersion:
      put_result(l, value(0), kRuntimeVersion, 4);
      return kSuccess;
    default:  // kOrders: stream and event functions that only order
      return kSuccess;
  }
}

}  // namespace lockstep::exec
