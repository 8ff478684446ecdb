// The instructions of profiled kernels, each code once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/device.hpp"
#include "stats/report.hpp"

namespace lockstep::gpu {

class ProfileBook {
 public:
  /// `codes` grows; it must outlive this.
  explicit ProfileBook(std::vector<stats::ProfiledCode>& codes) : codes_(&codes) {}

  /// Between windows, after Device::settle and before the slot's feed is closed: takes the profile of the
  /// slot's kernel for its result.
  void enter(Device& device, std::uint8_t slot, stats::KernelResult& result);

  template <class A>
  void persist(A& a) {
    a.members(*this, a.given(codes_), by_kernel_);
  }

 private:
  [[nodiscard]] std::uint32_t number_of(stats::ProfiledCode code);

  std::vector<stats::ProfiledCode>* codes_;
  std::multimap<std::string, std::uint32_t> by_kernel_;
};

}  // namespace lockstep::gpu
