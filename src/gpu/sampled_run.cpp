#include "gpu/sampled_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>

#include "gpu/l2_warm_up.hpp"
#include "stats/descriptors.hpp"
#include "trace/kernel_size.hpp"
#include "util/error.hpp"

namespace lockstep::gpu {
namespace {

constexpr double kReach = 4;            // sizes of the L2 that warm-ups go back; assumed
constexpr std::size_t kMinWarmUps = 2;  // launches; assumed: programs that swap buffers
constexpr double kLargestError = 0.1;   // that is aimed at within a kernel; assumed

constexpr std::size_t kL2Sectors =
    1 + (offsetof(stats::KernelCounters, mem) + offsetof(stats::PartitionCounters, l2) +
         offsetof(stats::CacheCounters, accesses)) /
            sizeof(std::uint64_t);

/// Counters are whole and not negative; stalls and empty cycles are those of all sub-core cycles.
void set_counters(stats::KernelResult& result, const sampling::Measures& measures) {
  auto* words = reinterpret_cast<std::uint64_t*>(&result.counters);
  for (std::size_t i = 1; i < sampling::kMeasures; ++i)
    words[i - 1] = static_cast<std::uint64_t>(std::llround(std::max(measures[i], 0.0)));
  auto& stalls = result.counters.sm.stalls;
  std::uint64_t& empty = stalls[static_cast<unsigned>(stats::Stall::kEmpty)];
  empty = 0;
  const std::uint64_t others = std::accumulate(stalls.begin(), stalls.end(), std::uint64_t{0});
  const std::uint64_t all = result.cycles * result.subcores;
  empty = all > others ? all - others : 0;
}

double l2_bytes(const config::GpuConfig& config) {
  return static_cast<double>(config.l2.partitions) * config.l2.slices_per_partition *
         static_cast<double>(config.l2.slice_bytes);
}

bool overlap(const std::vector<stats::KernelResult>& kernels) {
  std::vector<std::pair<Cycle, Cycle>> spans;
  for (const stats::KernelResult& k : kernels) spans.emplace_back(k.start_cycle, k.start_cycle + k.cycles);
  std::sort(spans.begin(), spans.end());
  Cycle end = 0;
  for (const auto& [first, last] : spans) {
    if (first < end) return true;
    end = std::max(end, last);
  }
  return false;
}

const char* model_name(sampling::Fit::Model model) {
  using Model = sampling::Fit::Model;
  return model == Model::kLinear ? "linear" : model == Model::kMean ? "mean" : "ratio";
}

stats::SamplingReport::Quantity quantity(const sampling::Estimate& e) { return {e.value, e.half_width}; }

}  // namespace

SampledRun::SampledRun(const sampling::Options& options, const trace::TraceSet& trace, const Plan& plan,
                       System& system, FeedSet& feeds)
    : options_(options), trace_(&trace), device_(&system.device(0)), feeds_(&feeds) {
  if (system.devices() > 1)
    throw UserError(
        fmt::format("--sample: found {} devices, expected one: kernels of several wait for each other",
                    system.devices()));
  if (plan.manages)
    throw UserError(
        "--sample: the trace has managed memory, whose pages move with every launch; expected none "
        "(--managed none simulates it as device memory)");
  std::map<std::uint32_t, trace::KernelSize> sizes;
  std::vector<sampling::Launch> launches;
  launch_of_.resize(plan.commands.size());
  for (std::size_t i = 0; i < plan.commands.size(); ++i) {
    const host::HostCommand& command = plan.commands[i];
    if (command.kind != host::HostCommand::Kind::kKernel) continue;
    launch_of_[i] = static_cast<std::uint32_t>(kernel_of_.size());
    kernel_of_.push_back(command.kernel);
    const auto [size, is_new] = sizes.try_emplace(command.kernel);
    if (is_new) size->second = trace::size_of(trace, command.kernel);
    launches.push_back({&trace.kernels()[command.kernel], size->second});
  }
  launches_.emplace(options, launches);
  timed_.resize(device_->kernels().size());
  device_->dispatcher().set_chooser(*this);
}

core::LaunchChoice SampledRun::choose(std::uint32_t command, std::uint8_t slot) {
  const std::uint32_t launch = launch_of_[command];
  const sampling::LaunchSampler::Choice choice = launches_->choose(launch);
  if (!choice.timed) {
    passed_over_.push_back(launch);
    return {false, choice.cycles, false, kNever};
  }
  Timed& timed = timed_[slot] = {launch, cta_sampler(launch), take_warm_ups(launch)};
  return {true, 0, !timed.warm_ups.empty(), timed.ctas ? timed.ctas->mark() : kNever};
}

std::optional<sampling::CtaSampler> SampledRun::cta_sampler(std::uint32_t launch) const {
  const core::LaunchPlan& plan = device_->dispatcher().plan(kernel_of_[launch]);
  const config::GpuConfig& config = device_->config();
  const std::uint64_t wave = std::uint64_t{plan.occupancy.ctas_per_sm} * config.gpu.sms;
  if (plan.cluster > 1 || plan.ctas < sampling::CtaSampler::kMinWaves * wave) return std::nullopt;
  // Kernels together may take half of the run's variance: shares * errors squared add up to error^2 / 2. A
  // kernel alone may take all.
  const double share = launches_->share(launch);
  const double error = std::min(kLargestError, options_.error / std::sqrt(share < 1 ? 2 * share : 1));
  const sampling::LongKernel kernel{plan.ctas, wave, l2_bytes(config) / kSectorBytes, launch};
  return std::optional<sampling::CtaSampler>(std::in_place, kernel, error, options_.confidence,
                                             options_.seed);
}

/// Going back from the latest. What is older than four times the L2 is forgotten.
std::vector<std::uint32_t> SampledRun::take_warm_ups(std::uint32_t launch) {
  const auto& config = device_->config();
  if (options_.warm_up == 0 || config.launch.cache_control != config::CacheControl::kNone) return {};
  std::vector<std::uint32_t> chosen;
  double bytes = 0, size = 0;
  const double most = options_.warm_up * launches_->size(launch);
  while (!passed_over_.empty() && (size < most || chosen.size() < kMinWarmUps)) {
    const std::uint32_t next = passed_over_.back();
    passed_over_.pop_back();
    chosen.push_back(next);
    size += launches_->size(next);
    bytes += launches_->predict(next)[kL2Sectors] * kSectorBytes;
    if (bytes >= kReach * l2_bytes(config)) passed_over_.clear();
  }
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

Cycle SampledRun::left_out_cycles(std::uint8_t slot) {
  Timed& timed = timed_[slot];
  timed.held = static_cast<Cycle>(std::llround(timed.ctas->predict(0, -1).value));
  return timed.held;
}

Cycle SampledRun::next_cut() const {
  const auto& stops = device_->dispatcher().stops();
  return stops_done_ < stops.size() ? stops[stops_done_].cut : kNever;
}

void SampledRun::stop(Cycle now, KernelLedger& ledger) {
  const auto& stops = device_->dispatcher().stops();
  for (; next_cut() <= now; ++stops_done_) {
    const core::Dispatcher::Stop& stop = stops[stops_done_];
    stop.launch ? warm_up(timed_[stop.slot]) : at_mark(stop, now, ledger);
  }
}

void SampledRun::warm_up(const Timed& timed) {
  for (const std::uint32_t launch : timed.warm_ups) warm_l2(*device_, *trace_, kernel_of_[launch]);
}

void SampledRun::at_mark(const core::Dispatcher::Stop& stop, Cycle now, KernelLedger& ledger) {
  core::Dispatcher& dispatcher = device_->dispatcher();
  const core::Dispatcher::Slot& slot = dispatcher.slot(stop.slot);
  if (slot.state != core::Dispatcher::SlotState::kActive || !timed_[stop.slot].ctas) return;
  if (slot.dispatched == dispatcher.plan(slot.kernel).ctas) return;
  sampling::CtaSampler& ctas = *timed_[stop.slot].ctas;
  ledger.collect_active();
  const sampling::Measures so_far =
      sampling::measures_of(now - slot.first_dispatch, ledger.so_far(stop.slot));
  const std::uint64_t first = slot.dispatched, count = ctas.at_mark(so_far, first);
  if (count > 0) {
    const std::uint64_t pass = std::min(count, ctas_to_pass(ctas, so_far, first - slot.left_out));
    feeds_->skip(0, stop.slot, first, first + count - pass);
    feeds_->pass(0, stop.slot, first + count - pass, first + count,
                 [&](const trace::CtaFeed& feed, const trace::CtaTrace& cta) {
                   warm_l2(*device_, feed.header(), feed.instructions(), cta, true);
                 });
    dispatcher.leave_out(stop.slot, count);
  }
  dispatcher.set_mark(stop.slot, ctas.mark());
}

/// `timed`: CTAs that were dispatched so far.
std::uint64_t SampledRun::ctas_to_pass(const sampling::CtaSampler& ctas, const sampling::Measures& so_far,
                                       std::uint64_t timed) const {
  const double bytes_of_cta = so_far[kL2Sectors] * kSectorBytes / static_cast<double>(timed);
  return static_cast<std::uint64_t>(
      std::min(options_.warm_up * static_cast<double>(ctas.wave()),
               kReach * l2_bytes(device_->config()) / std::max(bytes_of_cta, 1.0)));
}

void SampledRun::close(const KernelLedger::Finished& kernel, stats::KernelResult& result, std::size_t index,
                       stats::KernelCounters& unattributed) {
  const core::Dispatcher::Slot& slot = device_->dispatcher().slot(kernel.slot);
  const std::uint32_t launch = launch_of_[kernel.command];
  const std::uint64_t ctas = result.grid.count();
  ctas_ += ctas;
  ++launches_done_;
  if (!slot.timed) {
    result.estimated = true;
    result.ctas_left_out = ctas;
    result.counters.sm.stalls = {};
    stats::add(unattributed, result.counters);  // of the slot's kernel before
    untimed_.push_back({launch, index});
    return;
  }
  ++launches_timed_;
  ctas_timed_ += ctas - slot.left_out;
  sampling::Measures measures = sampling::measures_of(result.cycles, result.counters);
  sampling::LaunchSampler::Own own;
  if (slot.left_out > 0) {
    result.ctas_left_out = slot.left_out;
    predict_rest(result, timed_[kernel.slot], measures, own);
  }
  launches_->add(launch, measures, own);
}

/// Adds what is predicted of the CTAs that were left out, now that it is known how much they would have
/// executed, in the place of what the kernel was held for.
void SampledRun::predict_rest(stats::KernelResult& result, const Timed& timed, sampling::Measures& measures,
                              sampling::LaunchSampler::Own& own) {
  const double instructions =
      std::max(launches_->size(timed.launch) - measures[sampling::instructions_measure()], 0.0);
  measures[0] -= static_cast<double>(timed.held);
  for (std::size_t i = 0; i < sampling::kMeasures; ++i) {
    const sampling::Prediction rest = timed.ctas->predict(i, instructions);
    measures[i] += rest.value;
    own.variance[i] = rest.variance;
    if (i != sampling::instructions_measure()) own.bias[i] = sampling::kCtaBias * std::abs(measures[i]);
  }
  own.freedom = timed.ctas->freedom();
  set_counters(result, measures);
  grown_ += measures[0] - static_cast<double>(result.cycles);
  result.cycles = static_cast<Cycle>(std::llround(measures[0]));
  measures = sampling::measures_of(result.cycles, result.counters);
}

/// Returns by how many cycles the sum over kernels has grown.
double SampledRun::correct_kernels(stats::RunReport& report) const {
  double grown = 0;
  for (const Untimed& untimed : untimed_) {
    stats::KernelResult& kernel = report.kernels[untimed.index];
    const sampling::Measures measures = launches_->predict(untimed.launch);
    grown += measures[0] - static_cast<double>(kernel.cycles);
    kernel.cycles = static_cast<Cycle>(std::llround(std::max(measures[0], 1.0)));
    set_counters(kernel, measures);
  }
  return grown;
}

void SampledRun::complete(stats::RunReport& report) const {
  stats::SamplingReport& sampling = report.sampling.emplace();
  sampling.error = options_.error;
  sampling.confidence = options_.confidence;
  sampling.seed = options_.seed;
  sampling.warm_up = options_.warm_up;
  sampling.launches = launches_done_;
  sampling.launches_timed = launches_timed_;
  sampling.ctas = ctas_;
  sampling.ctas_timed = ctas_timed_;
  sampling.overlap = overlap(report.kernels);
  const double grown = grown_ + correct_kernels(report);
  if (!sampling.overlap)
    report.total_cycles =
        static_cast<Cycle>(std::llround(std::max(static_cast<double>(report.total_cycles) + grown, 0.0)));
  const std::vector<sampling::Estimate> totals = launches_->totals();
  sampling.cycles = quantity(totals[0]);
  for (const stats::Descriptor& d : stats::descriptors())
    sampling.counters.push_back(quantity(totals[1 + d.offset / sizeof(std::uint64_t)]));
  for (const auto& g : launches_->groups()) {
    const trace::KernelHeader& header = trace_->kernels()[kernel_of_[g.first]];
    sampling.groups.push_back({header.name, header.id, g.launches, g.timed, g.instructions,
                               model_name(g.model), quantity(g.cycles)});
  }
}

}  // namespace lockstep::gpu
