#include "cli/accelsim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "accelsim/translate.hpp"
#include "stats/text.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

std::string unknown_warning(const accelsim::Translation& translation) {
  std::string names;
  for (const accelsim::Option& option : translation.unknown) {
    names += fmt::format("{}{} ({}:{})", names.empty() ? "" : ", ", stats::printable(option.name),
                         stats::printable(option.file), option.line);
  }
  return names.empty() ? names : "unknown Accel-Sim options have no effect: " + names;
}

}  // namespace

void add_accelsim_option(po::options_description& options) {
  options.add_options()(
      "accelsim-config", po::value<std::vector<std::string>>()->multitoken()->composing(),
      "Accel-Sim's gpgpusim.config, trace.config and interconnect file, as many as there are "
      "(docs/accelsim.md)");
}

std::optional<AccelsimConfig> accelsim_config(const po::variables_map& values, const std::string& base,
                                              const std::vector<std::string>& overrides, bool strict) {
  if (!values.count("accelsim-config")) return std::nullopt;
  const auto& files = values["accelsim-config"].as<std::vector<std::string>>();
  if (std::ranges::find(files, "") != files.end())
    throw UserError("--accelsim-config: a file's name is empty");
  const auto options = accelsim::read_files(files);
  const accelsim::Translation translation = accelsim::translate(options, base);
  if (strict) accelsim::require_known(translation);
  AccelsimConfig result;
  result.resolved = accelsim::resolve_with_origins(translation, overrides);
  result.summary = accelsim::summary(translation);
  result.report = accelsim::annotated_ini(translation, result.resolved);
  result.unknown = unknown_warning(translation);
  return result;
}

AccelsimPrinter::AccelsimPrinter(const config::GpuConfig& config)
    : text_(config.clock.core_khz, {.warps_per_subcore = config.sm.max_warps / config.sm.subcores}) {}

void AccelsimPrinter::update(const stats::RunReport& report) {
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start_;
  for (; printed_ < report.kernels.size() && !report.kernels[printed_].partial; ++printed_)
    print_out("{}\n", text_.kernel(report.kernels[printed_], wall.count()));
  flush_out();
}

void AccelsimPrinter::finish(const stats::RunReport& report) {
  update(report);
  if (!report.partial) print_out("{}", accelsim::StatsText::end());
  flush_out();
}

}  // namespace lockstep::cli
