// NVML, the management library, for programs that ask it how the GPUs are connected (NCCL does). It knows the
// machine that `lockstep exec` describes in the environment, and nothing of the program's CUDA runtime, so
// that queries do not affect the simulation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/settings.hpp"
#include "nvml/abi.hpp"

#define LOCKSTEP_NVML_API extern "C" __attribute__((visibility("default"))) lockstep::nvml::abi::Return

namespace lockstep::nvml {

using abi::Return;

/// What nvmlDevice_t points to.
struct Device {
  unsigned number = 0;
};

/// The process's; from nvmlInit on.
class Library {
 public:
  static Library& instance();

  /// As often as close(). Throws UserError where the environment describes no machine.
  void open();
  /// False: it is not open.
  [[nodiscard]] bool close();
  [[nodiscard]] bool is_open() const { return opened_ > 0; }
  [[nodiscard]] const cuda::Machine& machine() const { return *machine_; }

  /// nullptr if there is no device with that number.
  [[nodiscard]] Device* device(unsigned number);
  /// The number behind a program's handle; empty if the handle is invalid.
  [[nodiscard]] std::optional<unsigned> number_of(const Device* handle) const;

 private:
  unsigned opened_ = 0;
  std::optional<cuda::Machine> machine_;
  std::vector<Device> devices_;
};

/// Where nodes of the machine (GPUs, then switches) are on the PCI bus: domain 0, device 0, function 0.
[[nodiscard]] unsigned bus_of(unsigned node);
/// "0000:01:00.0"
[[nodiscard]] std::string bus_id(unsigned node);
void describe(unsigned node, abi::PciInfo& info);
void describe(unsigned node, abi::PciInfoLegacy& info);

/// Of the SMs, or of the memory.
[[nodiscard]] unsigned clock_mhz(const config::GpuConfig& gpu, bool memory);

/// Copies a text that a program asks for into its buffer.
[[nodiscard]] Return give(std::string_view text, char* to, unsigned bytes);

/// Runs `body(library)` alone in the process. Precondition of all functions but a few: nvmlInit.
Return locked(Return (*call)(Library&, void*), void* context) noexcept;
template <class Body>
Return api(Body&& body) noexcept {
  return locked(
      [](Library& library, void* context) {
        return library.is_open() ? (*static_cast<Body*>(context))(library) : Return::kUninitialized;
      },
      &body);
}
/// The same for a function of a device: `body(library, number)`.
template <class Body>
Return device_api(const Device* handle, Body&& body) noexcept {
  return api([&](Library& library) {
    const auto number = library.number_of(handle);
    return number ? body(library, *number) : Return::kInvalidArgument;
  });
}

}  // namespace lockstep::nvml
