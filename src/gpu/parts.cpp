#include "core/sm.hpp"
#include "gpu/machine.hpp"
#include "mem/partition.hpp"

namespace lockstep::gpu {

Builder real_parts() {
  Builder builder;
  builder.sm = [](const Wiring& w, std::uint32_t index) {
    return make_part<core::Sm>(w.config, w.fabric, w.map, w.kernels, index, w.skip, w.managed);
  };
  builder.partition = [](const Wiring& w, std::uint32_t index) {
    return make_part<mem::Partition>(w.config, w.fabric, w.map, index, w.skip);
  };
  return builder;
}

}  // namespace lockstep::gpu
