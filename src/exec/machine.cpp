#include "exec/machine.hpp"

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

void Machine::tell_observer(std::uint64_t ctas, const std::function<std::string()>& dump) {
  if (options.observer == nullptr) return;
  const RunCounts executed{counts.warp_instructions - observed.warp_instructions,
                           counts.thread_instructions - observed.thread_instructions};
  observed = counts;
  options.observer->executed(executed, ctas, dump);
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
  throw DeviceFault(kind, std::move(site), detail);
}

}  // namespace lockstep::exec
