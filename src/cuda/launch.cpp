#include "cuda/launch.hpp"

#include <algorithm>
#include <cstring>

#include "config/occupancy.hpp"
#include "cuda/cluster.hpp"
#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

std::uint64_t volume(const std::array<std::uint32_t, 3>& d) {
  return std::uint64_t{d[0]} * std::max(d[1], 1u) * std::max(d[2], 1u);
}

void check_geometry(const Kernel& kernel, const KernelLaunch& launch, const config::GpuConfig& gpu) {
  const auto limits = device_properties(gpu);
  const auto inside = [](const abi::dim3& d, const int* limit) {
    return d.x > 0 && d.y > 0 && d.z > 0 && d.x <= static_cast<unsigned>(limit[0]) &&
           d.y <= static_cast<unsigned>(limit[1]) && d.z <= static_cast<unsigned>(limit[2]);
  };
  require(inside(launch.grid, limits.maxGridSize) && inside(launch.block, limits.maxThreadsDim),
          Status::kErrorInvalidConfiguration);
  const std::uint64_t threads = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  require(threads <= kMaxThreadsPerCta, Status::kErrorInvalidConfiguration);
  const auto& directives = kernel.function().directives;
  if (const auto most = volume(directives.maxntid); most > 0)
    require(threads <= most, Status::kErrorInvalidValue);
  if (const auto& exact = directives.reqntid; exact[0] > 0)
    require(launch.block.x == exact[0] && launch.block.y == exact[1] && launch.block.z == exact[2],
            Status::kErrorInvalidValue);
}

const RegisterChoice& register_choice() {
  static const RegisterChoice choice = read_register_choice();
  return choice;
}

trace::KernelHeader header_with(std::uint32_t registers, const Kernel& kernel, const KernelLaunch& launch,
                                const config::GpuConfig& gpu) {
  trace::KernelHeader header;
  header.name = kernel.name;
  header.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  header.block = {launch.block.x, launch.block.y, launch.block.z};
  if (launch.cluster) header.cluster = {launch.cluster->x, launch.cluster->y, launch.cluster->z};
  header.shared_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      shared_of(kernel, gpu, register_choice()) + std::min<std::uint64_t>(launch.dynamic_shared, UINT32_MAX),
      UINT32_MAX));
  header.registers = registers;
  header.binary_version = gpu.gpu.arch;
  return header;
}

/// 0: not even one fits.
std::uint32_t ctas_per_sm(const trace::KernelHeader& header, const config::GpuConfig& gpu) {
  try {
    return config::occupancy(gpu, header).ctas_per_sm;
  } catch (const UserError&) {
    return 0;
  }
}

/// Whether an SM has room for a CTA. Registers count only where they are known: an estimate, for which the
/// kernel would have to be lowered, never exceeds what the CTA leaves (registers_of()).
bool fits(const Kernel& kernel, const KernelLaunch& launch, const config::GpuConfig& gpu) {
  const std::uint32_t known = kernel.known_registers(register_choice());
  return ctas_per_sm(header_with(known, kernel, launch, gpu), gpu) > 0;
}

void check_resources(const Kernel& kernel, const KernelLaunch& launch, const config::GpuConfig& gpu) {
  require(launch.dynamic_shared <= kernel.max_dynamic_shared &&
              launch.dynamic_shared + static_shared_bytes(kernel) <= shared_limits(gpu).opt_in,
          Status::kErrorInvalidValue);
  require(fits(kernel, launch, gpu), Status::kErrorLaunchOutOfResources);
  if (launch.cooperative) {
    const std::uint64_t ctas = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    require(ctas <= std::uint64_t{ctas_per_sm(kernel, launch, gpu)} * gpu.gpu.sms,
            Status::kErrorCooperativeLaunchTooLarge);
  }
}

