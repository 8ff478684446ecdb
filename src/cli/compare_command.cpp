// `lockstep compare`: runs, or GPUs.
#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "config/ini.hpp"
#include "stats/compare.hpp"
#include "util/console.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

/// The resolved configuration that a run writes next to its results; empty if there is none.
std::map<std::string, std::string> parameters_of(const std::string& path) {
  std::map<std::string, std::string> parameters;
  std::error_code error;
  const std::string file = path + "/config.ini";
  if (!std::filesystem::is_regular_file(file, error)) return parameters;
  for (const config::Assignment& a : config::parse_ini(config::read_text_file(file), file).assignments)
    parameters[a.key] = a.value;
  return parameters;
}

}  // namespace

int run_compare(int argc, char** argv) {
  Syntax syntax;
  syntax.usage = "compare A B [C ...] [options]";
  syntax.summary =
      "Compares result folders or stats.json files with the first one, A: parameters, kernels, counters.";
  syntax.positionals = {"A", "B"};
  syntax.rest = "others";
  syntax.options.add_options()("tolerance", po::value<std::string>()->default_value("0"),
                               "tolerated difference, as a share of the larger value, such as 0.01")(
      "json", "the differences as JSON");
  syntax.notes = "Exit codes: 0 no difference, 1 differences, 2 bad usage or input.";
  const auto values = parse(argc, argv, syntax);
  if (!values) return kDone;
  stats::CompareOptions options;
  options.tolerance = parse_fraction("compare: --tolerance", (*values)["tolerance"].as<std::string>());
  options.json = values->count("json") > 0;
  std::vector<std::string> paths = {(*values)["A"].as<std::string>(), (*values)["B"].as<std::string>()};
  if (values->count(syntax.rest)) {
    const auto& others = (*values)[syntax.rest].as<std::vector<std::string>>();
    paths.insert(paths.end(), others.begin(), others.end());
  }
  std::vector<stats::ComparedRun> runs;
  for (const std::string& path : paths) runs.push_back({path, parameters_of(path)});
  bool different = false;
  print_out("{}", stats::compare(runs, options, different));
  return different ? kDifferent : kDone;
}

}  // namespace lockstep::cli
