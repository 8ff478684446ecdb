#include "uvm/remote.hpp"

namespace lockstep::uvm {

/// UVMSmart's -enable_dma 0: the first touch migrates.
constinit const RemotePolicy kRemoteNever{"never", "every page that is touched migrates", false, false,
                                          [](const RemoteContext&) { return 0u; }};

}  // namespace lockstep::uvm
