// Constants that an instruction cannot name itself: where a function brings them into registers.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "lower/schedule.hpp"
#include "ptx/ir.hpp"

namespace lockstep::lower {

/// In the order in which an instruction that can name but one leaves them to moves.
struct Constant {
  enum class Kind : std::uint8_t {
    kImmediate,  // value: its bits
    kLiteral,    // value: the register that PTX has for it
    kBank,       // the same; of the constant bank
    kWindow,     // what accesses to global memory need besides the address, from sm_80 on; value: 0
  };
  Kind kind = Kind::kImmediate;
  std::uint64_t value = 0;
  bool operator==(const Constant&) const = default;
  bool operator<(const Constant& o) const { return std::tie(kind, value) < std::tie(o.kind, o.value); }
};

/// Each is brought once: where it is first needed or, if that is in a loop, at the end of the run before the
/// outermost loop around it (there, if nothing comes before the loop). ptxas 13.0 takes it out of the
/// innermost loop; how far out, it decides by what registers are left: assumed. It takes going through the
/// function twice: to note what is needed where, then with what at_end() says done.
class BroughtConstants {
 public:
  BroughtConstants(const ptx::Function& function, const std::vector<Run>& runs);

  /// Whether `constant` is now brought for the first time.
  bool bring(const Constant& constant) { return brought_.insert(constant).second; }
  [[nodiscard]] bool has(const Constant& constant) const { return brought_.contains(constant); }
  /// Notes that `run` needs it first.
  void note(std::size_t run, const Constant& constant);
  /// The second time.
  void start_again() { brought_.clear(); }
  /// What is brought at the end of `run` for the loop that follows.
  [[nodiscard]] const std::vector<Constant>& at_end(std::size_t run) const { return at_end_[run]; }

 private:
  std::vector<std::size_t> loop_;  // by run: the first run of the outermost loop around it, if any
  std::set<Constant> brought_;
  std::vector<std::vector<Constant>> at_end_;  // by run
};

}  // namespace lockstep::lower
