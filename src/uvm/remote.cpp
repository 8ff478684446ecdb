#include "uvm/remote.hpp"

#include <array>
#include <iterator>

namespace lockstep::uvm {
namespace {

/// Every policy, one line each.
constexpr const RemotePolicy* kPolicies[] = {
    &kRemoteNever, &kRemoteStatic, &kRemoteOversubscribed, &kRemoteAdaptive, &kRemoteCounters,
};

}  // namespace

std::span<const RemotePolicy* const> remote_policies() { return kPolicies; }

std::span<const std::string_view> remote_policy_names() {
  static const auto names = [] {
    std::array<std::string_view, std::size(kPolicies)> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kPolicies[i]->name;
    return all;
  }();
  return names;
}

}  // namespace lockstep::uvm
