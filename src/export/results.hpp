// How long kernels and copies of a recording took in a run: its folder of results.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <tuple>

#include "config/system_config.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::exporter {

/// Each time is given out once: launches of the same kernel in one stream complete in their order.
class Results {
 public:
  /// `folder`: what `run -o` has written. Throws UserError / InputError where it is of another trace or does
  /// not reach its end.
  Results(std::string folder, const trace::TraceSet& trace);

  /// The configuration of the run.
  [[nodiscard]] const config::SystemConfig& system() const { return system_; }

  /// In ps: the launch floor and the cycles of the kernel's next launch. Throws InputError if there is none.
  [[nodiscard]] std::uint64_t take_kernel(const trace::KernelHeader& kernel, std::uint16_t device);
  /// In ps: of the next such copy, from when its link is free. `kind`: as stats::CopyResult's; `device`: that
  /// carries it out.
  [[nodiscard]] std::uint64_t take_copy(std::string_view kind, std::uint16_t device, Address address,
                                        std::uint64_t bytes);
  /// Throws InputError if a kernel or copy is left.
  void check_empty() const;

 private:
  using KernelKey = std::tuple<std::uint16_t, std::uint64_t, std::uint64_t, std::string>;
  using CopyKey = std::tuple<std::uint16_t, std::string, std::string, std::uint64_t>;

  void read_kernels(const nlohmann::ordered_json& kernels);
  void read_copies(const nlohmann::ordered_json& copies);

  std::string folder_;
  config::SystemConfig system_;
  std::map<KernelKey, std::deque<std::uint64_t>> kernels_;  // device, stream, id, name
  std::map<CopyKey, std::deque<std::uint64_t>> copies_;     // device, kind, address, bytes
};

}  // namespace lockstep::exporter
