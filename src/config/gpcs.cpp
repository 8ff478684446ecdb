#include "config/gpcs.hpp"

#include <algorithm>

namespace lockstep::config {

std::vector<std::uint32_t> gpc_of_sms(const GpuGroup& gpu) {
  const std::uint32_t per_tpc = std::max<std::uint32_t>(gpu.sms_per_tpc, 1);
  const std::uint64_t tpcs = (gpu.sms + per_tpc - 1) / per_tpc;
  const std::uint64_t gpcs = std::clamp<std::uint64_t>(gpu.gpcs, 1, tpcs);
  std::vector<std::uint32_t> gpc(gpu.sms);
  for (std::uint32_t sm = 0; sm < gpu.sms; ++sm)
    gpc[sm] = static_cast<std::uint32_t>(sm / per_tpc * gpcs / tpcs);
  return gpc;
}

std::vector<std::uint32_t> sms_of_gpcs(const GpuGroup& gpu) {
  const std::vector<std::uint32_t> gpc = gpc_of_sms(gpu);
  std::vector<std::uint32_t> sms(gpc.empty() ? 0 : gpc.back() + 1);
  for (const std::uint32_t g : gpc) ++sms[g];
  return sms;
}

}  // namespace lockstep::config