std::vector<std::byte> collect_parameters(const ptx::Function& entry, void** args) {
  std::uint64_t bytes = 0;
  for (const auto& p : entry.parameters) bytes = std::max(bytes, p.offset + p.size);
  std::vector<std::byte> buffer(bytes);
  require(entry.parameters.empty() || args != nullptr, Status::kErrorInvalidValue);
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    require(args[i] != nullptr, Status::kErrorInvalidValue);
    std::memcpy(buffer.data() + entry.parameters[i].offset, args[i], entry.parameters[i].size);
  }
  return buffer;
}

}  // namespace

std::uint32_t max_threads_of(const Kernel& kernel) {
  const auto& directives = kernel.function().directives;
  const std::uint64_t most = volume(directives.reqntid[0] > 0 ? directives.reqntid : directives.maxntid);
  return most > 0 ? static_cast<std::uint32_t>(most) : kMaxThreadsPerCta;
}

std::uint64_t static_shared_bytes(const Kernel& kernel) { return kernel.executable().shared_bytes(); }

std::uint32_t register_estimate(const Kernel& kernel, const config::GpuConfig& gpu) {
  constexpr std::uint32_t kMin = 16, kMax = 255;
  std::uint32_t most = kMax;
  const auto& d = kernel.function().directives;
  if (d.maxnreg > 0) most = std::min(most, d.maxnreg);
  if (const std::uint64_t threads = volume(d.maxntid) * std::max(d.minnctapersm, 1u); threads > 0)
    most =
        std::min(most, static_cast<std::uint32_t>(std::max<std::uint64_t>(gpu.sm.registers / threads, kMin)));
  return std::max(std::min(kernel.code(gpu.gpu.arch).registers(), most), kMin);
}

std::uint32_t registers_of(const Kernel& kernel, const config::GpuConfig& gpu, const RegisterChoice& choice) {
  const std::uint32_t known = kernel.known_registers(choice);
  return known > 0 ? known : register_estimate(kernel, gpu);
}

std::uint32_t registers_of(const Kernel& kernel, const KernelLaunch& launch, const config::GpuConfig& gpu,
                           const RegisterChoice& choice) {
  if (const std::uint32_t known = kernel.known_registers(choice); known > 0) return known;
  const std::uint64_t threads = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  return std::min(register_estimate(kernel, gpu), config::max_registers(gpu.sm, threads));
}

std::uint32_t shared_of(const Kernel& kernel, const config::GpuConfig& gpu, const RegisterChoice& choice) {
  constexpr std::uint32_t kOwnSystemPart = 90;  // from this architecture on it stands in the cubin
  const CubinKernel* const code =
      choice.source == RegisterChoice::Source::kCubin ? kernel.machine_code() : nullptr;
  if (code == nullptr) return static_cast<std::uint32_t>(static_shared_bytes(kernel));
  const std::uint64_t system = gpu.gpu.arch >= kOwnSystemPart ? gpu.sm.shared_reserved : 0;
  return static_cast<std::uint32_t>(code->shared_bytes - std::min(code->shared_bytes, system));
}

trace::KernelHeader launch_header(const Kernel& kernel, const KernelLaunch& launch,
                                  const config::GpuConfig& gpu) {
  return header_with(registers_of(kernel, launch, gpu, register_choice()), kernel, launch, gpu);
}

std::uint32_t ctas_per_sm(const Kernel& kernel, const KernelLaunch& launch, const config::GpuConfig& gpu) {
  return ctas_per_sm(launch_header(kernel, launch, gpu), gpu);
}

KernelLaunch prepare_launch(const Kernel& kernel, KernelLaunch launch, void** args,
                            const config::GpuConfig& gpu) {
  launch.kernel = &kernel;
  settle_cluster(kernel, launch, gpu);
  check_geometry(kernel, launch, gpu);
  check_resources(kernel, launch, gpu);
  launch.parameters = collect_parameters(kernel.function(), args);
  return launch;
}

}  // namespace lockstep::cuda
