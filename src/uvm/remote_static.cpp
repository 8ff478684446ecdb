#include "uvm/remote.hpp"

namespace lockstep::uvm {

/// UVMSmart's -enable_dma 2: a fixed number of accesses to the 64 KB, as Volta's access counters were
/// described.
constinit const RemotePolicy kRemoteStatic{"static",
                                           "a page migrates with the uvm.remote_threshold-th access", false,
                                           false, [](const RemoteContext& c) { return c.threshold; }};

}  // namespace lockstep::uvm
