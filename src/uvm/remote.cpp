#include "uvm/remote.hpp"

#include <array>
#include <iterator>

namespace lockstep::uvm {
namespace {

/// Every policy, one line each.
constexpr const RemotePolicy* kRemotePolicies[] = {
    &kRemoteNever, &kRemoteStatic, &kRemoteOversubscribed, &kRemoteAdaptive, &kRemoteCounters,
};

}  // namespace

std::span<const RemotePolicy* const> remote_policies() { return kRemotePolicies; }

std::span<const std::string_view> remote_policy_names() {
  static const auto names = [] {
    std::array<std::string_view, std::size(kRemotePolicies)> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kRemotePolicies[i]->name;
    return all;
  }();
  return names;
}

}  // namespace lockstep::uvm
