// Stands for domains that another process simulates.
#pragma once

#include <string>

#include "sim/domain.hpp"

namespace lockstep::sim {

/// Nothing is ever due in it. Mail that domains which every process has send it is dropped: where the domain
/// is, they send it too.
class Elsewhere final : public Domain {
 public:
  [[nodiscard]] Cycle advance(Cycle, Cycle) override { return kNever; }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
};

}  // namespace lockstep::sim
