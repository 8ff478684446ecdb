// Dynamic parallelism: the device runtime's functions that launch kernels and what goes with them (names and
// arguments: CUDA 13's cuda_device_runtime_api.h).
#include <bit>
#include <cstring>

#include "exec/error_text.hpp"
#include "exec/warp_access.hpp"
#include "exec/warp_frame.hpp"
#include "exec/warp_runtime.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::exec {

namespace {

// cudaError_t.
constexpr std::uint32_t kSuccess = 0, kInvalidValue = 1, kMemoryAllocation = 2, kInvalidConfiguration = 9,
                        kInvalidDeviceFunction = 98;
constexpr std::uint64_t kTailStream = 3;  // cudaStreamTailLaunch
constexpr std::uint64_t kFirstStream = 0x100;
constexpr std::uint64_t kRuntimeVersion = 13000;
constexpr std::uint64_t kBufferAlign = 256;

std::uint32_t note_error(WarpState& warp, std::uint32_t l, std::uint32_t error) {
  warp.machine->last_errors[{warp.cta->index, warp.index * kWarpSize + l}] = error;
  return error;
}

Dim3 dim3_argument(WarpState& warp, const CallValue& value, std::uint32_t l) {
  std::uint32_t d[3] = {1, 1, 1};
  if (value.in_frame && value.bytes >= sizeof d)
    std::memcpy(d, warp.local.at(l, warp.frame_local + value.offset), sizeof d);
  return {d[0], d[1], d[2]};
}

/// cudaGetParameterBufferV2: device memory for the parameters of `function`, which the launch then takes.
Address parameter_buffer(WarpState& warp, const CallSite& site, std::uint32_t l) {
  const auto& arguments = site.arguments;
  const Address target = argument(warp, arguments[0], l);
  const ptx::Program& program = warp.machine->kernel.program();
  const std::uint64_t id = (target - kCodeWindow) >> kCodeAddressShift;
  const bool kernel = target >= kCodeWindow && id < program.functions.size() && program.functions[id].entry;
  ChildLaunch child;
  child.grid = dim3_argument(warp, arguments[1], l);
  child.block = dim3_argument(warp, arguments[2], l);
  child.dynamic_shared_bytes = static_cast<std::uint32_t>(argument(warp, arguments[3], l));
  const bool sane = child.grid.count() > 0 && child.block.count() > 0 &&
                    child.block.count() <= trace::KernelHeader::kMaxThreads;
  if (!kernel || !sane) {
    note_error(warp, l, kernel ? kInvalidConfiguration : kInvalidDeviceFunction);
    return 0;
  }
  child.function = static_cast<std::uint32_t>(id);
  std::uint64_t bytes = 1;
  for (const auto& p : program.functions[id].parameters) bytes = std::max(bytes, p.offset + p.size);
  child.parameters.resize(bytes);
  const auto buffer =
      warp.machine->memory.allocate(bytes, MemoryKind::kDevice, kBufferAlign, warp.machine->launch.device);
  if (!buffer) {
    note_error(warp, l, kMemoryAllocation);
    return 0;
  }
  warp.machine->buffers.emplace(*buffer, std::move(child));
  return *buffer;
}

void add_child(WarpState& warp, ChildLaunch child) {
  if (!warp.machine->options.children)
    warp.fault(FaultKind::kIllegalInstruction, warp.now.mask, 0,
               "kernels that launch kernels cannot run here");
  warp.machine->options.children->push_back(std::move(child));
}

std::uint32_t launch_child(WarpState& warp, const CallSite& site, std::uint32_t l) {
  const auto found = warp.machine->buffers.find(argument(warp, site.arguments[0], l));
  if (found == warp.machine->buffers.end()) return note_error(warp, l, kInvalidValue);
  ChildLaunch child = std::move(found->second);
  std::memcpy(child.parameters.data(), reinterpret_cast<const void*>(found->first), child.parameters.size());
  warp.machine->memory.release(found->first);
  warp.machine->buffers.erase(found);
  child.tail = argument(warp, site.arguments[1], l) == kTailStream;
  add_child(warp, std::move(child));
  return kSuccess;
}

/// cudaMemcpyAsync and cudaMemsetAsync: at their place among the launches.
std::uint32_t child_copy(WarpState& warp, const CallSite& site, std::uint32_t l, bool fill) {
  ChildLaunch child;
  child.kind = fill ? ChildLaunch::Kind::kFill : ChildLaunch::Kind::kCopy;
  child.to = argument(warp, site.arguments[0], l);
  const std::uint64_t second = argument(warp, site.arguments[1], l);
  (fill ? child.value : child.from) = second;
  child.bytes = argument(warp, site.arguments[2], l);
  child.tail = argument(warp, site.arguments.back(), l) == kTailStream;
  add_child(warp, std::move(child));
  return kSuccess;
}

/// The last error of a lane's thread; `take` forgets it.
std::uint32_t last_error(WarpState& warp, std::uint32_t l, bool take) {
  const auto found = warp.machine->last_errors.find({warp.cta->index, warp.index * kWarpSize + l});
  if (found == warp.machine->last_errors.end()) return kSuccess;
  const std::uint32_t error = found->second;
  if (take) warp.machine->last_errors.erase(found);
  return error;
}

/// A text of the host in the device's heap.
Address device_text(WarpState& warp, const char* text) {
  const std::size_t bytes = std::strlen(text) + 1;
  const Address at_byte = warp.machine->heap->allocate(bytes);
  if (at_byte != 0) std::memcpy(reinterpret_cast<void*>(at_byte), text, bytes);
  warp.machine->memory.wrote(at_byte, bytes);
  return at_byte;
}

/// Writes a result through a pointer that the kernel gave.
void put_result(WarpState& warp, std::uint32_t l, Address to, std::uint64_t value, std::uint32_t bytes) {
  std::byte* const where = resolve_one(warp, StateSpace::kGeneric, l, bytes, to);
  if (!where) warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, to, "a result of the device runtime");
  std::memcpy(where, &value, bytes);
  warp.machine->memory.wrote(to, bytes);
}

}  // namespace

