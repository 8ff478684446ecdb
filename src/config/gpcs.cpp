#include "config/gpcs.hpp"

#include <algorithm>

namespace lockstep::config {

std::vector<std::uint32_t> gpc_of_sms(const GpuGroup& gpu) {
  const std::uint32_t per_tpc = std::max<std::uint32_t>(gpu.sms_per_tpc, 1);
  const std::uint32_t even = gpu.sms - (gpu.gpcs > 1 ? std::min(gpu.last_gpc_sms, gpu.sms) : 0);
  const std::uint64_t tpcs = (even + per_tpc - 1) / per_tpc;
  const std::uint64_t gpcs =
      std::clamp<std::uint64_t>(gpu.gpcs - (even < gpu.sms ? 1 : 0), 1, std::max<std::uint64_t>(tpcs, 1));
  std::vector<std::uint32_t> gpc(gpu.sms, static_cast<std::uint32_t>(gpcs));
  for (std::uint32_t sm = 0; sm < even; ++sm)
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
