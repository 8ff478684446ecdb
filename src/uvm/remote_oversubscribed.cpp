#include "uvm/remote.hpp"

namespace lockstep::uvm {

/// UVMSmart's -enable_dma 3: first touch while memory lasts, a fixed number of accesses afterwards.
constinit const RemotePolicy kRemoteOversubscribed{
    "oversubscribed", "static, once memory has been over-subscribed", false, false,
    [](const RemoteContext& c) { return c.oversubscribed ? c.threshold : 0u; }};

}  // namespace lockstep::uvm
