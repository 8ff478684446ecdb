// `lockstep compare`: two runs, or two GPUs.
#include <fmt/format.h>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "stats/report.hpp"
#include "util/console.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;

int run_compare(int argc, char** argv) {
  Syntax syntax;
  syntax.usage = "compare A B [options]";
  syntax.summary = "Compares two result folders or stats.json files, per kernel and counter.";
  syntax.positionals = {"A", "B"};
  syntax.options.add_options()("tolerance", po::value<std::string>()->default_value("0"),
                               "relative difference that is let pass, such as 0.01")(
      "json", "the differences as JSON");
  syntax.notes = "Exit codes: 0 no difference, 1 differences, 2 bad usage or input.";
  const auto values = parse(argc, argv, syntax);
  if (!values) return kDone;
  stats::CompareOptions options;
  options.tolerance = parse_fraction("compare: --tolerance", (*values)["tolerance"].as<std::string>());
  options.json = values->count("json") > 0;
  bool different = false;
  const std::string text =
      stats::compare((*values)["A"].as<std::string>(), (*values)["B"].as<std::string>(), options, different);
  print_out("{}", text);
  return different ? kDifferent : kDone;
}

}  // namespace lockstep::cli
