#include "exec/machine.hpp"

#include <fmt/format.h>

#include "ptx/printer.hpp"
#include "ptx/source_lines.hpp"

namespace lockstep::exec {

Dim3 Machine::cta_id(std::uint64_t index) const {
  const Dim3& g = launch.grid;
  return {static_cast<std::uint32_t>(index % g.x), static_cast<std::uint32_t>(index / g.x % g.y),
          static_cast<std::uint32_t>(index / g.x / g.y)};
}

Dim3 Machine::thread_id(std::uint32_t linear) const {
  const Dim3& b = launch.block;
  return {linear % b.x, linear / b.x % b.y, linear / b.x / b.y};
}

void Machine::notify_observer(std::uint64_t ctas, const std::function<std::string()>& dump) {
  if (options.observer == nullptr) return;
  const RunCounts executed{counts.warp_instructions - observed.warp_instructions,
                           counts.thread_instructions - observed.thread_instructions};
  observed = counts;
  options.observer->executed(executed, ctas, dump);
}

std::string Machine::devices_of(Address address) const {
  if (memory.multicast().contains(address))
    return fmt::format(
        "device {} executed; it is a multicast address, which only multimem instructions reach",
        launch.device);
  if (memory.devices() == 1) return {};
  const auto owner = memory.owner(address);
  if (!owner) return fmt::format("device {} executed", launch.device);
  if (*owner == launch.device) return fmt::format("device {} executed, and it is its own memory", *owner);
  return fmt::format("device {} executed, and it is device {}'s memory{}", launch.device, *owner,
                     memory.is_peer(launch.device, *owner) ? "" : ", to which it has no peer access");
}

void Machine::fault(FaultKind kind, std::uint64_t cta, std::uint32_t thread, std::uint32_t operation,
                    Address address, const std::string& detail) const {
  FaultSite site;
  const ptx::Instruction& instruction = kernel.instruction(operation);
  site.kernel = kernel.name();
  const ptx::Function& function = *kernel.function_of(operation).source;
  const ptx::ModuleInfo& module = kernel.program().modules[function.module];
  site.module = module.name;
  site.source = ptx::source_text(instruction.source, function, module.files);
  site.line = instruction.place.line;
  site.instruction = ptx::print(instruction.form);
  site.cta = cta_id(cta);
  site.thread = thread_id(thread);
  site.address = address;
  const bool says_all = !detail.empty() && memory.multicast().contains(address);
  const std::string devices =
      kind == FaultKind::kIllegalAddress && !says_all ? devices_of(address) : std::string();
  throw DeviceFault(kind, std::move(site),
                    detail + (detail.empty() || devices.empty() ? "" : "; ") + devices);
}

}  // namespace lockstep::exec
