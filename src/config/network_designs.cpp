#include "config/network_designs.hpp"

#include <vector>

#include "config/value.hpp"

namespace lockstep::config {
namespace {

using Server = NetDesignTraits::Server;

// LeBeane et al., "ComP-Net", PACT 2018, sections 2 and 5, for all but `direct`: that is what IBGDA of
// NVSHMEM does.
constexpr NetDesignTraits kDesigns[] = {
    {"compnet", Server::kCores, false, false},        {"dgpu", Server::kHostThreads, false, false},
    {"dgpu_host", Server::kHostThreads, true, false}, {"apu", Server::kHostThreads, true, true},
    {"direct", Server::kNic, false, false},           {"inter_kernel", Server::kProcesses, false, false},
    {"cpu", Server::kProcesses, false, false, true},
};

}  // namespace

std::span<const NetDesignTraits> net_designs() { return kDesigns; }

const NetDesignTraits& traits(NetDesign design) { return kDesigns[static_cast<std::size_t>(design)]; }

NetDesign net_design(std::string_view name) {
  std::vector<std::string_view> names;
  for (const NetDesignTraits& design : kDesigns) names.push_back(design.name);
  return static_cast<NetDesign>(index_of(names, name));
}

}  // namespace lockstep::config
