#include "cli/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "stats/files.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace {
constexpr auto kFirstWrite = std::chrono::milliseconds(250);  // a shorter run is written once, at its end
constexpr auto kPeriod = std::chrono::seconds(2);
constexpr int kTimesCost = 20;  // writing takes at most a twentieth of the time
}  // namespace

ResultFolder::ResultFolder(std::string directory, const std::string& resolved_ini,
                           const std::string& system_ini)
    : ResultFolder(std::move(directory), resolved_ini, system_ini, kFirstWrite) {}

ResultFolder::ResultFolder(std::string directory, const std::string& resolved_ini,
                           const std::string& system_ini, Clock::duration first)
    : directory_(std::move(directory)), next_(Clock::now() + first) {
  if (directory_.empty()) return;
  stats::make_folder(directory_);
  stats::write_file(directory_ + "/config.ini", resolved_ini);
  // Results of an earlier run in this folder must not pass for this one's.
  for (const char* name : {"stats.json", "stats.csv", "intervals.csv", "host.json", "deadlock.txt",
                           "check.json", "profile.json", "system.ini"}) {
    stats::remove_file(directory_ + "/" + name);
  }
  if (!system_ini.empty()) stats::write_file(directory_ + "/system.ini", system_ini);
}

/// Copies only what is new: with thousands of kernels a copy of all after each would cost more than the run.
void ResultFolder::append(const stats::RunReport& report) {
  const auto grow = [](auto& mine, const auto& theirs) {
    if (mine.size() > theirs.size()) mine.clear();
    mine.insert(mine.end(), theirs.begin() + static_cast<std::ptrdiff_t>(mine.size()), theirs.end());
  };
  while (!so_far_.kernels.empty() && so_far_.kernels.back().partial) so_far_.kernels.pop_back();
  grow(so_far_.kernels, report.kernels);
  grow(so_far_.codes, report.codes);
  grow(so_far_.copies, report.copies);
  grow(so_far_.intervals, report.intervals);
  so_far_.unattributed = report.unattributed;
  so_far_.gpu = report.gpu;
  so_far_.overrides = report.overrides;
  so_far_.config_hash = report.config_hash;
  so_far_.trace_name = report.trace_name;
  so_far_.trace_hash = report.trace_hash;
  so_far_.core_khz = report.core_khz;
  so_far_.energy_source = report.energy_source;
  so_far_.total_cycles = report.total_cycles;
  so_far_.unknown_opcodes = report.unknown_opcodes;
  so_far_.remarks = report.remarks;
  so_far_.system = report.system;
  any_ = true;
}

void ResultFolder::write_partial(const Complete& complete, const char* reason) {
  stats::HostReport host;
  so_far_.partial = true;
  so_far_.partial_reason = reason;
  complete(so_far_, host);
  for (const auto& kernel : so_far_.kernels) host.warp_instructions += kernel.counters.sm.warp_instructions;
  host.cycles = so_far_.total_cycles;
  stats::write_outputs(directory_, so_far_, host);
}

void ResultFolder::update(const stats::RunReport& report, const Complete& complete) {
  if (directory_.empty()) return;
  append(report);
  const auto start = Clock::now();
  if (start < next_) return;
  try {
    write_partial(complete, "running");
  } catch (const UserError& e) {
    if (!warned_) print_err("lockstep: warning: {}; the run continues\n", e.what());
    warned_ = true;
  }
  const auto end = Clock::now();
  next_ = end + std::max<Clock::duration>(kPeriod, kTimesCost * (end - start));
}

void ResultFolder::abandon(const Complete& complete) noexcept {
  if (directory_.empty() || !any_) return;
  try {
    write_partial(complete, "error");
  } catch (const std::exception& e) {
    write_err(std::string("lockstep: warning: ") + e.what() + "\n");
  }
}

void ResultFolder::withdraw() {
  if (directory_.empty()) return;
  for (const char* name : {"config.ini", "system.ini"}) stats::remove_file(directory_ + "/" + name);
}

void ResultFolder::finish(const stats::RunReport& report, const stats::HostReport& host,
                          const std::string& dump) {
  if (directory_.empty()) return;
  if (!dump.empty()) stats::write_file(directory_ + "/deadlock.txt", dump);
  stats::write_outputs(directory_, report, host);
}

}  // namespace lockstep::cli
