#include "uvm/remote.hpp"

namespace lockstep::uvm {

/// The hardware's access counters since Volta (open-gpu-kernel-modules, uvm_gpu_access_counters.c): remote
/// accesses only, loads and stores, by 64 KiB; a notification migrates all of the 64 KiB.
constinit const RemotePolicy kRemoteCounters{
    "counters", "64 KiB migrate with their uvm.remote_threshold-th remote access (hardware's counters)", true,
    true, [](const RemoteContext& c) { return c.threshold; }};

}  // namespace lockstep::uvm
