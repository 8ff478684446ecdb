// Policies by name: built-in ones, and those that a program that links the library adds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/error.hpp"

namespace lockstep::uvm {

/// `Policy` has a `name`. Not owned. Configurations store a policy's position, so policies are added before
/// the first configuration is read, and are never removed.
template <class Policy>
class Registry {
 public:
  explicit Registry(std::span<const Policy* const> built_in) : policies_(built_in.begin(), built_in.end()) {
    for (const Policy* policy : policies_) names_.push_back(policy->name);
  }

  [[nodiscard]] std::span<const Policy* const> policies() const { return policies_; }
  /// For the configuration's table of parameters: after this call no policy can be added.
  [[nodiscard]] std::span<const std::string_view> names() {
    read_ = true;
    return names_;
  }
  /// Throws UserError if the name is taken, or if the names have been read.
  void add(const Policy& policy) {
    const std::string name(policy.name);
    if (read_) throw UserError("policy '" + name + "' is added too late: a configuration has been read");
    for (const std::string_view taken : names_)
      if (taken == name) throw UserError("there is a policy '" + name + "' already");
    policies_.push_back(&policy);
    names_.push_back(policy.name);
  }

 private:
  std::vector<const Policy*> policies_;
  std::vector<std::string_view> names_;
  bool read_ = false;
};

}  // namespace lockstep::uvm