std::uint64_t call_device_runtime(WarpState& warp, const CallSite& site, std::uint32_t l) {
  const auto& arguments = site.arguments;
  const auto value = [&](std::size_t i) { return argument(warp, arguments[i], l); };
  switch (site.runtime) {
    case Runtime::kParameterBuffer:
      return parameter_buffer(warp, site, l);
    case Runtime::kLaunchDevice:
      return launch_child(warp, site, l);
    case Runtime::kMemcpyAsync:
      return child_copy(warp, site, l, false);
    case Runtime::kMemsetAsync:
      return child_copy(warp, site, l, true);
    case Runtime::kTakeError:
    case Runtime::kPeekError:
      return last_error(warp, l, site.runtime == Runtime::kTakeError);
    case Runtime::kErrorText:
      return device_text(warp, error_text(static_cast<int>(value(0))));
    case Runtime::kErrorName:
      return device_text(warp, error_name(static_cast<int>(value(0))));
    case Runtime::kDeviceMalloc: {
      const Address given = warp.machine->heap->allocate(value(1));
      put_result(warp, l, value(0), given, 8);
      return given != 0 ? kSuccess : note_error(warp, l, kMemoryAllocation);
    }
    case Runtime::kDeviceFree:
      return warp.machine->heap->release(value(0)) ? kSuccess : note_error(warp, l, kInvalidValue);
    case Runtime::kCreateHandle:  // streams and events: what is launched runs in the order of the launches
      put_result(warp, l, value(0), kFirstStream + warp.machine->handles++, 8);
      return kSuccess;
    case Runtime::kGetDevice:  // as the host numbers them
      put_result(warp, l, value(0), warp.machine->launch.device, 4);
      return kSuccess;
    case Runtime::kDeviceCount:
      put_result(warp, l, value(0), warp.machine->memory.devices(), 4);
      return kSuccess;
    case Runtime::kVersion:
      put_result(warp, l, value(0), kRuntimeVersion, 4);
      return kSuccess;
    default:  // kOrders: stream and event functions that only order
      return kSuccess;
  }
}

}  // namespace lockstep::exec
