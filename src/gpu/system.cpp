#include "gpu/system.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::gpu {
namespace {

std::uint64_t time_base(std::span<const config::GpuConfig> devices) {
  std::vector<std::uint64_t> clocks;
  for (const config::GpuConfig& device : devices) clocks.push_back(device.clock.core_khz);
  return sim::time_base_khz(clocks);
}

}  // namespace

System::System(sim::Engine& engine, std::span<const config::GpuConfig> devices, const Plan& plan,
               const Builder& builder, bool skip)
    : base_khz_(time_base(devices)), host_(plan.commands, plan.streams, devices.front().host.copy_mode) {
  const sim::DomainId host = engine.claim(1);
  engine.place(host, host_, sim::DomainKind::kOther);
  for (const config::GpuConfig& config : devices) {
    const sim::DomainClock& clock = clocks_.emplace_back(base_khz_, config.clock.core_khz);
    devices_.push_back(std::make_unique<Device>(engine, host, config, plan, builder, skip));
    devices_.back()->attach(engine, clock);
    host_.add_device(devices_.back()->dispatcher(), clock);
  }
  for (const KernelPlan& kernel : plan.kernels)
    devices_[kernel.device]->dispatcher().set_plan(kernel.kernel, kernel.launch);
}

bool System::quiescent() const {
  return host_.quiescent() && std::all_of(devices_.begin(), devices_.end(),
                                          [](const auto& device) { return device->quiescent(); });
}

std::string System::busy_domains() const {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  if (!host_.queue().done()) add("host");
  for (std::size_t d = 0; d < devices_.size(); ++d)
    for (const std::string& name : devices_[d]->busy_domains())
      add(devices_.size() > 1 ? fmt::format("device {}: {}", d, name) : name);
  return names;
}

std::string System::dump() const {
  std::string text;
  if (!host_.queue().done()) host_.dump(text);
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const std::string device = devices_[d]->dump();
    if (devices_.size() > 1 && !device.empty()) text += fmt::format("device {}:\n", d);
    text += device;
  }
  return text;
}

SystemWindow window_limit(System& system) {
  SystemWindow found;
  for (std::uint16_t d = 0; d < system.devices(); ++d) {
    const Device& device = system.device(d);
    WindowLimit limit = window_limit(device.config(), device.fabric());
    const Time time = system.clock(d).to_time.floor(limit.cycles);
    if (time < found.time) found = {time, std::move(limit), d};
  }
  return found;
}

}  // namespace lockstep::gpu
