#include "nvml/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>

#include "cuda/device.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::nvml {

namespace {

std::mutex& mutex() {
  static std::mutex one;
  return one;
}

void copy(char* to, std::size_t bytes, const std::string& text) {
  std::memset(to, 0, bytes);
  std::memcpy(to, text.data(), std::min(bytes - 1, text.size()));
}

}  // namespace

Library& Library::instance() {
  static Library one;
  return one;
}

void Library::open() {
  if (!machine_) {
    machine_ = cuda::read_machine();
    for (unsigned d = 0; d < machine_->devices; ++d) devices_.push_back({d});
  }
  ++opened_;
}

bool Library::close() {
  if (opened_ == 0) return false;
  --opened_;
  return true;
}

Device* Library::device(unsigned number) { return number < devices_.size() ? &devices_[number] : nullptr; }

std::optional<unsigned> Library::number_of(const Device* handle) const {
  for (const Device& device : devices_)
    if (&device == handle) return device.number;
  return std::nullopt;
}

unsigned bus_of(unsigned node) { return node + 1; }  // as cudaDeviceGetPCIBusId
std::string bus_id(unsigned node) { return fmt::format("0000:{:02x}:00.0", bus_of(node)); }

void describe(unsigned node, abi::PciInfo& info) {
  info = {};
  info.bus = bus_of(node);
  copy(info.bus_id_legacy, sizeof info.bus_id_legacy, bus_id(node));
  copy(info.bus_id, sizeof info.bus_id, "0000" + bus_id(node));
}
void describe(unsigned node, abi::PciInfoLegacy& info) {
  info = {};
  info.bus = bus_of(node);
  copy(info.bus_id, sizeof info.bus_id, bus_id(node));
}

unsigned clock_mhz(const config::GpuConfig& gpu, bool memory) {
  constexpr unsigned kKhzPerMhz = 1000;
  return static_cast<unsigned>((memory ? cuda::memory_clock_khz(gpu) : gpu.clock.core_khz) / kKhzPerMhz);
}

Return give(std::string_view text, char* to, unsigned bytes) {
  if (to == nullptr) return Return::kInvalidArgument;
  if (bytes <= text.size()) return Return::kInsufficientSize;
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  return Return::kSuccess;
}

Return locked(Return (*call)(Library&, void*), void* context) noexcept {
  try {
    const std::scoped_lock lock(mutex());
    return call(Library::instance(), context);
  } catch (const UserError& error) {  // the environment describes no machine
    print_err("lockstep: {}\n", error.what());
    return Return::kDriverNotLoaded;
  } catch (const std::exception&) {
    return Return::kUnknown;
  }
}

}  // namespace lockstep::nvml
