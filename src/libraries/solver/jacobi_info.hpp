// syevjInfo_t and gesvdjInfo_t: how Jacobi's methods are to go on, and how they went.
#pragma once

#include "libraries/common/driver.hpp"
#include "libraries/solver/context.hpp"

namespace lockstep::libraries::solver {

class JacobiInfo {
 public:
  /// In device memory.
  struct Results {
    double residual;
    int sweeps;
  };

  JacobiInfo() = default;
  ~JacobiInfo();
  JacobiInfo(const JacobiInfo&) = delete;
  JacobiInfo& operator=(const JacobiInfo&) = delete;

  int max_sweeps = 100;
  bool sorted = true;  // in batches; alone they always are

  /// Where one matrix' results go; or, for a batch, none: nullptr.
  Results* results_for(const Context& context, bool batch);
  /// After what has been enqueued. Throws where there are none.
  [[nodiscard]] Results results(const Context& context) const;

 private:
  Results* results_ = nullptr;
  int device_ = 0;
  bool of_batch_ = false, used_ = false;
};

struct SyevjInfo : JacobiInfo {};
struct GesvdjInfo : JacobiInfo {};

}  // namespace lockstep::libraries::solver
