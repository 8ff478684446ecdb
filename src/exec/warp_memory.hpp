// Loads and stores of a warp. Internal to src/exec.
#pragma once

#include <array>
#include <cstddef>

#include "exec/warp_access.hpp"

namespace lockstep::exec {

/// Accesses of a block through a base register that an access before them has gone through (known_bases.cpp)
/// have all lanes' addresses from that one, as far away as their offsets.
class LoadStore {
 public:
  /// Before another split runs: nothing is known.
  void forget() {
    for (Access& access : known_) access.mask = 0;
  }
  void load(WarpState& warp, const Operation& op, LaneMask active);
  void store(WarpState& warp, const Operation& op, LaneMask active);

 private:
  void load_anywhere(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active);
  /// One value of up to 8 bytes for each lane, from neighbouring places or all from one.
  static void load_near(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active,
                        bool neighbours, const std::byte* from);
  void store_anywhere(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active);

  // warp_known.cpp: through a base that is known, or anywhere
  void load_known(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active);
  void store_known(WarpState& warp, const Operation& op, const MemoryForm& form, LaneMask active);

  std::array<Access, kBasePlaces + 1> known_;  // by MemoryForm::place
};

}  // namespace lockstep::exec
