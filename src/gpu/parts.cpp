#include "core/sm.hpp"
#include "gpu/device.hpp"
#include "mem/partition.hpp"

namespace lockstep::gpu {

Builder real_parts(bool profile) {
  Builder builder;
  builder.sm = [profile](const Wiring& w, std::uint32_t index) {
    return make_part<core::Sm>(w.config, w.fabric, w.map, w.kernels, index, w.skip, w.managed, profile);
  };
  builder.partition = [](const Wiring& w, std::uint32_t index) {
    Part part = make_part<mem::Partition>(w.config, w.fabric, w.map, index, w.skip);
    part.empty_caches = [&partition = static_cast<mem::Partition&>(*part.domain)] { partition.empty_l2(); };
    part.touch = [&partition = static_cast<mem::Partition&>(*part.domain)](
                     std::uint32_t slice, const mem::Touch& touch) { partition.touch(slice, touch); };
    return part;
  };
  return builder;
}

}  // namespace lockstep::gpu
