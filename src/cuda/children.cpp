// What a kernel launched: run after it, in the order of the launches, tail launches last (CUDA C++
// programming guide, dynamic parallelism, "Order and concurrency": nothing else is promised, as a parent
// cannot wait for its children). Each with its own children before the next.
#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda/cluster.hpp"
#include "cuda/kernel_runner.hpp"

namespace lockstep::cuda {

void KernelRunner::run_children(const std::vector<exec::ChildLaunch>& children, const KernelLaunch& parent,
                                const StreamState& stream) {
  for (const bool tail : {false, true})
    for (const exec::ChildLaunch& child : children)
      if (child.tail == tail) run_child(child, parent, stream);
}

void KernelRunner::copy_or_fill(const exec::ChildLaunch& child, unsigned device) {
  const bool fill = child.kind == exec::ChildLaunch::Kind::kFill;
  const exec::DeviceView view(with_.memory, device);
  const bool reachable = view.accessible(child.to, std::max<std::uint64_t>(child.bytes, 1)) &&
                         (fill || view.accessible(child.from, std::max<std::uint64_t>(child.bytes, 1)));
  if (!reachable) throw ApiError(Status::kErrorIllegalAddress);
  auto* const to = reinterpret_cast<void*>(child.to);
  if (fill) {
    std::memset(to, static_cast<int>(child.value & 0xff), child.bytes);
    with_.memory.wrote(child.to, child.bytes);
  } else {
    std::memmove(to, reinterpret_cast<const void*>(child.from), child.bytes);
    with_.memory.copied(child.to, child.from, child.bytes);
  }
}

void KernelRunner::run_child(const exec::ChildLaunch& child, const KernelLaunch& parent,
                             const StreamState& stream) {
  if (child.kind != exec::ChildLaunch::Kind::kKernel) return copy_or_fill(child, stream.device);
  Module& module = *parent.kernel->module;
  KernelLaunch launch;
  launch.kernel = &with_.modules.kernel(module, module.program().functions[child.function].name);
  launch.grid = {child.grid.x, child.grid.y, child.grid.z};
  launch.block = {child.block.x, child.block.y, child.block.z};
  settle_cluster(*launch.kernel, launch, with_.settings.gpu);
  launch.dynamic_shared = child.dynamic_shared_bytes;
  launch.parameters = child.parameters;
  const auto child_run = begin(std::move(launch), false);
  (void)run(*child_run, stream);
}

}  // namespace lockstep::cuda
