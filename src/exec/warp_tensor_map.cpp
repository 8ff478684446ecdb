// Changes of tensor maps.
#include <cstring>

#include "exec/warp_access.hpp"
#include "exec/warp_instructions.hpp"

namespace lockstep::exec {

void execute_tensor_map(WarpState& warp, const Operation& op, LaneMask active) {
  const TensorMapForm& form = warp.machine->kernel.tensor_maps()[op.detail];
  const auto& memory = warp.machine->kernel.memory();
  if (warp.record) warp.note(active);
  if (active == 0) return;
  Addresses objects, from;
  find_addresses(warp, memory[form.object], objects);
  if (form.copies) find_addresses(warp, memory[form.from], from);
  const auto object_at = [&](std::uint32_t l, std::uint32_t place, Address a) {
    std::byte* const object = resolve_one(warp, memory[place].state_space, l, kTensorMapBytes, a);
    if (!object) warp.fault(FaultKind::kIllegalAddress, LaneMask{1} << l, a, "the tensor map");
    return object;
  };
  for_lanes<std::uint32_t>(active, [&](std::uint32_t l) {
    std::byte* const object = object_at(l, form.object, objects.lane[l]);
    if (form.copies) {
      std::memmove(object, object_at(l, form.from, from.lane[l]), kTensorMapBytes);
      return;
    }
    const std::uint64_t bits = warp.at(form.value)->lane[l];
    const std::uint64_t value = form.value_bytes == 8 ? bits : bits & 0xffffffffu;
    if (!replace_tensor_field(object, form.field, form.number, value))
      warp.fault(FaultKind::kIllegalInstruction, LaneMask{1} << l, objects.lane[l],
                 "no tensor map, or a value that is not supported");
  });
}

}  // namespace lockstep::exec
