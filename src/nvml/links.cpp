// How devices are connected: NVLink, and who reaches whose memory.
#include <algorithm>
#include <optional>

#include "nvml/library.hpp"

namespace lockstep::nvml {

namespace {

/// nvmlNvLinkCapability_t.
enum Capability : unsigned {
  kPeers,
  kSystemMemory,
  kPeerAtomics,
  kSystemAtomics,
  kSli,
  kValid,
  kCapabilities
};
/// nvmlGpuP2PStatus_t.
enum PeerStatus : int { kOk = 0, kNotSupported = 5 };
/// nvmlGpuP2PCapsIndex_t.
enum PeerAccess : int { kRead, kWrite, kNvLink, kAtomics };
/// NVML_FI_*: nvmlFieldValue_t::field.
enum Field : unsigned { kC2cLinks = 170, kLinkState = 165 };
constexpr int kUnsignedInt = 1;  // nvmlValueType_t

/// Number of the device's link `link`'s other end; nothing: there is no such link.
std::optional<unsigned> other_end(const cuda::Machine& machine, unsigned device, unsigned link) {
  for (const cuda::Links& links : machine.links) {
    if (links.a != device && links.b != device) continue;
    if (link < links.count) return links.a == device ? links.b : links.a;
    link -= links.count;
  }
  return std::nullopt;
}

/// `body(other end)`, where the device has that link.
template <class Body>
Return link_api(const Device* handle, unsigned link, const void* result, Body&& body) {
  return device_api(handle, [&](Library& library, unsigned number) {
    const auto other = other_end(library.machine(), number, link);
    if (result == nullptr || !other) return Return::kInvalidArgument;
    body(*other);
    return Return::kSuccess;
  });
}

/// Only two fields are supported: the number of links to a CPU's chip, which is 0, and whether NVLink number
/// `scope` is up.
Return field_of(const cuda::Machine& machine, unsigned device, abi::FieldValue& value) {
  value.timestamp = value.latency_us = 0;  // asking takes no simulated time
  value.value_type = kUnsignedInt;
  if (value.field == kC2cLinks) return value.value.ui = 0, Return::kSuccess;
  if (value.field != kLinkState) return Return::kNotSupported;
  if (!other_end(machine, device, value.scope)) return Return::kInvalidArgument;
  return value.value.ui = 1, Return::kSuccess;
}

}  // namespace

LOCKSTEP_NVML_API nvmlDeviceGetNvLinkState(const Device* handle, unsigned link, int* active) {
  return link_api(handle, link, active, [&](unsigned) { *active = 1; });
}
LOCKSTEP_NVML_API nvmlDeviceGetNvLinkCapability(const Device* handle, unsigned link, unsigned capability,
                                                unsigned* has) {
  if (capability >= kCapabilities) return Return::kInvalidArgument;
  return link_api(handle, link, has, [&](unsigned) {
    *has = capability == kPeers || capability == kPeerAtomics || capability == kValid ? 1 : 0;
  });
}
LOCKSTEP_NVML_API nvmlDeviceGetNvLinkRemotePciInfo(const Device* handle, unsigned link,
                                                   abi::PciInfoLegacy* info) {
  return link_api(handle, link, info, [&](unsigned other) { describe(other, *info); });
}
LOCKSTEP_NVML_API nvmlDeviceGetNvLinkRemotePciInfo_v2(const Device* handle, unsigned link,
                                                      abi::PciInfo* info) {
  return link_api(handle, link, info, [&](unsigned other) { describe(other, *info); });
}
LOCKSTEP_NVML_API nvmlDeviceGetP2PStatus(const Device* one, const Device* other, int access, int* status) {
  return device_api(one, [&](Library& library, unsigned a) {
    const auto b = library.number_of(other);
    if (!b || status == nullptr || access < kRead) return Return::kInvalidArgument;
    const bool peers = !library.machine().apart.contains(std::minmax(a, *b));
    const bool linked = peers && a != *b && !library.machine().links.empty();
    *status = (access == kNvLink ? linked : peers && access <= kAtomics) ? kOk : kNotSupported;
    return Return::kSuccess;
  });
}
LOCKSTEP_NVML_API nvmlDeviceGetFieldValues(const Device* handle, int count, abi::FieldValue* values) {
  return device_api(handle, [&](Library& library, unsigned number) {
    if (count < 0 || values == nullptr) return Return::kInvalidArgument;
    for (int i = 0; i < count; ++i) values[i].result = field_of(library.machine(), number, values[i]);
    return Return::kSuccess;
  });
}
/// Memory that several nodes' GPUs share (NVLink between nodes) is not there.
LOCKSTEP_NVML_API nvmlDeviceGetGpuFabricInfo(const Device* handle, void*) {
  return device_api(handle, [](Library&, unsigned) { return Return::kNotSupported; });
}
LOCKSTEP_NVML_API nvmlDeviceGetGpuFabricInfoV(const Device* handle, void*) {
  return device_api(handle, [](Library&, unsigned) { return Return::kNotSupported; });
}

}  // namespace lockstep::nvml
