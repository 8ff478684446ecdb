// How busy units are, for random counters on every model, against a second computation in bytes and seconds
// from the parameters of the machine.
#include "report/usage.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <set>
#include <string>

#include "config/config.hpp"
#include "report/sections.hpp"
#include "stats/descriptors.hpp"
#include "tests/report/hand_made.hpp"

namespace lockstep::report {
namespace {

/// Statistics of one kernel: every counter a random number, but for sums that hold in a run.
nlohmann::ordered_json random_kernel(std::mt19937_64& random) {
  nlohmann::ordered_json kernel{{"cycles", 1 + random() % 100'000}, {"launch_cycles", random() % 5000}};
  for (const stats::Descriptor& d : stats::descriptors()) {
    nlohmann::ordered_json* place = &kernel;
    std::string_view rest = d.name;
    for (auto dot = rest.find('.'); dot != rest.npos; dot = rest.find('.')) {
      place = &(*place)[std::string(rest.substr(0, dot))];
      rest = rest.substr(dot + 1);
    }
    (*place)[std::string(rest)] = random() % 8 == 0 ? 0 : random() % 1'000'000;
  }
  kernel["stalls"]["idle"] = random() % 1000;
  return kernel;
}

/// Of one kernel on one machine, in seconds.
class Clock {
 public:
  Clock(const Values& kernel, const config::GpuConfig& machine)
      : kernel_(kernel),
        machine_(machine),
        seconds_(kernel.number("cycles") / (static_cast<double>(machine.clock.core_khz) * 1e3)) {}

  /// Share of the time in which `units` at this clock, each with `per_cycle`, do `work`.
  [[nodiscard]] double busy(double work, double per_cycle, double units, std::uint64_t khz) const {
    return work / (per_cycle * units * static_cast<double>(khz) * 1e3 * seconds_);
  }
  [[nodiscard]] double dram() const {
    const double channels = machine_.l2.partitions * machine_.dram.channels_per_partition;
    return busy(kernel_.number("dram.bytes"),
                double{1} * machine_.dram.burst_bytes / machine_.dram.burst_cycles, channels,
                machine_.clock.dram_khz);
  }
  [[nodiscard]] double l2() const {
    const double slices = machine_.l2.partitions * machine_.l2.slices_per_partition, sms = machine_.gpu.sms;
    const double read = 32 * kernel_.number("l2.sectors_read");
    const double written = 32 * kernel_.number("l2.sectors_written");
    const auto icnt = machine_.clock.icnt_khz;
    double most = busy(read + written, machine_.l2.slice_bytes_per_cycle, slices, machine_.clock.l2_khz);
    most = std::max(most, busy(read, machine_.icnt.sm_in_bytes, sms, icnt));
    most = std::max(most, busy(read, machine_.icnt.slice_out_bytes, slices, icnt));
    most = std::max(most, busy(written, machine_.icnt.sm_out_bytes, sms, icnt));
    return std::max(most, busy(written, machine_.icnt.slice_in_bytes, slices, icnt));
  }
  [[nodiscard]] double l1() const {
    const auto core = machine_.clock.core_khz;
    const double banks =
        busy(32 * kernel_.number("l1.accesses"), machine_.l1.data_bytes_per_cycle, machine_.gpu.sms, core) +
        busy(kernel_.number("sm.shared_wavefronts"), 1, machine_.gpu.sms, core);
    return std::max(banks,
                    busy(kernel_.number("l1.requests"), machine_.l1.tags_per_cycle, machine_.gpu.sms, core));
  }
  [[nodiscard]] double pipe(const std::string& name) const {
    const bool one = (name == "fp64" && machine_.fp64_shared) || (name == "branch" && machine_.branch_shared);
    return busy(kernel_.number("pipes." + name), 1,
                double{1} * machine_.gpu.sms * (one ? 1 : machine_.sm.subcores), machine_.clock.core_khz);
  }

 private:
  const Values& kernel_;
  const config::GpuConfig& machine_;
  double seconds_;
};

/// Equal but for rounding.
bool close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

void check_stalls(const Usage& usage, const Values& kernel, const config::GpuConfig& machine) {
  const double without = kernel.number("stalls.empty") + kernel.number("stalls.idle");
  const double all = usage.cycles * machine.gpu.sms * machine.sm.subcores;
  CHECK(close(usage.empty * all, without));
  double top = -1;
  stats::Stall reason{};
  for (unsigned s = 0; s < stats::kStalls; ++s) {
    const auto stall = static_cast<stats::Stall>(s);
    if (stall == stats::Stall::kEmpty) continue;
    const double cycles = kernel.number("stalls." + std::string(stats::stall_name(stall)));
    if (all > without) CHECK(close(usage.stall(stall) * (all - without), cycles));
    if (stall != stats::Stall::kIssued && cycles > top) {
      top = cycles;
      reason = stall;
    }
  }
  if (all > without) CHECK(usage.top_stall() == reason);
}

}  // namespace

TEST_CASE("usage of random kernels on every model is bytes over bandwidth and cycles over time") {
  std::mt19937_64 random(11);
  for (const std::string& model : config::gpu_model_names()) {
    const config::GpuConfig machine = config::resolve(model);
    for (int i = 0; i < 20; ++i) {
      const Values kernel("kernel", random_kernel(random));
      const Usage usage = usage_of(kernel, machine);
      const Clock clock(kernel, machine);
      INFO(model << " " << i);
      CHECK(close(usage.dram, clock.dram()));
      CHECK(close(usage.l2, clock.l2()));
      CHECK(close(usage.l1, clock.l1()));
      double most = -1;
      for (unsigned p = 0; p < stats::kPipes; ++p) {
        const auto unit = static_cast<stats::Pipe>(p);
        CHECK(close(usage.pipe(unit), clock.pipe(std::string(pipe_name(unit)))));
        if (unit != stats::Pipe::kMio) most = std::max(most, usage.pipe(unit));
      }
      CHECK(usage.pipe(usage.top_pipe()) == most);
      check_stalls(usage, kernel, machine);
    }
  }
}

TEST_CASE("usage of a kernel that did nothing is nothing, not a division by zero") {
  nlohmann::ordered_json empty = [] {
    std::mt19937_64 random(1);
    return random_kernel(random);
  }();
  for (auto& [key, value] : empty.items()) {
    if (value.is_object()) {
      for (auto& [name, counter] : value.items()) counter = 0;
    } else {
      value = 0;
    }
  }
  const Usage usage = usage_of(Values("kernel", empty), config::resolve("v100"));
  for (const double share :
       {usage.issue, usage.l1, usage.l2, usage.dram, usage.empty, usage.lanes, usage.wavefronts,
        usage.shared_share, usage.constant, usage.constant_passes, usage.atomic_share, usage.warps})
    CHECK(share == 0);
  for (const double share : usage.pipes) CHECK(share == 0);
  for (const double share : usage.stalls) CHECK(share == 0);
}

TEST_CASE("usage: the constant cache is busy for an interval a load, and another one a further pass") {
  std::mt19937_64 random(1);
  nlohmann::ordered_json json = random_kernel(random);
  json["cycles"] = 1000;
  json["sm"]["const_instructions"] = 10'000;
  json["sm"]["const_passes"] = 14'000;
  config::GpuConfig machine = config::resolve("v100");
  machine.mio.const_interval = 2;
  machine.mio.const_pass_interval = 5;
  const Usage usage = usage_of(Values("kernel", json), machine);
  CHECK(usage.constant == Approx((10'000 * 2 + 4'000 * 5) / (1000.0 * 80)));
  CHECK(usage.constant_passes == Approx(1.4));
}

TEST_CASE("usage: units and reasons have names and meanings, each its own") {
  std::set<std::string_view> names, titles, meanings;
  for (unsigned p = 0; p < stats::kPipes; ++p) {
    names.insert(pipe_name(static_cast<stats::Pipe>(p)));
    titles.insert(pipe_title(static_cast<stats::Pipe>(p)));
  }
  for (unsigned s = 0; s < stats::kStalls; ++s) meanings.insert(stall_meaning(static_cast<stats::Stall>(s)));
  CHECK(names.size() == stats::kPipes);
  CHECK(titles.size() == stats::kPipes);
  CHECK(meanings.size() == stats::kStalls);
  // The counters have them in the same order.
  std::vector<std::string> counters;
  for (const stats::Descriptor& d : stats::descriptors())
    if (d.name.starts_with("pipes.")) counters.emplace_back(d.name.substr(6));
  std::sort(counters.begin(), counters.end());
  CHECK(std::equal(counters.begin(), counters.end(), names.begin(), names.end()));
}

}  // namespace lockstep::report
